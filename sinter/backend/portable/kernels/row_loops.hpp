// SPDX-License-Identifier: MIT OR Apache-2.0
// Loops over dense runs in whole vectors and a partial last one.
#pragma once

#include "sinter/backend/portable/kernels/vmath.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

template <class T>
using lanes_of = simd<T, native_lanes<T>>;

/// A whole vector at position `i` of a run.
template <class T>
struct Whole {
  int64_t i;
  SINTER_FORCE_INLINE lanes_of<T> load(const T* p) const { return lanes_of<T>::load(p + i); }
  SINTER_FORCE_INLINE void store(lanes_of<T> v, T* p) const { v.store(p + i); }
  SINTER_FORCE_INLINE lanes_of<T> keep(lanes_of<T> v, T) const { return v; }
};
/// The first `n` lanes at position `i`.
template <class T>
struct Partial {
  int64_t i;
  int n;
  SINTER_FORCE_INLINE lanes_of<T> load(const T* p) const {
    return load_partial<T, native_lanes<T>>(p + i, n);
  }
  SINTER_FORCE_INLINE void store(lanes_of<T> v, T* p) const { store_partial(v, p + i, n); }
  /// `v` in the lanes of the run, `other` in the rest.
  SINTER_FORCE_INLINE lanes_of<T> keep(lanes_of<T> v, T other) const {
    return select(first_lanes<T, native_lanes<T>>(n), v, lanes_of<T>(other));
  }
};

/// f(chunk) for every vector of a run of n.
template <class T, class F>
SINTER_FORCE_INLINE void for_chunks(int64_t n, F f) {
  constexpr int W = native_lanes<T>;
  int64_t i = 0;
  for (; i + W <= n; i += W) {
    f(Whole<T>{i});
  }
  if (i < n) {
    f(Partial<T>{i, int(n - i)});
  }
}

/// The lanes of f(chunk) joined by `join`, four vectors at a time; `none` is what changes nothing.
template <class T, class F, class J>
SINTER_FORCE_INLINE lanes_of<T> join_chunks(int64_t n, T none, F f, J join) {
  constexpr int W = native_lanes<T>;
  lanes_of<T> acc[4] = {lanes_of<T>(none), lanes_of<T>(none), lanes_of<T>(none), lanes_of<T>(none)};
  int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      acc[k] = join(acc[k], f(Whole<T>{i + k * W}));
    }
  }
  for (; i + W <= n; i += W) {
    acc[0] = join(acc[0], f(Whole<T>{i}));
  }
  if (i < n) {
    const Partial<T> tail{i, int(n - i)};
    acc[1] = join(acc[1], tail.keep(f(tail), none));
  }
  return join(join(acc[0], acc[1]), join(acc[2], acc[3]));
}
template <class T, class F>
SINTER_FORCE_INLINE T sum_chunks(int64_t n, F f) {
  return hsum(join_chunks<T>(n, T(0), f, [](auto a, auto b) { return a + b; }));
}

}  // namespace

}  // namespace sinter::portable::SINTER_ISA
