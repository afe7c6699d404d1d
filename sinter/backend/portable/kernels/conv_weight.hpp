// SPDX-License-Identifier: MIT OR Apache-2.0
// Weight gradient: dW[co][ci][tap] = sum over images and positions of y[co][pos] x[ci][pos + tap].
//
// Many channels: both images are transposed to channels side by side; the tile is input channels ×
// output channels and k runs over positions. Few channels: lanes are positions and a tile is a few
// output channels × a few (channel, tap) pairs. A task owns one (group, range of output channels,
// part of the images) and sums into a partial result of its own; `finish` adds the parts.
#pragma once

#include "sinter/backend/portable/kernels/conv_gather.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

constexpr int64_t max_batch = 16;
constexpr int dot_outs = 3;
constexpr int dot_taps = vector_registers == 32 ? 9 : 4;

struct WeightPlan {
  Gather g;  // of the forward pass: padding, taps
  bool blocked;
  int64_t slices;              // partial results per group; a task sums the units of one slice ...
  int64_t splits;              // ... for one of so many ranges of output channels
  int64_t units;               // (image, row chunk) pairs
  int64_t batch;               // units held in scratch at once
  int64_t partial;             // floats of one partial result
  int64_t x_floats, y_floats;  // of one unit
  int64_t taps;
};

inline int64_t dot_tiles(const WeightPlan& p) {
  return ceil_div(p.g.o, dot_outs) * ceil_div(p.g.c * p.taps, dot_taps);
}

inline WeightPlan make_weight_plan(const ConvShape& s) {
  WeightPlan p{};
  p.g = make_gather(s, true);
  Gather& g = p.g;
  p.taps = s.kh * s.kw;
  p.blocked = min64(g.c, g.o) >= 8;
  g.method = ConvMethod::direct;  // block() = 1; the blocked layout sizes itself below
  const int64_t row_floats = g.is_w * g.pad_w * g.c;
  const int64_t y_row = p.blocked ? round_up(g.o, conv_cols) * g.out_w : 0;
  const int64_t budget = 2 * image_bytes / 4;
  int64_t rows = (budget - (g.hi_h - g.lo_h + 1) * row_floats) / (row_floats * g.is_h + y_row);
  if (!p.blocked) {
    // One input channel and the rows of a tile of outputs stay in the nearest cache.
    const int64_t near = 6 * 1024 - (g.hi_h - g.lo_h + 1) * g.is_w * g.pad_w;
    rows = min64(rows, near / (g.is_w * g.pad_w * g.is_h + dot_outs * g.out_w));
  }
  rows = min64(max64(rows, 4), max64(g.out_h, 1));
  g.chunks = ceil_div(max64(g.out_h, 1), rows);
  g.rows = ceil_div(max64(g.out_h, 1), g.chunks);
  g.chunks = ceil_div(max64(g.out_h, 1), g.rows);
  p.units = g.n * g.chunks;
  p.x_floats = round_up(g.chunk_in_rows(g.rows) * row_floats + 64, 16);
  p.y_floats = round_up(g.rows * y_row + 16, 16);
  // Enough positions per sum that loading and storing the tile does not show.
  p.batch = p.blocked ? min64(ceil_div(768, max64(g.rows * g.out_w, 1)), max_batch) : 1;
  p.partial = p.blocked ? g.c * p.taps * round_up(g.o, conv_cols)
                        : dot_tiles(p) * dot_outs * dot_taps * native_lanes<float>;
  p.partial = round_up(p.partial, 16);
  // Enough tasks to share out, few enough that the partial results stay small beside the work.
  p.splits = p.blocked ? min64(ceil_div(g.o, conv_cols), 4) : 1;
  int64_t slices = ceil_div(16, g.groups * p.splits);
  slices = min64(slices, max64((int64_t(32) << 20) / (p.partial * 4 * g.groups), 1));
  p.slices = max64(min64(slices, ceil_div(p.units, p.batch)), 1);
  return p;
}

inline size_t weight_scratch_bytes(const WeightPlan& p) {
  return size_t(p.batch * (p.x_floats + p.y_floats) * 4 + 256);
}

// ---- many channels ----

