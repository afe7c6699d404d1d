// SPDX-License-Identifier: MIT OR Apache-2.0
// Formulas carried by SIMD vectors: the bridge from `Carrier` to simd.hpp and vmath.hpp.
#pragma once

#include "sinter/backend/portable/kernels/vmath.hpp"
#include "sinter/ops/carrier.hpp"

namespace sinter {

/// Vectors of float, double or integers as a carrier. Integer functions wrap; division by zero
/// gives 0.
template <class T, int N>
struct Carrier<portable::SINTER_ISA::simd<T, N>> {
  using V = portable::SINTER_ISA::simd<T, N>;
  using Mask = portable::SINTER_ISA::simd_mask<T, N>;
  static constexpr bool is_integer = T(0.5) == T(0);

  static SINTER_FORCE_INLINE V lit(double c) { return V(T(c)); }
  static SINTER_FORCE_INLINE V select(Mask m, V a, V b) {
    return portable::SINTER_ISA::select(m, a, b);
  }

#define SINTER_FORWARD_1(name) \
  static SINTER_FORCE_INLINE V name(V x) { return portable::SINTER_ISA::name(x); }
#define SINTER_FORWARD_2(name) \
  static SINTER_FORCE_INLINE V name(V a, V b) { return portable::SINTER_ISA::name(a, b); }
#define SINTER_FORWARD_ROUND(name)          \
  static SINTER_FORCE_INLINE V name(V x) {  \
    if constexpr (is_integer) {             \
      return x;                             \
    } else {                                \
      return portable::SINTER_ISA::name(x); \
    }                                       \
  }
  SINTER_FORWARD_1(abs)
  SINTER_FORWARD_1(sqrt)
  SINTER_FORWARD_1(rsqrt)
  SINTER_FORWARD_1(exp)
  SINTER_FORWARD_1(exp2)
  SINTER_FORWARD_1(expm1)
  SINTER_FORWARD_1(log)
  SINTER_FORWARD_1(log2)
  SINTER_FORWARD_1(log10)
  SINTER_FORWARD_1(log1p)
  SINTER_FORWARD_1(sin)
  SINTER_FORWARD_1(cos)
  SINTER_FORWARD_1(tan)
  SINTER_FORWARD_1(asin)
  SINTER_FORWARD_1(acos)
  SINTER_FORWARD_1(atan)
  SINTER_FORWARD_1(sinh)
  SINTER_FORWARD_1(cosh)
  SINTER_FORWARD_1(tanh)
  SINTER_FORWARD_1(asinh)
  SINTER_FORWARD_1(acosh)
  SINTER_FORWARD_1(atanh)
  SINTER_FORWARD_1(erf)
  SINTER_FORWARD_ROUND(floor)
  SINTER_FORWARD_ROUND(ceil)
  SINTER_FORWARD_ROUND(trunc)
  SINTER_FORWARD_ROUND(round)
  SINTER_FORWARD_2(atan2)
  SINTER_FORWARD_2(hypot)
  SINTER_FORWARD_2(maximum)
  SINTER_FORWARD_2(minimum)
  SINTER_FORWARD_2(copysign)
#undef SINTER_FORWARD_1
#undef SINTER_FORWARD_2
#undef SINTER_FORWARD_ROUND

  static SINTER_FORCE_INLINE V fmod(V a, V b) {
    if constexpr (is_integer) {
      return each(
          a, b, [](T x, T y) { return y == 0 || (T(-1) < T(0) && y == T(-1)) ? T(0) : T(x % y); });
    } else {
      return portable::SINTER_ISA::fmod(a, b);
    }
  }
  static SINTER_FORCE_INLINE V quotient(V a, V b) {
    if constexpr (is_integer) {
      return each(a, b, [](T x, T y) {
        if (y == 0) {
          return T(0);
        }
        return T(-1) < T(0) && y == T(-1) ? T(-uint64_t(x)) : T(x / y);
      });
    } else {
      return a / b;
    }
  }
  static SINTER_FORCE_INLINE V pow(V a, V b) {
    if constexpr (is_integer) {
      return each(a, b, [](T x, T y) {
        uint64_t result = 1;
        uint64_t base = uint64_t(x);
        for (uint64_t e = y < T(0) ? 0 : uint64_t(y); e != 0; e >>= 1) {
          result *= (e & 1) != 0 ? base : 1;
          base *= base;
        }
        return T(result);
      });
    } else {
      return portable::SINTER_ISA::pow(a, b);
    }
  }
  static SINTER_FORCE_INLINE V bit_and(V a, V b) { return a & b; }
  static SINTER_FORCE_INLINE V bit_or(V a, V b) { return a | b; }
  static SINTER_FORCE_INLINE V bit_xor(V a, V b) { return a ^ b; }
  static SINTER_FORCE_INLINE V shift_left(V a, V b) {
    return each(a, b, [](T x, T y) {
      return uint64_t(y) < 8 * sizeof(T) ? T(uint64_t(x) << uint64_t(y)) : T(0);
    });
  }
  static SINTER_FORCE_INLINE V shift_right(V a, V b) {
    return each(a, b, [](T x, T y) {
      return uint64_t(y) < 8 * sizeof(T) ? T(x >> y) : (x < T(0) ? T(-1) : T(0));
    });
  }

 private:
  template <class F>
  static SINTER_FORCE_INLINE V each(V a, V b, F f) {
    V r;
    for (int i = 0; i < N; ++i) {
      r.v[i] = f(a.v[i], b.v[i]);
    }
    return r;
  }
};

}  // namespace sinter
