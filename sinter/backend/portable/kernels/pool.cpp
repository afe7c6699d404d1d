// SPDX-License-Identifier: MIT OR Apache-2.0
// Pooling and resizing of planes.
#include "sinter/backend/portable/kernels/row_loops.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

// ---- maxima ----

template <class V, size_t... I>
SINTER_FORCE_INLINE V even_lanes(V a, V b, detail::seq<I...>) {
  return __builtin_shufflevector(a, b, int(2 * I)...);
}

// Elements p[0], p[step], …: the first `n` lanes.
template <class T>
SINTER_FORCE_INLINE lanes_of<T> load_step(const T* p, int64_t step, int n) {
  constexpr int W = native_lanes<T>;
  if (step == 1) {
    return n == W ? lanes_of<T>::load(p) : load_partial<T, W>(p, n);
  }
  if (step == 2) {
    const int all = 2 * n - 1;
    const lanes_of<T> a = load_partial<T, W>(p, all < W ? all : W);
    const lanes_of<T> b = all > W ? load_partial<T, W>(p + W, all - W) : lanes_of<T>(T(0));
    return lanes_of<T>(even_lanes(a.v, b.v, typename detail::make_seq<W>::type{}));
  }
  lanes_of<T> r(T(0));
  for (int i = 0; i < n; ++i) {
    r.set(i, p[i * step]);
  }
  return r;
}

// The taps of one window dim that lie inside the input.
struct Taps {
  int64_t first, last;  // [first, last) of the kernel
  int64_t at;           // input position of tap 0
};
SINTER_FORCE_INLINE Taps taps_of(const PoolShape& s, int d, int64_t out) {
  Taps t;
  t.at = out * s.stride[d] - s.padding[d];
  t.first = t.at < 0 ? (-t.at + s.dilation[d] - 1) / s.dilation[d] : 0;
  const int64_t fit = s.in[d] - t.at;
  const int64_t last = fit <= 0 ? 0 : (fit + s.dilation[d] - 1) / s.dilation[d];
  t.last = last < s.kernel[d] ? last : s.kernel[d];
  return t;
}

template <class T>
SINTER_FORCE_INLINE void max_one(const PoolShape& s, const T* x, Taps tz, Taps ty, int64_t ox, T* y,
                                 int32_t* at) {
  const Taps tx = taps_of(s, 2, ox);
  T best = -__builtin_inff();
  int64_t position = -1;
  for (int64_t kz = tz.first; kz < tz.last; ++kz) {
    for (int64_t ky = ty.first; ky < ty.last; ++ky) {
      const int64_t row =
          ((tz.at + kz * s.dilation[0]) * s.in[1] + ty.at + ky * s.dilation[1]) * s.in[2];
      for (int64_t kx = tx.first; kx < tx.last; ++kx) {
        const int64_t i = row + tx.at + kx * s.dilation[2];
        const T v = x[i];
        if (position < 0 || v > best || (v != v && best == best)) {
          best = v;
          position = i;
        }
      }
    }
  }
  *y = best;
  *at = int32_t(position);
}

// Windows ox … ox + n - 1 of a row, all of whose taps lie inside along x.
template <class T>
SINTER_FORCE_INLINE void max_lanes(const PoolShape& s, const T* x, Taps tz, Taps ty, int64_t ox,
                                   int n, T* y, int32_t* at) {
  using V = lanes_of<T>;
  using L = typename simd_mask<T, native_lanes<T>>::lane;
  using I = simd<L, native_lanes<T>>;
  const int64_t left = ox * s.stride[2] - s.padding[2];
  V best(T(-__builtin_inff()));
  I position(L(((tz.at + tz.first * s.dilation[0]) * s.in[1] + ty.at + ty.first * s.dilation[1]) *
               s.in[2]));
  for (int64_t kz = tz.first; kz < tz.last; ++kz) {
    for (int64_t ky = ty.first; ky < ty.last; ++ky) {
      const int64_t row =
          ((tz.at + kz * s.dilation[0]) * s.in[1] + ty.at + ky * s.dilation[1]) * s.in[2];
      for (int64_t kx = 0; kx < s.kernel[2]; ++kx) {
        const int64_t tap = row + kx * s.dilation[2];
        const V v = load_step(x + tap + left, s.stride[2], n);
        const auto take = (!(v <= best)) & (best == best);
        best = select(take, v, best);
        position = select(mask_cast<L>(take), I(L(tap)), position);
      }
    }
  }
  position = position + I(L(left)) + I::iota() * I(L(s.stride[2]));
  store_partial(best, y, n);
  if constexpr (sizeof(L) == 4) {
    store_partial(position, at, n);
  } else {
    for (int i = 0; i < n; ++i) {
      at[i] = int32_t(position[i]);
    }
  }
}

