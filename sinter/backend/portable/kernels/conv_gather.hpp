// SPDX-License-Identifier: MIT OR Apache-2.0
// Forward and data gradient: weight packing and the three ways to run a chunk of one image.
#pragma once

#include "sinter/backend/portable/kernels/conv_geometry.hpp"
#include "sinter/backend/portable/kernels/gemm_core.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

constexpr int64_t conv_cols = tile_cols<float>;

// ---- shared buffer: taps of each phase, then packed weights ----

struct PhaseTaps {
  int64_t count;
  int64_t weights;  ///< offset in floats of this phase's weights within a group
  Tap taps[1];      ///< kh * kw of them
};

struct GatherShared {
  int64_t phase_bytes, taps_bytes, group_floats;
  GatherShared(const Gather& g) {
    phase_bytes = int64_t(sizeof(PhaseTaps)) + (g.kh * g.kw - 1) * int64_t(sizeof(Tap));
    taps_bytes = round_up(phase_bytes * g.phases(), 64);
    const int64_t width = g.method == ConvMethod::blocked ? round_up(g.o, conv_cols) : g.o;
    group_floats = round_up(width * g.c * g.kh * g.kw, 16);
  }
  size_t bytes(const Gather& g) const { return size_t(taps_bytes + group_floats * g.groups * 4); }
  PhaseTaps* phase(void* shared, int64_t i) const {
    return reinterpret_cast<PhaseTaps*>(static_cast<char*>(shared) + i * phase_bytes);
  }
  const PhaseTaps* phase(const void* shared, int64_t i) const {
    return phase(const_cast<void*>(shared), i);
  }
  float* weights(void* shared, int64_t group) const {
    return reinterpret_cast<float*>(static_cast<char*>(shared) + taps_bytes) + group * group_floats;
  }
};

/// Strides of the weight tensor seen as [o][c][tap] within a group.
struct WeightView {
  const float* w;
  int64_t o, c;
};

/// [block of conv_cols outputs][block of 16 channels][tap][channel][conv_cols], outputs padded with
/// zeros.
inline void pack_weights_blocked(const Gather& g, const PhaseTaps& t, WeightView v, float* out) {
  constexpr int W = native_lanes<float>;
  const int64_t taps = g.kh * g.kw;
  float tile[W * W];
  for (int64_t o = 0; o < g.o; o += conv_cols) {
    for (int64_t cb = 0; cb < g.c; cb += channel_block) {
      const int64_t cn = min64(channel_block, g.c - cb);
      for (int64_t c = 0; c < cn; ++c) {
        for (int64_t q = 0; q < conv_cols; q += W) {
          const int rows = int(min64(max64(g.o - o - q, 0), W));
          const float* src = v.w + min64(o + q, g.o - 1) * v.o + (cb + c) * v.c;
          int64_t k = 0;
          for (int64_t first = 0; first < taps; first += W) {
            const int cols = int(min64(W, taps - first));
            transpose_block(src + first, v.o, rows, cols, tile, W, true);
            for (; k < t.count && t.taps[k].index < first + cols; ++k) {
              const float* row = tile + (t.taps[k].index - first) * W;
              simd<float, W>::load(row).store(out + (k * cn + c) * conv_cols + q);
            }
          }
        }
      }
      out += t.count * cn * conv_cols;
    }
  }
}

/// [panel of outputs][channel][tap][panel height], heights equal within one.
inline void pack_weights_rows(const Gather& g, const PhaseTaps& t, WeightView v, float* out) {
  const int64_t panels = ceil_div(g.o, tile_rows);
  for (int64_t q = 0; q < panels; ++q) {
    const int64_t first = g.o * q / panels;
    const int64_t height = g.o * (q + 1) / panels - first;
    for (int64_t c = 0; c < g.c; ++c) {
      for (int64_t k = 0; k < t.count; ++k) {
        for (int64_t r = 0; r < height; ++r) {
          *out++ = v.w[(first + r) * v.o + c * v.c + t.taps[k].index];
        }
      }
    }
  }
}

