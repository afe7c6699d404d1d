// SPDX-License-Identifier: MIT OR Apache-2.0
// Logarithms and the inverse hyperbolic functions, without branches.
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
  const Val b = counted_bits(x);
  const Val root = lit(by(x, 0x3f3504f3, 0x3fe6a09e667f3bp8));  // bits of sqrt(1/2)
  const Val e = (b - root) >> lit(format_of(x).fraction);
  return {number(e), real(b - to_exponent(e)) - 1_k};
}
/// Of any positive x.
inline Binade binade_of_any(Val x) {
  const Val tiny = x < lit(by(x, 0x1p-126, 0x1p-1022));
  const double up = by(x, 24, 54);
  const Binade b = binade(select(tiny, x * lit(by(x, 0x1p24, 0x1p54)), x));
  return {b.n - select(tiny, like(x, up), 0_k), b.f};
}

/// log(1 + f) - f + extra.
inline Val log_tail(Val f, Val extra) {
  const Val p =
      poly(f,
           {0.333333125565443059, -0.250000096964598377, 0.20002123159999346, -0.166679956053043688,
            0.142194533082477854, -0.124055149332375103, 0.118888088014538251,
            -0.116763818065905197, 0.0674615223178644978},
           {0.3333333333333314, -0.24999999999987976, 0.2000000000006657, -0.16666666669825736,
            0.1428571428009821, -0.12499999691458029, 0.11111111147192082, -0.10000015205489315,
            0.09090923939799345, -0.08332913563230442, 0.07691529687359581, -0.07149439109732543,
            0.06684590349904829, -0.06196682793096118, 0.05668372268671594, -0.056777573663583436,
            0.0650349067113114, -0.05981774389051853, 0.026151558269335635});
  const Val f2 = f * f;
  return fma(lit(-0.5), f2, fma(f2 * f, p, extra));
}

/// n ln 2 + log(1 + f) + extra.
inline Val log_of(Binade b, Val extra) {
  const Val low = fma(b.n, lit(by(b.n, -2.12194440e-4, 1.6465949582897082e-12)), extra);
  const Val ln2 = lit(by(b.n, 0.693359375, 0.6931471805582987));
  return fma(b.n, ln2, b.f + log_tail(b.f, low));
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
  // 1 / ln 2 in two pieces.
  const Val first = lit(by(x, 1.44269502162933349609375, 1.4426950408889634));
  const Val second = lit(by(x, 1.92596303e-8, 2.0355273740931033e-17));
  const Val high = fma(f, first, n);
  const Val lost = fma(f, first, n - high);
  return detail::guard_log(x, high + (fma(detail::log_tail(f, 0_k), first, fma(f, second, lost))));
}

/// Logarithm to base 10.
inline Val log10(Val x) {
  const auto [n, f] = detail::binade_of_any(x);
  // 1 / ln 10 and log10(2) in two pieces each; the first of log10(2) is short, so that n times it
  // is exact.
  const Val first = lit(by(x, 0.4342944920063018798828125, 0.4342944819032518));
  const Val second = lit(by(x, -1.01030500e-8, 1.098319650216765e-17));
  const Val low = fma(n, lit(by(x, 4.605038981195214e-06, 1.7336659603752853e-12)), f * second);
  const Val mantissa = fma(f, first, fma(detail::log_tail(f, 0_k), first, low));
  return detail::guard_log(x, fma(n, lit(by(x, 0.301025390625, 0.30102999566224753)), mantissa));
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

/// log(x + s) for s² = square, where x + s >= 1; of a itself and twice it where a is huge.
inline Val log_of_sum(Val a, Pair square, Val x, bool root_is_larger) {
  const Val s = sqrt(square.high);
  const Pair sum = root_is_larger ? quick_sum(s, x) : quick_sum(x, s);
  const Val rest = fma(-s, s, square.high) + square.low;  // the root's own is rest / 2s
  const Val twice = s + s;
  // The constant is for s = 0, where the rest is 0 as well.
  const Val extra = fma(twice, sum.low, rest) / fma(twice, sum.high, lit(0x1p-126));
  const Val huge = a > lit(0x1p30);  // the sum is 2a there, and squares may overflow
  const Val ln2 = lit(0.693147180559945309417);
  return log_of(binade(select(huge, a, sum.high)), select(huge, ln2, extra));
}

}  // namespace detail

/// log(x + sqrt(x² + 1)).
inline Val asinh(Val x) {
  const Val a = abs(x);
  const Pair product = exact_product(a, a);
  const Pair square = exact_sum(product.high, 1_k);
  const Val far = detail::log_of_sum(a, {square.high, square.low + product.low}, a, true);
  const Val near = fma(a * product.high, lit(-1.0 / 6), a);
  const Val y = select(a < lit(by(x, 0x1p-6, 0x1p-14)), near, far);
  return select(a < lit(infinity), copysign(y, x), x);
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
  const Val p =
      poly(z,
           {0.333333000716045034, 0.200025182741908756, 0.142227622344774234, 0.118237290697837692,
            0.0513582722496857427, 0.176691145640772148},
           {0.3333333333333399, 0.19999999999795168, 0.14285714308030284, 0.11111109888796454,
            0.09090948481187339, 0.07691494819960469, 0.06677943673241497, 0.05774400844772259,
            0.059823828246405884, 0.014565468156428783, 0.14492642380580573, -0.1528926925931747,
            0.2247751602780553});
  const Val far = 0.5_k * detail::log_of(detail::binade((1_k + a) / (1_k - a)), 0_k);
  const Val outside = select(a == 1_k, like(x, infinity), lit(not_a_number));
  const Val inside = select(a < 0.5_k, fma(a * z, p, a), far);
  return copysign(select(a < 1_k, inside, outside), x);
}

}  // namespace sinter::ir::math
