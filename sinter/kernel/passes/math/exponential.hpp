// SPDX-License-Identifier: MIT OR Apache-2.0
// e^x, 2^x and the hyperbolic functions, without branches.
//
// e^x = 2^n 2^f with x / ln 2 = n + f and |f| <= 1/2: a minimax polynomial for 2^f, and 2^n by its
// bits. Coefficients are by Remez' algorithm on the interval that each is used on.
#pragma once

#include "sinter/kernel/passes/math/parts.hpp"

namespace sinter::ir::math {

namespace detail {

/// 2^f for |f| <= 1/2.
inline Val exp2_fraction(Val f) {
  const Val p = poly(f,
                     {0.693147242069244385, 0.240226544682789467, 0.0555026187476977749,
                      0.00961745201697881418, 0.00134232056713655913, 0.000156585681804761074},
                     {0.6931471805599453, 0.24022650695910072, 0.055504108664821736,
                      0.009618129107628562, 0.0013333558146381658, 0.00015403530393171298,
                      1.5252733864922614e-05, 1.3215487003832833e-06, 1.0178047498488796e-07,
                      7.054814694870869e-09, 4.457244280172313e-10, 2.5855399377133783e-11});
  return fma(f, p, 1_k);
}

/// e^x = fraction * 2^n.
struct Exponent {
  Val fraction;  ///< between sqrt(1/2) and sqrt(2)
  Val whole;     ///< n + offset in the low bits
};

/// Of an x with at most 12 bits before the point.
inline Exponent exponent(Val x, double offset) {
  // 1 / ln 2 in two pieces.
  const double high = by(x, 1.44269502162933349609375, 1.4426950408889634);
  const double low = by(x, 1.92596303e-8, 2.0355273740931033e-17);
  const Rounded whole = round_product(x, high, offset);
  const Val f = fma(x, lit(low), fma(x, lit(high), -whole.n));
  return {exp2_fraction(f), whole.bits};
}

/// e^x / 2 for x >= 0, where only the double of it may be infinite.
inline Val half_exp(Val x) {
  const Exponent e = exponent(at_most(x, by(x, 91, 711)), 2 * format_of(x).bias);
  return scale(e.fraction, e.whole - 1_k);
}

/// (1 + p) x for p = c0 z + c1 z² + …: how odd functions are written.
inline Val odd(Val x, Val z, Val p) { return fma(x * z, p, x); }

}  // namespace detail

/// e^x.
inline Val exp(Val x) {
  const Val c = at_least(at_most(x, by(x, 89, 710)), by(x, -105, -746));
  const detail::Exponent e = detail::exponent(c, 2 * format_of(x).bias);
  return scale(e.fraction, e.whole);
}

/// 2^x.
inline Val exp2(Val x) {
  const Val c = at_least(at_most(x, by(x, 129, 1025)), by(x, -151, -1076));
  const Rounded whole = round_product(c, 1, 2 * format_of(x).bias);
  return scale(detail::exp2_fraction(c - whole.n), whole.bits);
}

/// e^x - 1, accurate near zero: x = n ln 2 + r, and a polynomial for (e^r - 1 - r) / r².
inline Val expm1(Val x) {
  const Val c = at_least(at_most(x, by(x, 89, 710)), by(x, -30, -60));
  const Rounded whole = round_product(c, 1.44269504088896340736, format_of(x).bias - 1);
  // ln 2 in two pieces, of which the first is short: n times it is exact.
  const Val near = fma(whole.n, lit(by(x, -0.693359375, -0.6931471805582987)), c);
  const Val r = fma(whole.n, lit(by(x, 2.12194440e-4, -1.6465949582897082e-12)), near);
  const Val factor = poly(
      r,
      {0.500000004396611964, 0.166666663472644227, 0.0416663610578763883, 0.00833339427385274911,
       0.00139406455425088235, 0.000198434870531241563},
      {0.5000000000000001, 0.1666666666666667, 0.041666666666652294, 0.008333333333326155,
       0.001388888889559632, 0.00019841269874760773, 2.4801574539209508e-05, 2.7557255467660514e-06,
       2.7567926711183543e-07, 2.5105191738543426e-08, 1.7687722934948858e-09});
  const Val p = fma(r * r, factor, r);
  const Val half = power_of_two(whole.bits);  // 2^(n - 1)
  const Val y = fma(half, p, half - 0.5_k);
  return select(whole.n == 0_k, select(x == 0_k, x, p), select(is_nan(x), x, y + y));
}

/// (e^x - e^-x) / 2: an odd polynomial below 1.
inline Val sinh(Val x) {
  const Val a = abs(x);
  const Val z = a * a;
  const Val p =
      poly(z,
           {0.166666664975747634, 0.00833335005732906609, 0.000198361598936926827,
            2.81695078373236226e-6},
           {0.16666666666666669, 0.008333333333333148, 0.00019841269841431875, 2.75573191570713e-06,
            2.5052123136816806e-08, 1.6057259761498308e-10, 7.758749014066416e-13});
  const Val half = detail::half_exp(a);
  return copysign(select(a < 1_k, detail::odd(a, z, p), half - 0.25_k / half), x);
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
  const Val p = poly(
      z,
      {-0.333332818724527329, 0.133314391953742037, -0.0537394639967929731, 0.0206383571555932917,
       -0.00570429514791606788},
      {-0.33333333333332854, 0.1333333333326212, -0.05396825393128004, 0.021869487576344056,
       -0.008863221005536069, 0.0035919891948552785, -0.0014549589758839274, 0.0005863168333351348,
       -0.00022856475640483853, 7.714494086405478e-05, -1.607283108756414e-05});
  const detail::Exponent e = detail::exponent(at_most(a + a, by(x, 20, 40)), format_of(x).bias);
  const Val far = 1_k - 2_k / fma(power_of_two(e.whole), e.fraction, 1_k);
  return copysign(select(a < 0.625_k, detail::odd(a, z, p), far), x);
}

}  // namespace sinter::ir::math