template <int R>
__attribute__((noinline)) void outer_tile(const float* x, int64_t x_row, int64_t x_unit,
                                          const float* y, int64_t y_row, int64_t y_unit,
                                          const int64_t* unit_rows, int64_t units, int64_t cols,
                                          float* sum, bool first) {
  constexpr int W = native_lanes<float>;
  using S = simd<float, W>;
  S acc[R][tile_vectors];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < tile_vectors; ++j) {
      acc[i][j] = S(0.0f);
    }
  }
  for (int64_t u = 0; u < units; ++u) {
    for (int64_t r = 0; r < unit_rows[u]; ++r) {
      multiply_tile<float, R, tile_vectors, false>(acc, cols, x + u * x_unit + r * x_row, 1, R,
                                                   y + u * y_unit + r * y_row, conv_cols, 0);
    }
  }
  TileOut<float> o;
  o.c = sum;
  o.ld = conv_cols;
  o.cols = conv_cols;
  o.accumulate = !first;
  write_tile(acc, o);
}

using OuterFn = decltype(&outer_tile<1>);
template <class, int R>
struct MakeOuter {
  static constexpr OuterFn fn = outer_tile<R>;
};

/// Adds a batch of units to the partial result [out block][channel panel][tap][height][conv_cols].
inline void sum_blocked(const WeightPlan& p, const Tap* taps, const float* x, const float* y,
                        const int64_t* unit_rows, int64_t units, int64_t o0, int64_t o1, float* sum,
                        bool first) {
  static constexpr TileTable<float, MakeOuter, OuterFn> table;
  const Gather& g = p.g;
  const int64_t panels = ceil_div(g.c, tile_rows);
  const int64_t positions = g.chunk_in_rows(g.rows) * g.row_stride();
  sum += o0 * g.c * p.taps;
  for (int64_t o = o0; o < o1; o += conv_cols) {
    for (int64_t q = 0; q < panels; ++q) {
      const int64_t c = g.c * q / panels;
      const int64_t height = g.c * (q + 1) / panels - c;
      for (int64_t t = 0; t < p.taps; ++t) {
        table.fn[height](x + c * positions + taps[t].offset * height,
                         g.is_h * g.row_stride() * height, p.x_floats, y + o * g.rows * g.out_w,
                         g.out_w * conv_cols, p.y_floats, unit_rows, units, g.out_w, sum, first);
        sum += height * conv_cols;
      }
    }
  }
}

// ---- few channels ----

/// acc[i][t] += y[i][pos] * x[t][pos], lanes are positions of `rows` rows.
template <int R>
SINTER_FORCE_INLINE void dot_positions(const float* const (&x)[dot_taps], int64_t x_row,
                                       const float* y, int64_t y_plane, int64_t cols, int64_t rows,
                                       float* sum) {
  constexpr int W = native_lanes<float>;
  using S = simd<float, W>;
  S acc[R][dot_taps];
#pragma GCC unroll 4
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 16
    for (int t = 0; t < dot_taps; ++t) {
      acc[i][t] = S::load(sum + (i * dot_taps + t) * W);
    }
  }
  auto step = [&](auto load, int64_t xo, int64_t yo) __attribute__((always_inline)) {
    S g[R];
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i) {
      g[i] = load(y + i * y_plane + yo);
      __builtin_prefetch(y + (i + dot_outs) * y_plane + yo);  // the next tile's
    }
#pragma GCC unroll 16
    for (int t = 0; t < dot_taps; ++t) {
      S v = load(x[t] + xo);
      pin(v);  // such loads often straddle cache lines: once is enough
#pragma GCC unroll 4
      for (int i = 0; i < R; ++i) {
        acc[i][t] = fma(g[i], v, acc[i][t]);
      }
    }
  };
  const int rest = int(cols % W);
  for (int64_t r = 0; r < rows; ++r) {
    int64_t c = 0;
    for (; c + W <= cols; c += W) {
      step([](const float* q) __attribute__((always_inline)) { return S::load(q); }, r * x_row + c,
           r * cols + c);
    }
    if (rest != 0) {
      step([rest](const float* q)
               __attribute__((always_inline)) { return load_partial<float, W>(q, rest); },
           r * x_row + c, r * cols + c);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 16
    for (int t = 0; t < dot_taps; ++t) {
      acc[i][t].store(sum + (i * dot_taps + t) * W);
    }
  }
}

template <int R>
__attribute__((noinline)) void dot_tile_rows(const float* const (&x)[dot_taps], int64_t x_row,
                                             const float* y, int64_t y_plane, int64_t cols,
                                             int64_t rows, float* sum) {
  dot_positions<R>(x, x_row, y, y_plane, cols, rows, sum);
}