template <class V, size_t... I>
SINTER_FORCE_INLINE V odd_lanes(V a, V b, detail::seq<I...>) {
  return __builtin_shufflevector(a, b, int(2 * I + 1)...);
}

// Windows of 2 x 2 side by side on a plane `width` wide: `n` outputs from input `i` on. Reads at
// most one vector past the elements it needs, which every buffer allows.
SINTER_FORCE_INLINE void max_quads(const float* x, int64_t width, int64_t i, int n, float* y,
                                   int32_t* at) {
  constexpr int W = native_lanes<float>;
  using S = typename detail::make_seq<W>::type;
  const auto load = [&](const float* p, vf& even, vf& odd) {
    const vf a = vf::load(p);
    const vf b = n > W / 2 ? vf::load(p + W) : a;
    even = vf(even_lanes(a.v, b.v, S{}));
    odd = vf(odd_lanes(a.v, b.v, S{}));
  };
  vf best;
  vf next[3];
  load(x + i, best, next[0]);
  load(x + i + width, next[1], next[2]);
  vi position = vi(int32_t(0));
  const int32_t offsets[3] = {1, int32_t(width), int32_t(width) + 1};
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
    const auto take = (!(next[k] <= best)) & (best == best);
    best = select(take, next[k], best);
    position = select(mask_cast<int32_t>(take), vi(offsets[k]), position);
  }
  position = position + vi(int32_t(i)) + vi::iota() + vi::iota();
  if (n == W) {
    best.store(y);
    position.store(at);
  } else {
    store_partial(best, y, n);
    store_partial(position, at, n);
  }
}

// The commonest pooling: planes without padding, windows of 2 x 2 with stride 2.
void max_pool_quads(const PoolShape& s, const float* x, float* y, int32_t* at, int64_t planes) {
  constexpr int64_t W = native_lanes<float>;
  for (int64_t p = 0; p < planes; ++p, x += s.in[1] * s.in[2]) {
    for (int64_t oy = 0; oy < s.out[1]; ++oy, y += s.out[2], at += s.out[2]) {
      const int64_t row = 2 * oy * s.in[2];
      for (int64_t ox = 0; ox < s.out[2]; ox += W) {
        const int64_t n = s.out[2] - ox < W ? s.out[2] - ox : W;
        max_quads(x, s.in[2], row + 2 * ox, int(n), y + ox, at + ox);
      }
    }
  }
}
bool is_quads(const PoolShape& s) {
  bool quads = s.in[0] == 1 && s.kernel[0] == 1 && s.out[0] == 1;
  for (int d = 1; d < 3; ++d) {
    quads = quads && s.kernel[d] == 2 && s.stride[d] == 2 && s.padding[d] == 0 &&
            s.dilation[d] == 1 && 2 * s.out[d] <= s.in[d];
  }
  return quads;
}

template <class T>
void max_pool(const PoolShape& s, const T* x, T* y, int32_t* at, int64_t planes) {
  constexpr int64_t W = native_lanes<T>;
  if constexpr (sizeof(T) == 4) {
    if (is_quads(s)) {
      max_pool_quads(s, x, y, at, planes);
      return;
    }
  }
  // Windows [inside, outside) of a row have all their taps in the input.
  int64_t inside = (s.padding[2] + s.stride[2] - 1) / s.stride[2];
  const int64_t room = s.in[2] - 1 - (s.kernel[2] - 1) * s.dilation[2] + s.padding[2];
  int64_t outside = room < 0 ? 0 : room / s.stride[2] + 1;
  outside = outside < s.out[2] ? outside : s.out[2];
  inside = inside < outside ? inside : outside;
  for (int64_t p = 0; p < planes; ++p, x += s.in[0] * s.in[1] * s.in[2]) {
    for (int64_t oz = 0; oz < s.out[0]; ++oz) {
      const Taps tz = taps_of(s, 0, oz);
      for (int64_t oy = 0; oy < s.out[1]; ++oy, y += s.out[2], at += s.out[2]) {
        const Taps ty = taps_of(s, 1, oy);
        const bool some = tz.first < tz.last && ty.first < ty.last;
        int64_t ox = 0;
        for (; ox < (some ? inside : s.out[2]); ++ox) {
          max_one(s, x, tz, ty, ox, y + ox, at + ox);
        }
        for (; ox < outside; ox += W) {
          const int64_t n = outside - ox < W ? outside - ox : W;
          max_lanes(s, x, tz, ty, ox, int(n), y + ox, at + ox);
        }
        for (ox = ox < outside ? ox : (some ? outside : s.out[2]); ox < s.out[2]; ++ox) {
          max_one(s, x, tz, ty, ox, y + ox, at + ox);
        }
      }
    }
  }
}