inline void gather_prepare(const ConvShape& s, const Gather& g, bool forward, const float* weight,
                           void* shared) {
  const GatherShared l(g);
  const int64_t taps = g.kh * g.kw;
  const int64_t width = g.method == ConvMethod::blocked ? round_up(g.o, conv_cols) : g.o;
  int64_t offset = 0;
  for (int64_t p = 0; p < g.phases(); ++p) {
    PhaseTaps* t = l.phase(shared, p);
    t->count = list_taps(s, g, forward, p / g.os_w, p % g.os_w, t->taps);
    t->weights = offset;
    offset += t->count * g.c * width;
    for (int64_t group = 0; group < g.groups; ++group) {
      WeightView v{};
      // The tensor is [co][ci / groups][taps]; out and in swap roles in the data gradient.
      const int64_t ci = s.ci / s.groups;
      v.w = weight + group * (s.co / s.groups) * ci * taps;
      v.o = forward ? ci * taps : taps;
      v.c = forward ? taps : ci * taps;
      float* out = l.weights(shared, group) + t->weights;
      if (g.method == ConvMethod::blocked) {
        pack_weights_blocked(g, *t, v, out);
      } else {
        pack_weights_rows(g, *t, v, out);
      }
    }
  }
}

// ---- one chunk of one image and group ----

struct ChunkWork {
  const float* image;    ///< padded chunk
  const float* weights;  ///< of the group and phase
  const PhaseTaps* taps;
  const float* bias;     ///< of the group, or null
  float* out;            ///< of the image and group, at the phase's first position
  int64_t i0, i1, cols;  ///< rows and columns of the phase to produce
};

struct PositionTile {
  const float* a;
  const float* b;
  const PhaseTaps* taps;
  int64_t first_tap, last_tap;  ///< the others read only padding
  int64_t blocks, block_stride, last_channels;
  const float* bias;  ///< at the tile's first output channel, or null
  float* out;         ///< first channel, first position
  int64_t channels;   ///< valid output channels
  int64_t plane, step;
};

/// R positions × conv_cols output channels over all input channels and taps, written transposed.
template <int R>
__attribute__((noinline)) void position_tile(const PositionTile& p) {
  constexpr int W = native_lanes<float>;
  using S = simd<float, W>;
  S acc[R][tile_vectors];
#pragma GCC unroll 4
  for (int j = 0; j < tile_vectors; ++j) {
    S start(0.0f);
    if (p.bias != nullptr) {
      start = load_partial<float, W>(p.bias + j * W, int(min64(max64(p.channels - j * W, 0), W)));
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      acc[i][j] = start;
    }
  }
  const int64_t taps = p.taps->count;
  for (int64_t cb = 0; cb < p.blocks; ++cb) {
    const int64_t cn = cb + 1 < p.blocks ? channel_block : p.last_channels;
    const float* image = p.a + cb * p.block_stride;
    const float* b = p.b + (cb * channel_block * taps + p.first_tap * cn) * conv_cols;
    for (int64_t t = p.first_tap; t < p.last_tap; ++t) {
      multiply_tile<float, R, tile_vectors, false>(acc, cn, image + p.taps->taps[t].offset,
                                                   channel_block, 1, b, conv_cols, 0);
      b += cn * conv_cols;
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < tile_vectors; ++j) {
    const int64_t valid = min64(p.channels - j * W, W);
    if (valid <= 0) {
      break;
    }
#pragma GCC unroll 4
    for (int base = 0; base < R; base += W) {
      constexpr int rows_all = R;
      const int rows = rows_all - base < W ? rows_all - base : W;
      S r[W];
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) {
        r[i] = base + i < R ? acc[base + i < R ? base + i : 0][j] : S(0.0f);
      }
      transpose_registers(r);
      float* out = p.out + j * W * p.plane + base * p.step;
      if (p.step == 1) {
#pragma GCC unroll 16
        for (int c = 0; c < W; ++c) {
          if (c < valid) {
            store_partial(r[c], out + c * p.plane, rows);
          }
        }
      } else {
#pragma GCC unroll 16
        for (int c = 0; c < W; ++c) {
          if (c < valid) {
            for (int i = 0; i < rows; ++i) {
              out[c * p.plane + i * p.step] = r[c][i];
            }
          }
        }
      }
    }
  }
}