/// Adds one unit to the partial result [out tile][(channel, tap) tile][dot_outs][dot_taps][lanes].
inline void sum_dots(const WeightPlan& p, const Tap* taps, const float* x, const float* y,
                     int64_t rows, float* sum) {
  const Gather& g = p.g;
  const int64_t plane = g.chunk_in_rows(g.rows) * g.row_stride();
  const int64_t pairs = g.c * p.taps;
  for (int64_t o = 0; o < g.o; o += dot_outs) {
    const int64_t outs = min64(dot_outs, g.o - o);
    const float* yo = y + o * g.out_h * g.out_w;
    for (int64_t k = 0; k < pairs; k += dot_taps) {
      const float* at[dot_taps];
      for (int64_t t = 0; t < dot_taps; ++t) {
        const int64_t pair = min64(k + t, pairs - 1);
        at[t] = x + pair / p.taps * plane + taps[pair % p.taps].offset;
      }
      const int64_t x_row = g.is_h * g.row_stride();
      const int64_t y_plane = g.out_h * g.out_w;
      if (outs == 3) {
        dot_tile_rows<3>(at, x_row, yo, y_plane, g.out_w, rows, sum);
      } else if (outs == 2) {
        dot_tile_rows<2>(at, x_row, yo, y_plane, g.out_w, rows, sum);
      } else {
        dot_tile_rows<1>(at, x_row, yo, y_plane, g.out_w, rows, sum);
      }
      sum += dot_outs * dot_taps * native_lanes<float>;
    }
  }
}

// ---- task and finish ----

struct WeightShared {
  int64_t taps_bytes;
  WeightShared(const WeightPlan& p) { taps_bytes = round_up(p.taps * int64_t(sizeof(Tap)), 64); }
  size_t bytes(const WeightPlan& p) const {
    return size_t(taps_bytes + p.partial * p.slices * p.g.groups * 4);
  }
  Tap* taps(void* shared) const { return static_cast<Tap*>(shared); }
  float* partial(void* shared, const WeightPlan& p, int64_t index) const {
    return reinterpret_cast<float*>(static_cast<char*>(shared) + taps_bytes) + index * p.partial;
  }
};

/// Copies one unit's padded input: blocked by panels of tile_rows channels, or channel planes.
inline void load_unit_x(const WeightPlan& p, const float* src, int64_t chunk, float* dst) {
  const Gather& g = p.g;
  int64_t i0 = 0;
  int64_t i1 = 0;
  const Window window = chunk_window(g, chunk, &i0, &i1);
  const int64_t positions = g.chunk_in_rows(g.rows) * g.row_stride();
  if (!p.blocked) {
    for (int64_t c = 0; c < g.c; ++c) {
      copy_planar(src + c * g.in_h * g.in_w, window, dst + c * positions);
    }
    return;
  }
  const int64_t panels = ceil_div(g.c, tile_rows);
  for (int64_t q = 0; q < panels; ++q) {
    const int64_t c = g.c * q / panels;
    const int64_t height = g.c * (q + 1) / panels - c;
    copy_blocked(src + c * g.in_h * g.in_w, height, height, window, dst + c * positions);
  }
}
/// Copies one unit's output gradient: [block of conv_cols channels][position][conv_cols].
inline void load_unit_y(const WeightPlan& p, const float* src, int64_t chunk, int64_t o0,
                        int64_t o1, float* dst) {
  const Gather& g = p.g;
  const int64_t i0 = chunk * g.rows;
  const int64_t rows = min64(g.rows, g.out_h - i0);
  const int64_t positions = rows * g.out_w;  // contiguous in each channel
  constexpr int W = native_lanes<float>;
  const int64_t plane = g.out_h * g.out_w;
  for (int64_t o = o0; o < o1; o += conv_cols) {
    float* out = dst + o * g.rows * g.out_w;
    for (int64_t x = 0; x < positions; x += W) {
      const int cols = int(min64(W, positions - x));
      for (int64_t c = 0; c < conv_cols; c += W) {
        const int have = int(min64(max64(g.o - o - c, 0), W));
        const float* from = src + min64(o + c, g.o - 1) * plane + i0 * g.out_w + x;
        transpose_block(from, plane, have, cols, out + x * conv_cols + c, conv_cols, true);
      }
    }
  }
}