template <class T>
void scatter(const T* g, const int32_t* at, T* dx, int64_t planes, int64_t windows, int64_t plane) {
  for (int64_t p = 0; p < planes; ++p, g += windows, at += windows, dx += plane) {
    for_chunks<T>(plane, [&](auto c) { c.store(lanes_of<T>(T(0)), dx); });
    for (int64_t i = 0; i < windows; ++i) {
      if (uint32_t(at[i]) < uint64_t(plane)) {
        dx[at[i]] += g[i];
      }
    }
  }
}

template <class T>
void take(const T* x, const int32_t* at, T* y, int64_t planes, int64_t windows, int64_t plane) {
  for (int64_t p = 0; p < planes; ++p, x += plane, at += windows, y += windows) {
    for (int64_t i = 0; i < windows; ++i) {
      y[i] = at[i] >= 0 && at[i] < plane ? x[at[i]] : T(0);
    }
  }
}

// ---- averages: rows are added up first, then the windows along them ----

template <class T>
void average(const AverageShape& s, const T* x, T* y, T* row, int64_t planes) {
  for (int64_t p = 0; p < planes; ++p, x += s.in[0] * s.in[1] * s.in[2]) {
    for (int64_t oz = 0; oz < s.out[0]; ++oz) {
      for (int64_t oy = 0; oy < s.out[1]; ++oy, y += s.out[2]) {
        for_chunks<T>(s.in[2], [&](auto c) { c.store(lanes_of<T>(T(0)), row); });
        for (int64_t z = s.begin[0][oz]; z < s.end[0][oz]; ++z) {
          for (int64_t i = s.begin[1][oy]; i < s.end[1][oy]; ++i) {
            const T* line = x + (z * s.in[1] + i) * s.in[2];
            for_chunks<T>(s.in[2], [&](auto c) { c.store(c.load(row) + c.load(line), row); });
          }
        }
        const T count = T(s.count[0][oz]) * T(s.count[1][oy]);
        for (int64_t ox = 0; ox < s.out[2]; ++ox) {
          const int64_t begin = s.begin[2][ox];
          const int64_t length = s.end[2][ox] - begin;
          T sum = 0;
          if (length >= 4 * native_lanes<T>) {
            sum = sum_chunks<T>(length, [&](auto c) { return c.load(row + begin); });
          } else {
            for (int64_t i = 0; i < length; ++i) {
              sum += row[begin + i];
            }
          }
          y[ox] = sum / (count * T(s.count[2][ox]));
        }
      }
    }
  }
}

template <class T>
void spread(const AverageShape& s, const T* g, T* dx, T* row, int64_t planes) {
  const int64_t plane = s.in[0] * s.in[1] * s.in[2];
  for (int64_t p = 0; p < planes; ++p, dx += plane) {
    for_chunks<T>(plane, [&](auto c) { c.store(lanes_of<T>(T(0)), dx); });
    for (int64_t oz = 0; oz < s.out[0]; ++oz) {
      for (int64_t oy = 0; oy < s.out[1]; ++oy, g += s.out[2]) {
        for_chunks<T>(s.in[2], [&](auto c) { c.store(lanes_of<T>(T(0)), row); });
        const T count = T(s.count[0][oz]) * T(s.count[1][oy]);
        for (int64_t ox = 0; ox < s.out[2]; ++ox) {
          const T share = g[ox] / (count * T(s.count[2][ox]));
          for (int64_t i = s.begin[2][ox]; i < s.end[2][ox]; ++i) {
            row[i] += share;
          }
        }
        for (int64_t z = s.begin[0][oz]; z < s.end[0][oz]; ++z) {
          for (int64_t i = s.begin[1][oy]; i < s.end[1][oy]; ++i) {
            T* line = dx + (z * s.in[1] + i) * s.in[2];
            for_chunks<T>(s.in[2], [&](auto c) { c.store(c.load(line) + c.load(row), line); });
          }
        }
      }
    }
  }
}

