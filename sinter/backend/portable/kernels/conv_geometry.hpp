// SPDX-License-Identifier: MIT OR Apache-2.0
// Geometry of convolution passes: forward and data gradient as one "gather" over taps, and padded
// image chunks.
//
// Both passes compute, for each phase (a, b) of the output's stride os,
//   out[o][a + i os_h][b + j os_w] = sum over channels c and taps t of W[o][c][t] in[c][i is_h +
//   dh(t)][j is_w + dw(t)]
// with zeros outside. Forward has one phase and is = stride; the data gradient has os = stride, is
// = 1, and each phase owns the taps that reach it. Input columns are stored apart by their phase of
// is_w, so neighbouring j are neighbours in memory.
#pragma once

#include "sinter/backend/portable/kernels/conv.hpp"
#include "sinter/backend/portable/kernels/micro.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

constexpr int64_t channel_block = 16;        ///< channels side by side in a blocked image
constexpr int64_t image_bytes = 384 * 1024;  ///< aim for a padded image chunk: well inside L2

enum class ConvMethod : int32_t {
  blocked,  ///< rows: positions; columns: output channels (many channels on both sides)
  panel,    ///< rows: output channels; columns: packed positions (few input channels)
  direct    ///< rows: at most direct_rows output channels; columns: positions read in place
};
constexpr int64_t direct_rows = 4;

struct Gather {
  int64_t n, groups, c, o;  // images; groups; channels per group in and out
  int64_t in_h, in_w, out_h, out_w;
  int64_t is_h, is_w, os_h, os_w;
  int64_t kh, kw;
  int64_t lo_h, hi_h, lo_w, hi_w;  // range of dh and dw over all taps
  int64_t pad_w;                   // columns of one phase of the padded image
  int64_t rows;                    // output rows (per phase) of a chunk
  int64_t chunks;
  ConvMethod method;

  int64_t block() const { return method == ConvMethod::blocked ? channel_block : 1; }
  int64_t phases() const { return os_h * os_w; }
  int64_t phase_rows(int64_t a) const { return a < out_h ? (out_h - a - 1) / os_h + 1 : 0; }
  int64_t phase_cols(int64_t b) const { return b < out_w ? (out_w - b - 1) / os_w + 1 : 0; }
  int64_t row_stride() const { return is_w * pad_w * block(); }
  int64_t chunk_in_rows(int64_t r) const { return (r - 1) * is_h + hi_h - lo_h + 1; }
  int64_t plane() const { return chunk_in_rows(rows) * row_stride(); }
  int64_t blocks() const { return ceil_div(c, block()); }
  int64_t image_floats() const { return blocks() * plane() + 4 * channel_block + vector_bytes; }
};

/// One filter position as seen from a phase: where it reads relative to the tile, and its index kh
/// * kw.
struct Tap {
  int64_t offset;
  int64_t index;
  int64_t row;  ///< dh: ascending or descending along the list
};

inline int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// Displacement of filter index k in phase `a`, if the phase owns it.
inline bool tap_shift(const ConvShape& s, bool forward, bool height, int64_t phase, int64_t k,
                      int64_t* shift) {
  const int64_t pad = height ? s.top : s.left;
  const int64_t reach = k * (height ? s.dilation_h : s.dilation_w);
  const int64_t stride = height ? s.stride_h : s.stride_w;
  if (forward) {
    *shift = reach - pad;
    return true;
  }
  const int64_t d = phase + pad - reach;
  *shift = floor_div(d, stride);
  return d - *shift * stride == 0;
}

inline void shift_range(const ConvShape& s, bool forward, bool height, int64_t* lo, int64_t* hi) {
  const int64_t phases = forward ? 1 : (height ? s.stride_h : s.stride_w);
  bool first = true;
  for (int64_t a = 0; a < phases; ++a) {
    for (int64_t k = 0; k < (height ? s.kh : s.kw); ++k) {
      int64_t d = 0;
      if (tap_shift(s, forward, height, a, k, &d)) {
        *lo = first || d < *lo ? d : *lo;
        *hi = first || d > *hi ? d : *hi;
        first = false;
      }
    }
  }
}