using PositionFn = void (*)(const PositionTile& p);
template <class, int R>
struct MakePosition {
  static constexpr PositionFn fn = position_tile<R>;
};

inline void run_blocked(const Gather& g, const ChunkWork& w) {
  static constexpr TileTable<float, MakePosition, PositionFn> table;
  PositionTile p{};
  p.taps = w.taps;
  p.blocks = g.blocks();
  p.block_stride = g.chunk_in_rows(w.i1 - w.i0) * g.row_stride();
  p.last_channels = g.c - (p.blocks - 1) * channel_block;
  p.plane = g.out_h * g.out_w;
  p.step = g.os_w;
  const int64_t tiles = ceil_div(w.cols, tile_rows);
  for (int64_t o = 0; o < g.o; o += conv_cols) {
    p.b = w.weights + o * g.c * w.taps->count;
    p.bias = w.bias == nullptr ? nullptr : w.bias + o;
    p.channels = min64(conv_cols, g.o - o);
    for (int64_t i = w.i0; i < w.i1; ++i) {
      auto inside = [&](int64_t t) {
        const int64_t y = i * g.is_h + w.taps->taps[t].row;
        return y >= 0 && y < g.in_h;
      };
      p.first_tap = 0;
      p.last_tap = w.taps->count;
      while (p.first_tap < p.last_tap && !inside(p.first_tap)) {
        ++p.first_tap;
      }
      while (p.first_tap < p.last_tap && !inside(p.last_tap - 1)) {
        --p.last_tap;
      }
      for (int64_t q = 0; q < tiles; ++q) {
        const int64_t j = w.cols * q / tiles;
        p.a = w.image + (i - w.i0) * g.is_h * g.row_stride() + j * channel_block;
        p.out = w.out + o * p.plane + i * g.os_h * g.out_w + j * g.os_w;
        table.fn[w.cols * (q + 1) / tiles - j](p);
      }
    }
  }
}

/// Packs conv_cols consecutive positions (row major over rows × cols of the phase) for every
/// channel and tap.
inline void pack_positions(const Gather& g, const ChunkWork& w, int64_t first, int64_t count,
                           float* panel) {
  constexpr int W = native_lanes<float>;
  struct Run {
    int64_t from, to, length;
  };
  Run runs[conv_cols];
  int64_t total = 0;
  for (int64_t done = 0; done < count; ++total) {
    const int64_t i = (first + done) / w.cols;
    const int64_t j = (first + done) % w.cols;
    runs[total].from = i * g.is_h * g.row_stride() + j;
    runs[total].to = done;
    runs[total].length = min64(w.cols - j, count - done);
    done += runs[total].length;
  }
  const int64_t plane = g.chunk_in_rows(w.i1 - w.i0) * g.row_stride();
  for (int64_t c = 0; c < g.c; ++c) {
    for (int64_t t = 0; t < w.taps->count; ++t, panel += conv_cols) {
      const float* src = w.image + c * plane + w.taps->taps[t].offset;
      // Whole vectors: each run overwrites what the one before wrote too far; image and panel have
      // slack.
      for (int64_t r = 0; r < total; ++r) {
        for (int64_t x = 0; x < runs[r].length; x += W) {
          simd<float, W>::load(src + runs[r].from + x).store(panel + runs[r].to + x);
        }
      }
    }
  }
}

/// Floats of the packed positions held at once: a strip of panels, at least one.
constexpr int64_t strip_floats = 48 * 1024;
inline int64_t strip_panels(const Gather& g) {
  return max64(strip_floats / (g.c * g.kh * g.kw * conv_cols), 1);
}

inline void write_scattered(const Gather& g, const ChunkWork& w, const float* tile, int64_t o,
                            int64_t height, int64_t first, int64_t count) {
  const int64_t plane = g.out_h * g.out_w;
  for (int64_t r = 0; r < height; ++r) {
    for (int64_t x = 0; x < count; ++x) {
      const int64_t i = w.i0 + (first + x) / w.cols;
      const int64_t j = (first + x) % w.cols;
      w.out[(o + r) * plane + i * g.os_h * g.out_w + j * g.os_w] = tile[r * conv_cols + x];
    }
  }
}