inline void weight_task(const WeightPlan& p, const float* x, const float* y, const void* shared_c,
                        void* scratch, int64_t task) {
  void* shared = const_cast<void*>(shared_c);
  const Gather& g = p.g;
  const WeightShared l(p);
  const Tap* taps = l.taps(shared);
  const int64_t slice = task % p.slices;
  const int64_t split = task / p.slices % p.splits;
  const int64_t group = task / p.slices / p.splits;
  const int64_t blocks = ceil_div(g.o, conv_cols);
  const int64_t o0 = blocks * split / p.splits * conv_cols;
  const int64_t o1 = blocks * (split + 1) / p.splits * conv_cols;
  float* sum = l.partial(shared, p, group * p.slices + slice);
  const int64_t begin = p.units * slice / p.slices;
  const int64_t end = p.units * (slice + 1) / p.slices;
  float* xs = static_cast<float*>(scratch);
  float* ys = xs + p.batch * p.x_floats;
  if (!p.blocked) {
    zero_run(sum, p.partial);
  } else if (begin == end) {
    zero_run(sum + o0 * g.c * p.taps, (o1 - o0) * g.c * p.taps);
  }
  for (int64_t u = begin; u < end; u += p.batch) {
    const int64_t count = min64(p.batch, end - u);
    int64_t unit_rows[max_batch] = {};
    for (int64_t k = 0; k < count; ++k) {
      const int64_t image = (u + k) / g.chunks;
      const int64_t chunk = (u + k) % g.chunks;
      const float* xi = x + (image * g.groups + group) * g.c * g.in_h * g.in_w;
      const float* yi = y + (image * g.groups + group) * g.o * g.out_h * g.out_w;
      unit_rows[k] = min64(g.rows, g.out_h - chunk * g.rows);
      load_unit_x(p, xi, chunk, xs + k * p.x_floats);
      if (p.blocked) {
        load_unit_y(p, yi, chunk, o0, o1, ys + k * p.y_floats);
      } else {
        sum_dots(p, taps, xs, yi + chunk * g.rows * g.out_w, unit_rows[k], sum);
      }
    }
    if (p.blocked) {
      sum_blocked(p, taps, xs, ys, unit_rows, count, o0, o1, sum, u == begin);
    }
  }
}

/// Adds the slices of output channels [o0, o1) of a group and puts them in the weight's order.
inline void finish_blocked(const WeightPlan& p, const float* partial, int64_t block, float* dw) {
  const Gather& g = p.g;
  const int64_t o = block * conv_cols;
  const int64_t width = min64(conv_cols, g.o - o);
  const int64_t panels = ceil_div(g.c, tile_rows);
  const float* src = partial + o * g.c * p.taps;
  for (int64_t q = 0; q < panels; ++q) {
    const int64_t c = g.c * q / panels;
    const int64_t height = g.c * (q + 1) / panels - c;
    for (int64_t t = 0; t < p.taps; ++t) {
      for (int64_t r = 0; r < height; ++r, src += conv_cols) {
        float row[conv_cols];
        copy_run(src, row, conv_cols);
        for (int64_t s = 1; s < p.slices; ++s) {
          const float* more = src + s * p.partial;
          for (int64_t j = 0; j < conv_cols; ++j) {
            row[j] += more[j];
          }
        }
        for (int64_t j = 0; j < width; ++j) {
          dw[((o + j) * g.c + c + r) * p.taps + t] = row[j];
        }
      }
    }
  }
}
inline void finish_dots(const WeightPlan& p, const float* partial, int64_t o0, int64_t o1,
                        float* dw) {
  constexpr int W = native_lanes<float>;
  using S = simd<float, W>;
  const int64_t pairs = p.g.c * p.taps;
  const int64_t tap_tiles = ceil_div(pairs, dot_taps);
  for (int64_t o = o0; o < o1; ++o) {
    for (int64_t k = 0; k < pairs; ++k) {
      const int64_t tile = o / dot_outs * tap_tiles + k / dot_taps;
      const int64_t at = (tile * dot_outs + o % dot_outs) * dot_taps + k % dot_taps;
      S total(0.0f);
      for (int64_t s = 0; s < p.slices; ++s) {
        total += S::load(partial + s * p.partial + at * W);
      }
      dw[o * pairs + k] = hsum(total);
    }
  }
}

/// Units of finishing work: one per group and block of output channels.
inline int64_t finish_units(const WeightPlan& p) { return p.g.groups * ceil_div(p.g.o, conv_cols); }
inline void weight_finish(const WeightPlan& p, void* shared, float* dw, int64_t part,
                          int64_t parts) {
  const WeightShared l(p);
  const int64_t blocks = ceil_div(p.g.o, conv_cols);
  const int64_t units = finish_units(p);
  for (int64_t u = units * part / parts; u < units * (part + 1) / parts; ++u) {
    const int64_t group = u / blocks;
    const int64_t block = u % blocks;
    const float* partial = l.partial(shared, p, group * p.slices);
    float* out = dw + group * p.g.o * p.g.c * p.taps;
    if (p.blocked) {
      finish_blocked(p, partial, block, out);
    } else {
      finish_dots(p, partial, block * conv_cols, min64((block + 1) * conv_cols, p.g.o), out);
    }
  }
}

}  // namespace

}  // namespace sinter::portable::SINTER_ISA
