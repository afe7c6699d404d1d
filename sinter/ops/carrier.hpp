// SPDX-License-Identifier: MIT OR Apache-2.0
// The vocabulary of formulas: what `template <class T> T forward(T x)` may use of its carrier `T`.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define SINTER_INLINE [[gnu::always_inline]] inline
#else
#define SINTER_INLINE inline
#endif

namespace sinter {

/// How a type carries a formula. A specialisation has `Mask` (what comparisons give), `is_integer`,
/// `lit(double)`, `select(mask, a, b)` and the functions of `math`. Carriers are double, int64 and
/// uint64 (the oracle), SIMD vectors (portable kernels) and tensors (gradients of gradients).
/// This header includes nothing, so that freestanding kernels can use it.
template <class T>
struct Carrier;

template <class T>
using MaskOf = typename Carrier<T>::Mask;

/// A constant of the carrier's type.
template <class T>
SINTER_INLINE T lit(double value) {
  return Carrier<T>::lit(value);
}

/// `a` where `mask` holds, else `b`; the side not taken never shows, not even as NaN.
template <class M, class T>
SINTER_INLINE T select(M mask, T a, T b) {
  return Carrier<T>::select(mask, a, b);
}

namespace math {

#define SINTER_MATH_1(name)     \
  template <class T>            \
  SINTER_INLINE T name(T x) {   \
    return Carrier<T>::name(x); \
  }
#define SINTER_MATH_2(name)        \
  template <class T>               \
  SINTER_INLINE T name(T a, T b) { \
    return Carrier<T>::name(a, b); \
  }

SINTER_MATH_1(abs)
SINTER_MATH_1(sqrt)
SINTER_MATH_1(rsqrt)
SINTER_MATH_1(exp)
SINTER_MATH_1(exp2)
SINTER_MATH_1(expm1)
SINTER_MATH_1(log)
SINTER_MATH_1(log2)
SINTER_MATH_1(log10)
SINTER_MATH_1(log1p)
SINTER_MATH_1(sin)
SINTER_MATH_1(cos)
SINTER_MATH_1(tan)
SINTER_MATH_1(asin)
SINTER_MATH_1(acos)
SINTER_MATH_1(atan)
SINTER_MATH_1(sinh)
SINTER_MATH_1(cosh)
SINTER_MATH_1(tanh)
SINTER_MATH_1(asinh)
SINTER_MATH_1(acosh)
SINTER_MATH_1(atanh)
SINTER_MATH_1(erf)
SINTER_MATH_1(floor)
SINTER_MATH_1(ceil)
SINTER_MATH_1(trunc)
SINTER_MATH_1(round)  // half to even
SINTER_MATH_2(pow)
SINTER_MATH_2(atan2)
SINTER_MATH_2(hypot)
SINTER_MATH_2(fmod)      // sign of the dividend; integers by zero give 0
SINTER_MATH_2(quotient)  // floats: a / b; integers: truncated, by zero gives 0
SINTER_MATH_2(maximum)   // NaN if either is NaN
SINTER_MATH_2(minimum)
SINTER_MATH_2(copysign)
SINTER_MATH_2(bit_and)  // integers only
SINTER_MATH_2(bit_or)
SINTER_MATH_2(bit_xor)
SINTER_MATH_2(shift_left)  // by the width or more gives 0 (or the sign), never undefined
SINTER_MATH_2(shift_right)

#undef SINTER_MATH_1
#undef SINTER_MATH_2

/// Truth of `x != x`, which holds for NaN alone.
template <class T>
SINTER_INLINE MaskOf<T> is_nan(T x) {
  return x != x;
}

}  // namespace math
}  // namespace sinter
