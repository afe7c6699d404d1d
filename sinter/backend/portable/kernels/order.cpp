// SPDX-License-Identifier: MIT OR Apache-2.0
// Argmax and argmin: blocks of a row are compared as vectors, and only a block that holds a better
// element is searched; columns advance together, each lane with its own index.
#include "sinter/backend/portable/kernels/order.hpp"

#include "sinter/backend/portable/kernels/simd.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

constexpr int64_t block = 1024;  // elements of a row that are compared before a search

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

// The position of the first element of [0, n) that replaces `best`, the extreme of which becomes `best`.
template <bool largest, class T>
int64_t search(const T* x, int64_t n, T& best) {
  int64_t found = -1;
  for (int64_t i = 0; i < n; ++i) {
    if (best == best && (better<largest>(x[i], best) || x[i] != x[i])) {
      best = x[i];
      found = i;
    }
  }
  return found;
}

template <bool largest, class T>
int64_t arg_row(const T* x, int64_t n) {
  constexpr int lanes = native_lanes<T>;
  using V = simd<T, lanes>;
  T best = x[0];
  int64_t found = 0;
  for (int64_t begin = 0; begin < n && best == best; begin += block) {
    const int64_t count = n - begin < block ? n - begin : block;
    const T* from = x + begin;
    // Four independent chains hide the latency of a comparison.
    V v[4] = {V(best), V(best), V(best), V(best)};
    int64_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      for (int k = 0; k < 4; ++k) {
        const V a = V::load(from + i + k * lanes);
        v[k] = select(replaces<largest>(a, v[k]), a, v[k]);
      }
    }
    bool any = i < count;
    const V start(best);
    for (int k = 0; k < 4; ++k) {
      const auto changed = replaces<largest>(v[k], start);
      for (int lane = 0; lane < lanes; ++lane) {
        any = any || changed[lane];
      }
    }
    if (any) {
      const int64_t at = search<largest>(from, count, best);
      found = at < 0 ? found : begin + at;
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
  largest ? arg_columns<true>(x, stride, n, width, out) : arg_columns<false>(x, stride, n, width, out);
}

}  // namespace

const OrderKernels& order_kernels() {
  static constexpr OrderKernels table{{row<float>, columns<float>},
                                      {row<double>, columns<double>},
                                      {row<int64_t>, columns<int64_t>}};
  return table;
}

}  // namespace sinter::portable::SINTER_ISA
