// SPDX-License-Identifier: MIT OR Apache-2.0
// e^x, 2^x and the hyperbolic functions on f32 values, all within 2 ulp, without branches.
//
// x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite), a minimax polynomial for e^r, and 2^n by
// its bits. Coefficients are by Remez' algorithm on the interval that each is used on.
#pragma once

#include "sinter/kernel/passes/math/parts.hpp"

namespace sinter::ir::math {

namespace detail {

/// e^x as (1 + p) 2^n.
struct Exponent {
  Val n;
  Val whole;  ///< n + bias in the low bits
  Val p;
};

/// Reduces |x| < 2^15 and gives e^r - 1 by the polynomial r + r² (c0 + c1 r + …).
inline Exponent reduce_exp(Val x, double bias, Coefficients c) {
  const Val whole = fma(x, lit(log2_e), lit(rounder + bias));
  const Val n = whole - lit(rounder + bias);
  const Val r = fma(n, lit(2.12194440e-4), fma(n, lit(-0.693359375), x));
  return {n, whole, fma(r * r, poly(r, c), r)};
}

inline Exponent reduce_exp(Val x, double bias) {
  return reduce_exp(x, bias,
                    {0.499999935262077971, 0.166665203462132389, 0.0416683483191370659,
                     0.00836875474575416137, 0.00138174847270795706});
}

/// e^x / 2 for x >= 0, where only the double of it may be infinite.
inline Val half_exp(Val x) {
  const Exponent e = reduce_exp(at_most(x, 91), 254);
  return scale(e.p + 1_k, bits(e.whole) - 1_k);
}

/// 2^f for |f| <= 1/2.
inline Val exp2_fraction(Val f) {
  const Val p = poly(f, {0.693147242069244385, 0.240226544682789467, 0.0555026187476977749,
                         0.00961745201697881418, 0.00134232056713655913, 0.000156585681804761074});
  return fma(f, p, 1_k);
}

}  // namespace detail

/// e^x.
inline Val exp(Val x) {
  const detail::Exponent e = detail::reduce_exp(at_least(at_most(x, 89), -105), 254);
  return scale(e.p + 1_k, bits(e.whole));
}

/// 2^x.
inline Val exp2(Val x) {
  const Val c = at_least(at_most(x, 129), -151);
  const Val whole = c + lit(rounder + 254);
  return scale(detail::exp2_fraction(c - (whole - lit(rounder + 254))), bits(whole));
}

/// e^x - 1, accurate near zero.
inline Val expm1(Val x) {
  const auto [n, whole, p] =
      detail::reduce_exp(at_least(at_most(x, 89), -30), 126,
                         {0.500000004396611964, 0.166666663472644227, 0.0416663610578763883,
                          0.00833339427385274911, 0.00139406455425088235, 0.000198434870531241563});
  const Val half = power_of_two(whole);  // 2^(n - 1)
  const Val y = fma(half, p, half - 0.5_k);
  return select(n == 0_k, select(x == 0_k, x, p), select(is_nan(x), x, y + y));
}

/// (e^x - e^-x) / 2: an odd polynomial below 1.
inline Val sinh(Val x) {
  const Val a = abs(x);
  const Val z = a * a;
  const Val near = fma(a * z,
                       poly(z, {0.166666664975747634, 0.00833335005732906609,
                                0.000198361598936926827, 2.81695078373236226e-6}),
                       a);
  const Val half = detail::half_exp(a);
  return copysign(select(a < 1_k, near, half - 0.25_k / half), x);
}

/// (e^x + e^-x) / 2.
inline Val cosh(Val x) {
  const Val half = detail::half_exp(abs(x));
  return half + 0.25_k / half;
}

/// 1 - 2 / (e^2x + 1): an odd polynomial below 5/8.
inline Val tanh(Val x) {
  const Val a = abs(x);
  const Val z = a * a;
  const Val near = fma(a * z,
                       poly(z, {-0.333332818724527329, 0.133314391953742037, -0.0537394639967929731,
                                0.0206383571555932917, -0.00570429514791606788}),
                       a);
  const detail::Exponent e = detail::reduce_exp(at_most(a + a, 20), 127);
  const Val power = power_of_two(e.whole);
  const Val far = 1_k - 2_k / fma(power, e.p, power + 1_k);
  return copysign(select(a < 0.625_k, near, far), x);
}

}  // namespace sinter::ir::math
