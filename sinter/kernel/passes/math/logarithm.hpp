// SPDX-License-Identifier: MIT OR Apache-2.0
// Logarithms and the inverse hyperbolic functions on f32 values, all within 2 ulp, without
// branches.
//
// x = 2^n (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), and log(1 + f) = f + tail by a minimax
// polynomial. Where the argument of a logarithm is itself rounded, its low half comes along as
// log(u + c) = log(u) + c / u.
#pragma once

#include "sinter/kernel/passes/math/parts.hpp"

namespace sinter::ir::math {

namespace detail {

/// x = 2^n (1 + f).
struct Binade {
  Val n;
  Val f;
};

/// Of a positive normal x; what it gives for others, callers replace.
inline Binade binade(Val x) {
  const Val b = bits(x, DType::i32);
  const Val e = (b - lit(0x3f3504f3)) >> 23_k;
  return {dsl::convert(e, DType::f32), real(b - (e << 23_k)) - 1_k};
}
/// Of any positive x.
inline Binade binade_of_any(Val x) {
  const Val tiny = x < lit(0x1p-126);
  const Binade b = binade(select(tiny, x * lit(0x1p24), x));
  return {b.n - select(tiny, like(x, 24), 0_k), b.f};
}

/// log(1 + f) - f + extra.
inline Val log_tail(Val f, Val extra) {
  const Val p = poly(f, {0.333333125565443059, -0.250000096964598377, 0.20002123159999346,
                         -0.166679956053043688, 0.142194533082477854, -0.124055149332375103,
                         0.118888088014538251, -0.116763818065905197, 0.0674615223178644978});
  const Val f2 = f * f;
  return fma(lit(-0.5), f2, fma(f2 * f, p, extra));
}

/// n ln 2 + log(1 + f) + extra.
inline Val log_of(Binade b, Val extra) {
  const Val low = fma(b.n, lit(-2.12194440e-4), extra);
  return fma(b.n, lit(0.693359375), b.f + log_tail(b.f, low));
}

/// `y` where x > 0; what a logarithm gives elsewhere.
inline Val guard_log(Val x, Val y) {
  const Val outside = select(x == 0_k, like(x, -infinity), lit(not_a_number));
  return select(x > 0_k, select(x == lit(infinity), x, y), outside);
}

}  // namespace detail

/// Natural logarithm.
inline Val log(Val x) {
  return detail::guard_log(x, detail::log_of(detail::binade_of_any(x), 0_k));
}

/// Logarithm to base 2.
inline Val log2(Val x) {
  const auto [n, f] = detail::binade_of_any(x);
  const Val low = fma(detail::log_tail(f, 0_k), lit(log2_e), f * lit(1.92596299e-8));
  return detail::guard_log(x, fma(f, lit(1.44269502162933349609375), n) + low);
}

/// Logarithm to base 10.
inline Val log10(Val x) {
  const auto [n, f] = detail::binade_of_any(x);
  // 1 / ln 10 and log10(2), in two pieces each; the first of log10(2) is short, so that n times it
  // is exact.
  const Val low = fma(detail::log_tail(f, 0_k), lit(0.434294481903251828),
                      fma(f, lit(-1.01013604e-8), n * lit(4.60503854e-6)));
  const Val high = fma(f, lit(0.4342944920063018798828125), low);
  return detail::guard_log(x, fma(n, lit(0.301025390625), high));
}

/// log(1 + x), accurate near zero.
inline Val log1p(Val x) {
  const Val u = x + 1_k;
  const Val large = select(x > 1_k, x, 1_k);
  const Val small = select(x > 1_k, 1_k, x);
  const Val c = (small - (u - large)) / u;
  const Val y = select(u == 1_k, x, detail::log_of(detail::binade(u), c));
  const Val outside = select(x == lit(-1), like(x, -infinity), lit(not_a_number));
  return select(x > lit(-1), select(x == lit(infinity), x, y), outside);
}

namespace detail {

/// log(x + s) for s = sqrt(v + v_low), x + s >= 1; large is whichever of x and s is.
inline Val log_of_sum(Val a, Pair square, Val x, bool root_is_larger) {
  const Val s = sqrt(square.high);
  const Pair sum = root_is_larger ? quick_sum(s, x) : quick_sum(x, s);
  const Val rest = fma(-s, s, square.high) + square.low;  // of the root: rest / 2s
  const Val twice = s + s;
  // The constant is for s = 0, where the rest is 0 as well.
  const Val extra = fma(twice, sum.low, rest) / fma(twice, sum.high, lit(0x1p-126));
  const Val huge = a > lit(0x1p30);  // x + s is 2x there, and squares overflow beyond 2^64
  return log_of(binade(select(huge, a, sum.high)), select(huge, lit(ln2), extra));
}

}  // namespace detail

/// log(x + sqrt(x² + 1)).
inline Val asinh(Val x) {
  const Val a = abs(x);
  const Pair product = exact_product(a, a);
  const Pair square = exact_sum(product.high, 1_k);
  const Val far = detail::log_of_sum(a, {square.high, square.low + product.low}, a, true);
  const Val near = fma(a * product.high, lit(-1.0 / 6), a);
  return select(a < lit(infinity), copysign(select(a < lit(0x1p-6), near, far), x), x);
}

/// log(x + sqrt(x² - 1)); NaN below 1.
inline Val acosh(Val x) {
  const Pair product = exact_product(x, x);
  const Val high = fma(x, x, lit(-1));
  const Val low = ((product.high - 1_k) - high) + product.low;
  const Val y = detail::log_of_sum(x, {high, low}, x, false);
  return select(x >= 1_k, select(x == lit(infinity), x, y), lit(not_a_number));
}

/// log((1 + x) / (1 - x)) / 2: an odd polynomial below 1/2; NaN beyond 1.
inline Val atanh(Val x) {
  const Val a = abs(x);
  const Val z = a * a;
  const Val near = fma(a * z,
                       poly(z, {0.333333000716045034, 0.200025182741908756, 0.142227622344774234,
                                0.118237290697837692, 0.0513582722496857427, 0.176691145640772148}),
                       a);
  const Val far = 0.5_k * detail::log_of(detail::binade((1_k + a) / (1_k - a)), 0_k);
  const Val outside = select(a == 1_k, like(x, infinity), lit(not_a_number));
  return copysign(select(a < 1_k, select(a < 0.5_k, near, far), outside), x);
}

}  // namespace sinter::ir::math