/// Packs strips of positions, then runs each panel of output channels along the strip, so that few
/// planes of the output are written at a time (many interleaved write streams cost more than the
/// arithmetic when channels are few).
inline void run_panel(const Gather& g, const ChunkWork& w, float* packed) {
  static constexpr TileTable<float, MakePacked, TileFn<float>> table;
  const int64_t plane = g.out_h * g.out_w;
  const int64_t positions = (w.i1 - w.i0) * w.cols;
  const int64_t k = g.c * w.taps->count;
  const int64_t panels = ceil_div(g.o, tile_rows);
  const bool dense = g.os_h == 1 && g.os_w == 1;
  const int64_t strip = strip_panels(g) * conv_cols;
  float tile[tile_rows * conv_cols];
  for (int64_t start = 0; start < positions; start += strip) {
    const int64_t stop = min64(start + strip, positions);
    for (int64_t first = start; first < stop; first += conv_cols) {
      pack_positions(g, w, first, min64(conv_cols, stop - first), packed + (first - start) * k);
    }
    for (int64_t q = 0; q < panels; ++q) {
      const int64_t o = g.o * q / panels;
      const int64_t height = g.o * (q + 1) / panels - o;
      TileOut<float> out;
      out.row_bias = w.bias == nullptr ? nullptr : w.bias + o;
      for (int64_t first = start; first < stop; first += conv_cols) {
        out.cols = min64(conv_cols, stop - first);
        out.c = dense ? w.out + o * plane + w.i0 * g.out_w + first : tile;
        out.ld = dense ? plane : conv_cols;
        const Ahead destination{reinterpret_cast<const char*>(out.c),
                                out.ld * int64_t(sizeof(float)), dense ? height : 0};
        table.fn[height](k, w.weights + o * k, packed + (first - start) * k, out, destination, {});
        if (!dense) {
          write_scattered(g, w, tile, o, height, first, out.cols);
        }
      }
    }
  }
}

