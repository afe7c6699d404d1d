// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementwise exponentials, logarithms, roots and powers.
#pragma once

#include "sinter/ops/formula.hpp"

namespace sinter::ops {

// (Struct, function, sample range, what the gradient reads, gradient of `a`)
#define SINTER_FUNCTION(Struct, function, lowest, highest, what, gradient) \
  struct Struct : Unary {                                                  \
    static constexpr OpInfo info{.name = #function,                        \
                                 .domain = Domain::floating,               \
                                 .reads = Reads::what,                     \
                                 .low = lowest,                            \
                                 .high = highest};                         \
    template <class T>                                                     \
    static T forward(T a) {                                                \
      return math::function(a);                                            \
    }                                                                      \
    template <class T>                                                     \
    static T backward([[maybe_unused]] T a, [[maybe_unused]] T y, T g) {   \
      return gradient;                                                     \
    }                                                                      \
  };
SINTER_FUNCTION(Exp, exp, -3, 3, y, g* y)
SINTER_FUNCTION(Exp2, exp2, -3, 3, y, g* y* lit<T>(0.693147180559945309417))
SINTER_FUNCTION(Expm1, expm1, -3, 3, y, g*(y + lit<T>(1)))
SINTER_FUNCTION(Log, log, 0.1, 5, a, g / a)
SINTER_FUNCTION(Log2, log2, 0.1, 5, a, g / (a * lit<T>(0.693147180559945309417)))
SINTER_FUNCTION(Log10, log10, 0.1, 5, a, g / (a * lit<T>(2.30258509299404568402)))
SINTER_FUNCTION(Log1p, log1p, -0.8, 5, a, g / (a + lit<T>(1)))
SINTER_FUNCTION(Sqrt, sqrt, 0.1, 5, y, g / (y + y))
SINTER_FUNCTION(Rsqrt, rsqrt, 0.1, 5, y, g* lit<T>(-0.5) * y * y * y)
SINTER_FUNCTION(Erf, erf, -3, 3, a, g* lit<T>(1.12837916709551257390) * math::exp(-(a * a)))
#undef SINTER_FUNCTION

/// C's pow for floats. Integers: a negative exponent is an ArgumentError where its value is known,
/// and counts as 0 elsewhere.
struct Pow : Binary {
  static constexpr OpInfo info{
      .name = "pow", .reads = Reads::aby, .low = 0.2, .high = 3, .tolerance = 4e-6};
  template <class T>
  static T forward(T a, T b) {
    return math::pow(a, b);
  }
  // At a = 0 with b = 0 the value is constant; there b * a^(b-1) would be 0 * inf.
  template <class T>
  static T grad_a(T a, T b, T, T g) {
    return select(b == lit<T>(0), lit<T>(0), g * b * math::pow(a, b - lit<T>(1)));
  }
  // At a = 0 the value doesn't change with b > 0, though log(0) is -inf.
  template <class T>
  static T grad_b(T a, T b, T y, T g) {
    return select((a == lit<T>(0)) & (b >= lit<T>(0)), lit<T>(0), g * y * math::log(a));
  }
};

struct Hypot : Binary {
  static constexpr OpInfo info{.name = "hypot", .domain = Domain::floating, .reads = Reads::aby};
  template <class T>
  static T forward(T a, T b) {
    return math::hypot(a, b);
  }
  template <class T>
  static T grad_a(T a, T, T y, T g) {
    return select(y == lit<T>(0), lit<T>(0), g * a / y);
  }
  template <class T>
  static T grad_b(T, T b, T y, T g) {
    return select(y == lit<T>(0), lit<T>(0), g * b / y);
  }
};

}  // namespace sinter::ops