inline ConvMethod choose_method(int64_t c, int64_t o, int64_t taps) {
  if (o <= direct_rows) {
    return ConvMethod::direct;
  }
  // With one tap a packed panel is a plain copy, cheaper than two transpositions.
  return c < 8 || o < 8 || taps == 1 ? ConvMethod::panel : ConvMethod::blocked;
}

inline Gather make_gather(const ConvShape& s, bool forward) {
  Gather g{};
  g.n = s.n, g.groups = s.groups;
  g.c = (forward ? s.ci : s.co) / s.groups;
  g.o = (forward ? s.co : s.ci) / s.groups;
  g.in_h = forward ? s.h : s.oh(), g.in_w = forward ? s.w : s.ow();
  g.out_h = forward ? s.oh() : s.h, g.out_w = forward ? s.ow() : s.w;
  g.is_h = forward ? s.stride_h : 1, g.is_w = forward ? s.stride_w : 1;
  g.os_h = forward ? 1 : s.stride_h, g.os_w = forward ? 1 : s.stride_w;
  g.kh = s.kh, g.kw = s.kw;
  shift_range(s, forward, true, &g.lo_h, &g.hi_h);
  shift_range(s, forward, false, &g.lo_w, &g.hi_w);
  g.method = choose_method(g.c, g.o, g.kh * g.kw);
  const int64_t most_cols = max64(g.phase_cols(0), 1);
  g.pad_w = ceil_div((most_cols - 1) * g.is_w + g.hi_w - g.lo_w + 1, g.is_w);
  const int64_t most_rows = max64(g.phase_rows(0), 1);
  // Rows of a chunk: as many as fit the cache, then fewer if there are too few tasks to share out.
  const int64_t row_bytes = g.blocks() * g.row_stride() * 4;
  int64_t fit = (image_bytes / row_bytes - (g.hi_h - g.lo_h + 1)) / g.is_h + 1;
  fit = min64(max64(fit, 4), most_rows);
  const int64_t wanted = ceil_div(16, max64(g.n * g.groups, 1));
  fit = min64(fit, max64(ceil_div(most_rows, wanted), 4));
  g.chunks = ceil_div(most_rows, fit);
  g.rows = ceil_div(most_rows, g.chunks);
  g.chunks = ceil_div(most_rows, g.rows);
  return g;
}

/// Fills `taps` for phase (a, b); returns how many there are.
inline int64_t list_taps(const ConvShape& s, const Gather& g, bool forward, int64_t a, int64_t b,
                         Tap* taps) {
  int64_t count = 0;
  for (int64_t h = 0; h < g.kh; ++h) {
    int64_t dh = 0;
    if (!tap_shift(s, forward, true, a, h, &dh)) {
      continue;
    }
    for (int64_t w = 0; w < g.kw; ++w) {
      int64_t dw = 0;
      if (!tap_shift(s, forward, false, b, w, &dw)) {
        continue;
      }
      const int64_t col = dw - g.lo_w;
      taps[count].offset =
          (dh - g.lo_h) * g.row_stride() + (col % g.is_w * g.pad_w + col / g.is_w) * g.block();
      taps[count].index = h * g.kw + w;
      taps[count].row = dh;
      ++count;
    }
  }
  return count;
}

// ---- padded images ----

/// A window of an image to be copied with zeros around: input rows [row, row + rows), columns from
/// `col`.
struct Window {
  int64_t in_h, in_w;
  int64_t row, rows;
  int64_t col;
  int64_t pad_w, phases;  // columns of a phase, number of column phases
};