// ---- resizing: lines between rows first, then positions along them ----

// The (at most four) lines of a plane that output row (oz, oy) lies between.
template <class T>
struct Lines {
  int64_t offset[4];
  T weight[4];
  int count = 0;
  Lines(const ResizeShape<T>& s, int64_t oz, int64_t oy) {
    const T wz = s.weight[0][oz];
    const T wy = s.weight[1][oy];
    const int64_t z[2] = {s.low[0][oz], s.high[0][oz]};
    const int64_t y[2] = {s.low[1][oy], s.high[1][oy]};
    for (int i = 0; i < 4; ++i) {
      const T w = (i & 2 ? wz : T(1) - wz) * (i & 1 ? wy : T(1) - wy);
      if (w != T(0)) {  // a line without weight may hold infinities
        offset[count] = (z[i >> 1] * s.in[1] + y[i & 1]) * s.in[2];
        weight[count++] = w;
      }
    }
  }
};

template <class T>
void resize(const ResizeShape<T>& s, const T* x, T* y, T* row, int64_t planes) {
  for (int64_t p = 0; p < planes; ++p, x += s.in[0] * s.in[1] * s.in[2]) {
    for (int64_t oz = 0; oz < s.out[0]; ++oz) {
      for (int64_t oy = 0; oy < s.out[1]; ++oy, y += s.out[2]) {
        const Lines<T> lines(s, oz, oy);
        const T* source = x + lines.offset[0];
        if (lines.count > 1) {
          for (int l = 0; l < lines.count; ++l) {
            const T* line = x + lines.offset[l];
            const lanes_of<T> w = lines.weight[l];
            for_chunks<T>(s.in[2], [&](auto c) {
              c.store(l == 0 ? c.load(line) * w : fma(c.load(line), w, c.load(row)), row);
            });
          }
          source = row;
        }
        for (int64_t ox = 0; ox < s.out[2]; ++ox) {
          const T w = s.weight[2][ox];
          const T low = source[s.low[2][ox]];
          y[ox] = w == T(0) ? low : low * (T(1) - w) + source[s.high[2][ox]] * w;
        }
      }
    }
  }
}

template <class T>
void resize_grad(const ResizeShape<T>& s, const T* g, T* dx, T* row, int64_t planes) {
  const int64_t plane = s.in[0] * s.in[1] * s.in[2];
  for (int64_t p = 0; p < planes; ++p, dx += plane) {
    for_chunks<T>(plane, [&](auto c) { c.store(lanes_of<T>(T(0)), dx); });
    for (int64_t oz = 0; oz < s.out[0]; ++oz) {
      for (int64_t oy = 0; oy < s.out[1]; ++oy, g += s.out[2]) {
        for_chunks<T>(s.in[2], [&](auto c) { c.store(lanes_of<T>(T(0)), row); });
        for (int64_t ox = 0; ox < s.out[2]; ++ox) {
          const T w = s.weight[2][ox];
          row[s.low[2][ox]] += g[ox] * (T(1) - w);
          if (w != T(0)) {
            row[s.high[2][ox]] += g[ox] * w;
          }
        }
        const Lines<T> lines(s, oz, oy);
        for (int l = 0; l < lines.count; ++l) {
          T* line = dx + lines.offset[l];
          const lanes_of<T> w = lines.weight[l];
          for_chunks<T>(s.in[2], [&](auto c) { c.store(fma(c.load(row), w, c.load(line)), line); });
        }
      }
    }
  }
}

}  // namespace

template <class T>
PoolKernels<T> pool_kernels() {
  return {.max = max_pool<T>,
          .scatter = scatter<T>,
          .take = take<T>,
          .average = average<T>,
          .spread = spread<T>,
          .resize = resize<T>,
          .resize_grad = resize_grad<T>};
}
template PoolKernels<float> pool_kernels();
template PoolKernels<double> pool_kernels();

}  // namespace sinter::portable::SINTER_ISA
