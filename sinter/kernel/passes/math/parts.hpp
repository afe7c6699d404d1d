// SPDX-License-Identifier: MIT OR Apache-2.0
// Building blocks of the elementary functions: what formulas on kernel values are written with.
#pragma once

#include <initializer_list>
#include <limits>

#include "sinter/kernel/dsl/val.hpp"

namespace sinter::ir::math {

using dsl::Val;
using Coefficients = std::initializer_list<double>;

/// A constant of the type that it meets.
inline Val lit(double value) { return Val::literal(value); }
inline Val operator""_k(long double value) { return lit(static_cast<double>(value)); }
inline Val operator""_k(unsigned long long value) { return lit(static_cast<double>(value)); }

/// A constant of the type of x.
inline Val like(Val x, double value) { return Val::typed(x.type(), value); }

inline const double infinity = std::numeric_limits<double>::infinity();
inline const double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double ln2 = 0.693147180559945309417;
inline constexpr double log2_e = 1.44269504088896340736;

inline Val select(Val mask, Val a, Val b) { return dsl::choose(mask, a, b); }
inline Val fma(Val a, Val b, Val c) { return dsl::apply(Op::fma, {a, b, c}); }
inline Val abs(Val x) { return dsl::apply(Op::abs, {x}); }
inline Val sqrt(Val x) { return dsl::apply(Op::sqrt, {x}); }
inline Val trunc(Val x) { return dsl::apply(Op::trunc, {x}); }
inline Val is_nan(Val x) { return x != x; }

/// The bits of an f32 as u32 or i32, and back.
inline Val bits(Val x, DType as = DType::u32) { return dsl::reinterpret(x, as); }
inline Val real(Val x) { return dsl::reinterpret(x, DType::f32); }

/// The smaller of x and a bound; NaN stays.
inline Val at_most(Val x, double bound) { return select(x > lit(bound), lit(bound), x); }
inline Val at_least(Val x, double bound) { return select(x < lit(bound), lit(bound), x); }

/// The size of x with the sign of s, on f32 bits.
inline Val copysign(Val x, Val s) {
  return real((bits(x) & lit(0x7fffffff)) | (bits(s) & lit(0x80000000)));
}

/// c0 + c1 x + c2 x² + … by Horner's rule.
inline Val poly(Val x, Coefficients c) {
  const double* last = c.end() - 1;
  Val sum = lit(*last);
  while (last != c.begin()) {
    sum = fma(sum, x, lit(*--last));
  }
  return sum;
}

/// The sum of two numbers as high + low; exactly, if |a| >= |b| or a is 0.
struct Pair {
  Val high;
  Val low;
};
inline Pair quick_sum(Val a, Val b) {
  const Val high = a + b;
  return {high, (a - high) + b};
}
/// Exactly, whichever is larger.
inline Pair exact_sum(Val a, Val b) {
  const Val high = a + b;
  const Val from_b = high - a;
  return {high, (a - (high - from_b)) + (b - from_b)};
}
/// The product, exactly.
inline Pair exact_product(Val a, Val b) {
  const Val high = a * b;
  return {high, fma(a, b, -high)};
}

/// 1.5 * 2^23: an f32 of up to 2^22 added to it is rounded to a whole number, which the sum's low
/// bits hold.
inline constexpr double rounder = 12582912.0;

/// 2^n where n + bias is in the low bits of `sum`, a number near `rounder`; bias 127.
inline Val power_of_two(Val sum) { return real(bits(sum) << 23_k); }

/// p * 2^n where n + 254 is in the low bits of `whole`: in two steps, so that denormal and infinite
/// results come out right.
inline Val scale(Val p, Val whole) {
  const Val half = whole >> 1_k;
  return p * real(half << 23_k) * real((whole - half) << 23_k);
}

}  // namespace sinter::ir::math