/// Channels side by side: dst[row][phase][column][width] = src[channel][row][column], channels
/// beyond `channels` and positions outside the image are zero. `width` lanes are written per
/// position.
inline void copy_blocked(const float* src, int64_t channels, int64_t width, const Window& w,
                         float* dst) {
  constexpr int W = native_lanes<float>;
  const int64_t plane = w.in_h * w.in_w;
  for (int64_t r = 0; r < w.rows; ++r) {
    float* out = dst + r * w.phases * w.pad_w * width;
    const int64_t y = w.row + r;
    if (y < 0 || y >= w.in_h) {
      zero_run(out, w.phases * w.pad_w * width);
      continue;
    }
    auto place = [&](int64_t x) __attribute__((always_inline)) {
      const int64_t p = x - w.col;
      return out + (w.phases == 1 ? p : p % w.phases * w.pad_w + p / w.phases) * width;
    };
    const int64_t last = w.col + w.pad_w * w.phases;
    for (int64_t x = w.col; x < min64(0, last); ++x) {
      zero_run(place(x), width);
    }
    const int64_t end = min64(last, w.in_w);
    for (int64_t x = max64(w.col, 0); x < end; x += W) {
      const int cols = int(min64(W, end - x));
      for (int64_t c = 0; c < width; c += W) {
        const int have = int(min64(max64(channels - c, 0), W));
        const int want = int(min64(W, width - c));
        const float* from = src + min64(c, channels - 1) * plane + y * w.in_w + x;
        if (w.phases == 1 && (want == W || want == have)) {
          transpose_block(from, plane, have, cols, place(x) + c, width, want == W);
        } else {
          float tile[W * W];
          transpose_block(from, plane, have, cols, tile, W, true);
          for (int k = 0; k < cols; ++k) {
            store_partial(simd<float, W>::load(tile + k * W), place(x + k) + c, want);
          }
        }
      }
    }
    for (int64_t x = max64(end, w.col); x < last; ++x) {
      zero_run(place(x), width);
    }
  }
}

/// One channel: dst[row][phase][column] = src[row][column] with zeros outside the image.
inline void copy_planar(const float* src, const Window& w, float* dst) {
  for (int64_t r = 0; r < w.rows; ++r) {
    const int64_t y = w.row + r;
    float* out = dst + r * w.phases * w.pad_w;
    if (y < 0 || y >= w.in_h) {
      zero_run(out, w.phases * w.pad_w);
      continue;
    }
    for (int64_t ph = 0; ph < w.phases; ++ph) {
      float* o = out + ph * w.pad_w;
      // Columns x = col + ph + q * phases inside [0, in_w): q in [first, stop).
      const int64_t start = w.col + ph;
      const int64_t first = min64(start >= 0 ? 0 : (-start + w.phases - 1) / w.phases, w.pad_w);
      const int64_t stop =
          max64(first, min64(w.pad_w, start >= w.in_w ? 0 : (w.in_w - start - 1) / w.phases + 1));
      zero_run(o, first);
      const float* from = src + y * w.in_w + start;
      if (w.phases == 1) {
        copy_run(from + first, o + first, stop - first);
      } else {
        for (int64_t q = first; q < stop; ++q) {
          o[q] = from[q * w.phases];
        }
      }
      zero_run(o + stop, w.pad_w - stop);
    }
  }
}

inline Window chunk_window(const Gather& g, int64_t chunk, int64_t* i0, int64_t* i1) {
  *i0 = chunk * g.rows;
  *i1 = min64(*i0 + g.rows, max64(g.phase_rows(0), 1));
  Window w{};
  w.in_h = g.in_h, w.in_w = g.in_w;
  w.row = *i0 * g.is_h + g.lo_h;
  w.rows = g.chunk_in_rows(*i1 - *i0);
  w.col = g.lo_w;
  w.pad_w = g.pad_w, w.phases = g.is_w;
  return w;
}

}  // namespace

}  // namespace sinter::portable::SINTER_ISA