/// R output channels, Y rows of U vectors of positions, read in place.
template <int R, int Y, int U>
SINTER_FORCE_INLINE void row_tile(const Gather& g, const ChunkWork& w, int64_t i, int64_t j) {
  constexpr int W = native_lanes<float>;
  using S = simd<float, W>;
  S acc[R][Y][U];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int y = 0; y < Y; ++y) {
#pragma GCC unroll 4
      for (int u = 0; u < U; ++u) {
        acc[r][y][u] = S(w.bias == nullptr ? 0.0f : w.bias[r]);
      }
    }
  }
  const int64_t row = g.is_h * g.row_stride();
  const int64_t block_plane = g.chunk_in_rows(w.i1 - w.i0) * g.row_stride();
  const int64_t taps = w.taps->count;
  const float* b = w.weights;
  for (int64_t c = 0; c < g.c; ++c) {
    const float* image = w.image + c * block_plane + (i - w.i0) * row + j;
    for (int64_t t = 0; t < taps; ++t, b += R) {
      const float* src = image + w.taps->taps[t].offset;
#pragma GCC unroll 4
      for (int y = 0; y < Y; ++y) {
#pragma GCC unroll 4
        for (int u = 0; u < U; ++u) {
          const S x = S::load(src + y * row + u * W);  // lanes in the slack are not stored
#pragma GCC unroll 4
          for (int r = 0; r < R; ++r) {
            acc[r][y][u] = fma(S(b[r]), x, acc[r][y][u]);
          }
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int y = 0; y < Y; ++y) {
      float* out = w.out + (r * g.out_h + (i + y) * g.os_h) * g.out_w + j * g.os_w;
#pragma GCC unroll 4
      for (int u = 0; u < U; ++u) {
        const int n = int(min64(max64(w.cols - j - u * W, 0), W));
        if (g.os_w == 1) {
          store_partial(acc[r][y][u], out + u * W, n);
        } else {
          for (int x = 0; x < n; ++x) {
            out[(u * W + x) * g.os_w] = acc[r][y][u][x];
          }
        }
      }
    }
  }
}
template <int R, int Y>
SINTER_FORCE_INLINE void row_band(const Gather& g, const ChunkWork& w, int64_t i) {
  constexpr int W = native_lanes<float>;
  int64_t j = 0;
  for (; j + W < w.cols; j += 2 * W) {
    row_tile<R, Y, 2>(g, w, i, j);
  }
  if (j < w.cols) {
    row_tile<R, Y, 1>(g, w, i, j);
  }
}
template <int R>
__attribute__((noinline)) void run_direct(const Gather& g, const ChunkWork& w) {
  constexpr int most = vector_registers == 32 ? 24 : 12;
  constexpr int Y = R * 8 <= most ? 4 : R * 4 <= most ? 2 : 1;
  int64_t i = w.i0;
  for (; i + Y <= w.i1; i += Y) {
    row_band<R, Y>(g, w, i);
  }
  for (; i < w.i1; ++i) {
    row_band<R, 1>(g, w, i);
  }
}

inline size_t gather_scratch_bytes(const Gather& g) {
  int64_t floats = round_up(g.image_floats(), 16);
  if (g.method == ConvMethod::panel) {
    floats += (strip_panels(g) * g.c * g.kh * g.kw + 2) * conv_cols;
  }
  return size_t(floats * 4);
}

inline void gather_task(const Gather& g, const float* in, float* out, const float* bias,
                        const void* shared, void* scratch, int64_t task) {
  const GatherShared l(g);
  const int64_t chunk = task % g.chunks;
  const int64_t group = task / g.chunks % g.groups;
  const int64_t image = task / g.chunks / g.groups;
  int64_t i0 = 0;
  int64_t i1 = 0;
  const Window window = chunk_window(g, chunk, &i0, &i1);
  float* padded = static_cast<float*>(scratch);
  const float* src = in + (image * g.groups + group) * g.c * g.in_h * g.in_w;
  const int64_t plane = g.chunk_in_rows(i1 - i0) * g.row_stride();
  for (int64_t b = 0; b < g.blocks(); ++b) {
    const float* from = src + b * g.block() * g.in_h * g.in_w;
    if (g.method == ConvMethod::blocked) {
      copy_blocked(from, min64(channel_block, g.c - b * channel_block), channel_block, window,
                   padded + b * plane);
    } else {
      copy_planar(from, window, padded + b * plane);
    }
  }
  // Slack after the image is read into lanes that are never stored: give it defined contents.
  zero_run(padded + g.blocks() * plane, 4 * channel_block);
  for (int64_t p = 0; p < g.phases(); ++p) {
    ChunkWork w{};
    w.image = padded;
    w.taps = l.phase(shared, p);
    w.weights = l.weights(const_cast<void*>(shared), group) + w.taps->weights;
    w.bias = bias == nullptr ? nullptr : bias + group * g.o;
    w.out = out + (image * g.groups + group) * g.o * g.out_h * g.out_w + p / g.os_w * g.out_w +
            p % g.os_w;
    w.i0 = i0;
    w.i1 = min64(i1, g.phase_rows(p / g.os_w));
    w.cols = g.phase_cols(p % g.os_w);
    if (w.i1 <= w.i0 || w.cols <= 0) {
      continue;
    }
    // The chunk was padded for i1 - i0 rows; shorter phases keep that plane stride.
    Gather view = g;
    if (w.i1 != i1) {
      view.hi_h += (i1 - w.i1) * g.is_h;
    }
    if (g.method == ConvMethod::blocked) {
      run_blocked(view, w);
    } else if (g.method == ConvMethod::panel) {
      run_panel(view, w, padded + round_up(g.image_floats(), 16));
    } else if (g.o == 1) {
      run_direct<1>(view, w);
    } else if (g.o == 2) {
      run_direct<2>(view, w);
    } else if (g.o == 3) {
      run_direct<3>(view, w);
    } else {
      run_direct<4>(view, w);
    }
  }
}

}  // namespace

}  // namespace sinter::portable::SINTER_ISA
