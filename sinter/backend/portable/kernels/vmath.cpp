// SPDX-License-Identifier: MIT OR Apache-2.0
// Array forms of the elementary functions, for the kernel table.
#include "sinter/backend/portable/kernels/vmath.hpp"

#include "sinter/backend/portable/kernels/kernel_set.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

template <class T, class F>
SINTER_FORCE_INLINE void map(F f, const T* x, T* y, size_t n) {
  constexpr int lanes = native_lanes<T>;
  using V = simd<T, lanes>;
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    f(V::load(x + i)).store(y + i);
  }
  if (i < n) {
    store_partial(f(load_partial<T, lanes>(x + i, int(n - i))), y + i, int(n - i));
  }
}
template <class T, class F>
SINTER_FORCE_INLINE void map2(F f, const T* x, const T* y, T* z, size_t n) {
  constexpr int lanes = native_lanes<T>;
  using V = simd<T, lanes>;
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    f(V::load(x + i), V::load(y + i)).store(z + i);
  }
  if (i < n) {
    const int r = int(n - i);
    store_partial(f(load_partial<T, lanes>(x + i, r), load_partial<T, lanes>(y + i, r)), z + i, r);
  }
}

template <class T>
void math_1(MathFn f, const T* x, T* y, size_t n) {
  switch (f) {
#define SINTER_CASE(name) \
  case MathFn::name:      \
    return map<T>([](auto v) { return SINTER_ISA::name(v); }, x, y, n);
    SINTER_CASE(exp)
    SINTER_CASE(exp2)
    SINTER_CASE(expm1)
    SINTER_CASE(log)
    SINTER_CASE(log2)
    SINTER_CASE(log10)
    SINTER_CASE(log1p)
    SINTER_CASE(sin)
    SINTER_CASE(cos)
    SINTER_CASE(tan)
    SINTER_CASE(asin)
    SINTER_CASE(acos)
    SINTER_CASE(atan)
    SINTER_CASE(sinh)
    SINTER_CASE(cosh)
    SINTER_CASE(tanh)
    SINTER_CASE(asinh)
    SINTER_CASE(acosh)
    SINTER_CASE(atanh)
    SINTER_CASE(erf)
    SINTER_CASE(sqrt)
    SINTER_CASE(rsqrt)
    SINTER_CASE(abs)
    SINTER_CASE(floor)
    SINTER_CASE(ceil)
    SINTER_CASE(trunc)
    SINTER_CASE(round)
#undef SINTER_CASE
  }
}
template <class T>
void math_2(MathFn2 f, const T* x, const T* y, T* z, size_t n) {
  switch (f) {
#define SINTER_CASE(name) \
  case MathFn2::name:     \
    return map2<T>([](auto a, auto b) { return SINTER_ISA::name(a, b); }, x, y, z, n);
    SINTER_CASE(pow)
    SINTER_CASE(atan2)
    SINTER_CASE(fmod)
    SINTER_CASE(hypot)
    SINTER_CASE(maximum)
    SINTER_CASE(minimum)
    SINTER_CASE(copysign)
#undef SINTER_CASE
  }
}

}  // namespace

void math_f32(MathFn f, const float* x, float* y, size_t n) { math_1(f, x, y, n); }
void math_f64(MathFn f, const double* x, double* y, size_t n) { math_1(f, x, y, n); }
void math2_f32(MathFn2 f, const float* x, const float* y, float* z, size_t n) {
  math_2(f, x, y, z, n);
}
void math2_f64(MathFn2 f, const double* x, const double* y, double* z, size_t n) {
  math_2(f, x, y, z, n);
}

}  // namespace sinter::portable::SINTER_ISA
