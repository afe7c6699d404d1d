// SPDX-License-Identifier: MIT OR Apache-2.0
// Argmax and argmin: blocks of a row are compared as vectors, and only a block that holds a better
// element is searched; columns advance together, each lane with its own index.
#include "sinter/backend/portable/kernels/order.hpp"

#include "sinter/backend/portable/kernels/simd.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

// Elements of a row that are compared before the best of them is looked for: they are still cached.
constexpr int64_t block = 4096;

template <bool largest, class T>
SINTER_FORCE_INLINE bool better(T a, T b) {
  return largest ? a > b : a < b;
}
// Where `a` takes the place of `b`: it is better, or the first NaN.
template <bool largest, class T, int N>
SINTER_FORCE_INLINE auto replaces(simd<T, N> a, simd<T, N> b) {
  const auto wins = largest ? a > b : a < b;
  if constexpr (T(0.5) != T(0)) {
    return (wins | (a != a)) & (b == b);
  } else {
    return wins;
  }
}

// The extreme of [0, n) and `best`.
template <bool largest, class T>
T extreme_of(const T* x, int64_t n, T best) {
  constexpr int lanes = native_lanes<T>;
  using V = simd<T, lanes>;
  // Four independent chains hide the latency of a comparison.
  V v[4] = {V(best), V(best), V(best), V(best)};
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    for (int k = 0; k < 4; ++k) {
      const V a = V::load(x + i + k * lanes);
      v[k] = select(replaces<largest>(a, v[k]), a, v[k]);
    }
  }
  for (int k = 1; k < 4; ++k) {
    v[0] = select(replaces<largest>(v[k], v[0]), v[k], v[0]);
  }
  T lane[lanes];
  v[0].store(lane);
  const auto take = [&](T a) {
    best = best == best && (better<largest>(a, best) || a != a) ? a : best;
  };
  for (int k = 0; k < lanes; ++k) {
    take(lane[k]);
  }
  for (; i < n; ++i) {
    take(x[i]);
  }
  return best;
}

// The first position of `value`, which is there; any NaN counts as a NaN.
template <class T>
int64_t find(const T* x, int64_t n, T value) {
  constexpr int lanes = native_lanes<T>;
  using V = simd<T, lanes>;
  const V wanted(value);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V a = V::load(x + i);
    if (value == value ? any(a == wanted) : any(a != a)) {
      break;
    }
  }
  while (i < n && !(x[i] == value || (value != value && x[i] != x[i]))) {
    ++i;
  }
  return i;
}

template <bool largest, class T>
int64_t arg_row(const T* x, int64_t n) {
  T best = x[0];
  int64_t found = 0;
  for (int64_t begin = 0; begin < n && best == best; begin += block) {
    const int64_t count = n - begin < block ? n - begin : block;
    const T extreme = extreme_of<largest>(x + begin, count, best);
    if (extreme != best) {  // a NaN differs, too
      best = extreme;
      found = begin + find(x + begin, count, best);
    }
  }
  return found;
}

template <bool largest, class T>
void arg_columns(const T* x, int64_t stride, int64_t n, int64_t width, int64_t* out) {
  constexpr int lanes = native_lanes<T>;
  constexpr int group = 4;
  using V = simd<T, lanes>;
  using L = typename detail::int_of<sizeof(T)>::type;
  using I = simd<L, lanes>;
  int64_t j = 0;
  for (; j + group * lanes <= width; j += group * lanes) {
    V best[group];
    I index[group];
    for (int k = 0; k < group; ++k) {
      best[k] = V::load(x + j + k * lanes);
      index[k] = I(L(0));
    }
    for (int64_t i = 1; i < n; ++i) {
      const I position = I(L(i));
      for (int k = 0; k < group; ++k) {
        const V a = V::load(x + i * stride + j + k * lanes);
        const auto wins = replaces<largest>(a, best[k]);
        best[k] = select(wins, a, best[k]);
        index[k] = I((position.v & wins.v) | (index[k].v & ~wins.v));
      }
    }
    for (int k = 0; k < group; ++k) {
      for (int lane = 0; lane < lanes; ++lane) {
        out[j + k * lanes + lane] = index[k][lane];
      }
    }
  }
  for (; j < width; ++j) {
    T best = x[j];
    int64_t index = 0;
    for (int64_t i = 1; i < n; ++i) {
      const T a = x[i * stride + j];
      if (best == best && (better<largest>(a, best) || a != a)) {
        best = a;
        index = i;
      }
    }
    out[j] = index;
  }
}

template <class T>
int64_t row(const T* x, int64_t n, bool largest) {
  return largest ? arg_row<true>(x, n) : arg_row<false>(x, n);
}
template <class T>
void columns(const T* x, int64_t stride, int64_t n, int64_t width, bool largest, int64_t* out) {
  largest ? arg_columns<true>(x, stride, n, width, out)
          : arg_columns<false>(x, stride, n, width, out);
}

}  // namespace

const OrderKernels& order_kernels() {
  static constexpr OrderKernels table{{row<float>, columns<float>},
                                      {row<double>, columns<double>},
                                      {row<int64_t>, columns<int64_t>}};
  return table;
}

}  // namespace sinter::portable::SINTER_ISA
