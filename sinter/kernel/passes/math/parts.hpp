// SPDX-License-Identifier: MIT OR Apache-2.0
// Building blocks of the elementary functions: what formulas on f32 and f64 values are written
// with. Formulas are the same for both; where their constants differ, that of f32 comes first. All
// are within 2 ulp on f32 and 4 ulp on f64.
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

/// What is known of a floating type.
struct Format {
  DType real;
  DType whole;    ///< an integer of the same size
  DType counted;  ///< the same with a sign
  int bits;
  int fraction;    ///< bits of it
  int bias;        ///< of the exponent
  double sign;     ///< bit, as a number
  double rounder;  ///< see Rounded
};
inline constexpr Format single_format{DType::f32, DType::u32, DType::i32, 32,
                                      23,         127,        0x1p31,     12582912.0};
inline constexpr Format wide_format{DType::f64, DType::u64, DType::i64, 64,
                                    52,         1023,       0x1p63,     6755399441055744.0};

/// Of a float, or of an integer of its size.
inline const Format& format_of(Val x) {
  return size_of(x.type().dtype) == 8 ? wide_format : single_format;
}
/// The one or the other number, by the format of x.
inline double by(Val x, double single, double wide) {
  return format_of(x).bits == 64 ? wide : single;
}

/// Instructions that every device has. In a namespace of their own: what stands in `math` under the
/// name of an instruction is taken for its formula.
namespace device {
inline Val select(Val mask, Val a, Val b) { return dsl::choose(mask, a, b); }
inline Val fma(Val a, Val b, Val c) { return dsl::apply(Op::fma, {a, b, c}); }
inline Val abs(Val x) { return dsl::apply(Op::abs, {x}); }
inline Val sqrt(Val x) { return dsl::apply(Op::sqrt, {x}); }
inline Val trunc(Val x) { return dsl::apply(Op::trunc, {x}); }
}  // namespace device
using namespace device;

inline Val is_nan(Val x) { return x != x; }
/// The smaller of x and a bound; NaN stays.
inline Val at_most(Val x, double bound) { return select(x > lit(bound), lit(bound), x); }
inline Val at_least(Val x, double bound) { return select(x < lit(bound), lit(bound), x); }

/// The bits of a float as an integer of the same size, and back.
inline Val bits(Val x) { return dsl::reinterpret(x, format_of(x).whole); }
inline Val counted_bits(Val x) { return dsl::reinterpret(x, format_of(x).counted); }
inline Val real(Val x) { return dsl::reinterpret(x, format_of(x).real); }
/// An integer as a number.
inline Val number(Val x) { return dsl::convert(x, format_of(x).real); }
/// The sign bit of x, where it is in x.
inline Val sign_of(Val x) { return bits(x) & lit(format_of(x).sign); }
inline Val magnitude_of(Val x) { return bits(x) & ~like(bits(x), format_of(x).sign); }
inline Val to_exponent(Val whole) { return whole << lit(format_of(whole).fraction); }

/// The size of x with the sign of s.
inline Val copysign(Val x, Val s) { return real(magnitude_of(x) | sign_of(s)); }

/// c0 + c1 x + c2 x² + … by Horner's rule.
inline Val poly(Val x, Coefficients single, Coefficients wide) {
  const Coefficients c = format_of(x).bits == 64 ? wide : single;
  const double* last = c.end() - 1;
  Val sum = lit(*last);
  while (last != c.begin()) {
    sum = fma(sum, x, lit(*--last));
  }
  return sum;
}

/// A number as high + low, for twice the precision.
struct Pair {
  Val high;
  Val low;
};
/// The sum, exactly if |a| >= |b| or a is 0.
inline Pair quick_sum(Val a, Val b) {
  const Val high = a + b;
  return {high, (a - high) + b};
}
/// The sum, exactly.
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

/// A number rounded to a whole one, and the bits of that plus an offset: adding 1.5 * 2^23 (2^52)
/// rounds a small number, and the low bits of the sum hold it.
struct Rounded {
  Val n;
  Val bits;
};
/// Rounds x * factor.
inline Rounded round_product(Val x, double factor, double offset) {
  const double rounder = format_of(x).rounder + offset;
  const Val sum = factor == 1 ? x + lit(rounder) : fma(x, lit(factor), lit(rounder));
  return {sum - lit(rounder), bits(sum)};
}

/// 2^n for n + bias in the low bits of `whole`.
inline Val power_of_two(Val whole) { return real(to_exponent(whole)); }

/// p * 2^n for n + 2 bias in the low bits of `whole`: in two steps, so that denormal and infinite
/// results come out right.
inline Val scale(Val p, Val whole) {
  const Val half = whole >> 1_k;
  return p * power_of_two(half) * power_of_two(whole - half);
}

}  // namespace sinter::ir::math
