// SPDX-License-Identifier: MIT OR Apache-2.0
// Powers, lengths and the error function, without branches.
#pragma once

#include "sinter/kernel/passes/math/exponential.hpp"
#include "sinter/kernel/passes/math/logarithm.hpp"

namespace sinter::ir::math {

namespace detail {

/// log2 of a positive x to 10 bits more than its type has, as a pair: 2 / ln 2 atanh(s) with s = f
/// / (2 + f).
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
  const Val q =
      poly(z, {0.200000760316410338, 0.142735708447608094, 0.117092255955703561},
           {0.20000000000001125, 0.14285714285051307, 0.1111111125969874, 0.09090892205822568,
            0.07693377672416006, 0.06628431280074726, 0.0659796277486425});
  const Pair c = quick_sum(like(x, 1.0 / 3), z * q);
  const Val c_low = c.low + lit(by(x, -9.93410775862457740e-9, 1.850371707708594e-17));
  const Pair w = exact_product(z, c.high);
  const Val w_low = fma(z, c_low, fma(z_low, c.high, w.low));
  const Pair p = quick_sum(like(x, 1), w.high);
  const Val p_low = p.low + w_low;
  const Val factor = like(x, by(x, 2.8853900432586669921875, 2.8853900817779268));  // 2 / ln 2
  const Val factor_low = lit(by(x, 3.85192606700002215e-8, 4.0710547481862066e-17));
  const Pair t = exact_product(s, factor);
  const Val t_low = fma(s, factor_low, fma(s_low, factor, t.low));
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
  const Val e = at_least(at_most(product, by(x, 160, 1100)), by(x, -160, -1100));
  const Val e_low = select(e == product, fma(y, log_low, fma(y, high, -product)), 0_k);
  const Rounded whole = round_product(e, 1, 2 * format_of(x).bias);
  Val r = scale(detail::exp2_fraction((e - whole.n) + e_low), whole.bits);

  const Val is_whole = trunc(y) == y;
  const Val half = y * 0.5_k;
  const Val is_odd = is_whole & (trunc(half) != half);
  const Val sign = select(is_odd, sign_of(x), 0_k);
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
  const Val up = large < lit(by(x, 0x1p-50, 0x1p-450));
  const Val down = large > lit(by(x, 0x1p60, 0x1p500));
  const double more = by(x, 0x1p100, 0x1p800);
  const double less = by(x, 0x1p-70, 0x1p-600);
  const Val factor = select(up, lit(more), select(down, like(x, less), 1_k));
  const Val back = select(up, lit(1 / more), select(down, like(x, 1 / less), 1_k));
  const Val u = a * factor;
  const Val v = b * factor;
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
  const Val p = poly(
      z,
      {0.128379166126251221, -0.376126269294464381, 0.112835938620168654, -0.0268541068616838366,
       0.00518881392368876929, -0.000801404816369737267, 0.0000786563002579141327},
      {0.12837916709551256, -0.3761263890318352, 0.11283791670944189, -0.02686617064311206,
       0.005223977606122957, -0.0008548325929514151, 0.0001205529358247007, -1.4924712402139167e-05,
       1.6447132730521055e-06, -1.6206322105112484e-07, 1.3711014389694684e-08,
       -7.77952829480024e-10});
  // The wide polynomial has many terms: by the distance from 3 they don't cancel each other.
  const Val t = at_most(a, by(x, 3.95, 5.95));
  const Val q = poly(format_of(x).bits == 64 ? t - 3_k : t,
                     {1.00212061405181885, -0.293312132358551025, -0.0938754379749298096,
                      -0.0168811759960406921, 0.0433986925087420694, -0.0125723653041274776,
                      0.000729231430985335194, 0.000184791959672904232, -0.0000226970592059759373},
                     {0.06855693161083348,     -0.10804150263715402,    0.06872437510598428,
                      -0.018989110228434573,   -0.0005697796331282406,  0.0018877336009162364,
                      -0.00041100403895171146, -4.3915475980357154e-05, 3.3306837007199006e-05,
                      -3.1986327944517497e-06, -1.141313503779105e-06,  2.9779476679214706e-07,
                      9.118776402195875e-09,   -1.2214981488110327e-08, 9.81919387904945e-10,
                      3.054630474691252e-10,   -6.04669736616019e-11,   -4.155892993871999e-12,
                      2.0765230770553567e-12,  4.127122947339037e-14,   -4.190784437414843e-14,
                      -2.586644074320592e-15});
  const Val square = q * q;
  return copysign(select(a < 1_k, fma(a, p, a), fma(-square, square, 1_k)), x);
}

}  // namespace sinter::ir::math
