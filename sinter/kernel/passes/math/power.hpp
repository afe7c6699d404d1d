// SPDX-License-Identifier: MIT OR Apache-2.0
// Powers, lengths and the error function on f32 values, all within 2 ulp, without branches.
#pragma once

#include "sinter/kernel/passes/math/exponential.hpp"
#include "sinter/kernel/passes/math/logarithm.hpp"

namespace sinter::ir::math {

namespace detail {

/// log2 of a positive x to about 2^-34, as a pair: 2 / ln 2 atanh(s) with s = f / (2 + f).
inline Pair log2_pair(Val x) {
  const auto [n, f] = binade_of_any(x);
  const Val d = f + 2_k;
  const Val d_low = f - (d - 2_k);
  const Val inverse = 1_k / d;
  const Val s = f * inverse;
  const Val s_low = (fma(-s, d, f) - s * d_low) * inverse;
  const Pair square = exact_product(s, s);
  const Val z = square.high;
  const Val z_low = fma(s + s, s_low, square.low);
  // atanh(s) / s = 1 + z (1/3 + z q)
  const Val q = poly(z, {0.200000760316410338, 0.142735708447608094, 0.117092255955703561});
  const Pair c = quick_sum(like(x, 1.0 / 3), z * q);
  const Val c_low = c.low + lit(-9.93410775862457740e-9);
  const Pair w = exact_product(z, c.high);
  const Val w_low = fma(z, c_low, fma(z_low, c.high, w.low));
  const Pair p = quick_sum(like(x, 1), w.high);
  const Val p_low = p.low + w_low;
  const Pair t = exact_product(s, like(x, 2.8853900432586669921875));
  const Val t_low =
      fma(s, lit(3.85192606700002215e-8), fma(s_low, lit(2.8853900432586669921875), t.low));
  const Pair product = exact_product(t.high, p.high);
  const Pair sum = quick_sum(n, product.high);
  return {sum.high, sum.low + fma(t.high, p_low, fma(t_low, p.high, product.low))};
}

}  // namespace detail

/// x^y by C99's rules: pow(x, 0) = 1, pow(1, y) = 1, negative x with a whole y, signed zeros and
/// infinities.
inline Val pow(Val x, Val y) {
  const Val a = abs(x);
  const auto [log_high, log_low] = detail::log2_pair(a);
  const Val high = select(a == 0_k, lit(-infinity), select(a == lit(infinity), a, log_high));
  const Val product = y * high;
  const Val e = at_least(at_most(product, 160), -160);
  const Val e_low = select(e == product, fma(y, log_low, fma(y, high, -product)), 0_k);
  const Val whole = e + lit(rounder + 254);
  const Val f = (e - (whole - lit(rounder + 254))) + e_low;
  Val r = scale(detail::exp2_fraction(f), bits(whole));

  const Val is_whole = trunc(y) == y;
  const Val half = y * 0.5_k;
  const Val is_odd = is_whole & (trunc(half) != half);
  const Val sign = select(is_odd, bits(x) & lit(0x80000000), 0_k);
  r = real(bits(r) | sign);
  r = select((x < 0_k) & !is_whole & (a < lit(infinity)), lit(not_a_number), r);
  r = select((a == 1_k) & (abs(y) == lit(infinity)), 1_k, r);
  r = select(is_nan(x) | is_nan(y), lit(not_a_number), r);
  return select((y == 0_k) | (x == 1_k), 1_k, r);
}

/// sqrt(x² + y²) without overflow in between; an infinity wins over NaN.
inline Val hypot(Val x, Val y) {
  const Val a = abs(x);
  const Val b = abs(y);
  const Val large = select(a > b, a, b);
  const Val up = large < lit(0x1p-50);
  const Val down = large > lit(0x1p60);
  const Val by = select(up, lit(0x1p100), select(down, like(x, 0x1p-70), 1_k));
  const Val back = select(up, lit(0x1p-100), select(down, like(x, 0x1p70), 1_k));
  const Val u = a * by;
  const Val v = b * by;
  const Val r = sqrt(fma(u, u, v * v)) * back;
  return select((a == lit(infinity)) | (b == lit(infinity)), lit(infinity), r);
}

/// 1 / sqrt(x).
inline Val rsqrt(Val x) { return 1_k / sqrt(x); }

/// Error function. Near zero an odd polynomial; else 1 - q^4, where q is a polynomial for the
/// fourth root of erfc: no division and no exponential.
inline Val erf(Val x) {
  const Val a = abs(x);
  const Val z = a * a;
  const Val near = fma(a,
                       poly(z, {0.128379166126251221, -0.376126269294464381, 0.112835938620168654,
                                -0.0268541068616838366, 0.00518881392368876929,
                                -0.000801404816369737267, 0.0000786563002579141327}),
                       a);
  const Val q = poly(at_most(a, 3.95),
                     {1.00212061405181885, -0.293312132358551025, -0.0938754379749298096,
                      -0.0168811759960406921, 0.0433986925087420694, -0.0125723653041274776,
                      0.000729231430985335194, 0.000184791959672904232, -0.0000226970592059759373});
  const Val square = q * q;
  return copysign(select(a < 1_k, near, fma(-square, square, 1_k)), x);
}

}  // namespace sinter::ir::math
