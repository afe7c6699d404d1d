// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementwise circular and hyperbolic functions; angles are in radians.
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
                                 .high = highest,                          \
                                 .tolerance = 4e-6};                       \
    template <class T>                                                     \
    static T forward(T a) {                                                \
      return math::function(a);                                            \
    }                                                                      \
    template <class T>                                                     \
    static T backward([[maybe_unused]] T a, [[maybe_unused]] T y, T g) {   \
      return gradient;                                                     \
    }                                                                      \
  };
SINTER_FUNCTION(Sin, sin, -3, 3, a, g* math::cos(a))
SINTER_FUNCTION(Cos, cos, -3, 3, a, -(g* math::sin(a)))
SINTER_FUNCTION(Tan, tan, -1.2, 1.2, y, g*(lit<T>(1) + y * y))
SINTER_FUNCTION(Asin, asin, -0.9, 0.9, a, g / math::sqrt(lit<T>(1) - a * a))
SINTER_FUNCTION(Acos, acos, -0.9, 0.9, a, -(g / math::sqrt(lit<T>(1) - a * a)))
SINTER_FUNCTION(Atan, atan, -3, 3, a, g / (lit<T>(1) + a * a))
SINTER_FUNCTION(Sinh, sinh, -3, 3, a, g* math::cosh(a))
SINTER_FUNCTION(Cosh, cosh, -3, 3, a, g* math::sinh(a))
SINTER_FUNCTION(Tanh, tanh, -3, 3, y, g*(lit<T>(1) - y * y))
SINTER_FUNCTION(Asinh, asinh, -3, 3, a, g / math::sqrt(a * a + lit<T>(1)))
SINTER_FUNCTION(Acosh, acosh, 1.2, 5, a, g / math::sqrt(a * a - lit<T>(1)))
SINTER_FUNCTION(Atanh, atanh, -0.9, 0.9, a, g / (lit<T>(1) - a * a))
#undef SINTER_FUNCTION

/// The angle of the point (x = b, y = a). At the origin both gradients are 0.
struct Atan2 : Binary {
  static constexpr OpInfo info{
      .name = "atan2", .domain = Domain::floating, .reads = Reads::ab, .tolerance = 4e-6};
  template <class T>
  static T forward(T a, T b) {
    return math::atan2(a, b);
  }
  template <class T>
  static T grad_a(T a, T b, T, T g) {
    const T square = a * a + b * b;
    return select(square == lit<T>(0), lit<T>(0), g * b / square);
  }
  template <class T>
  static T grad_b(T a, T b, T, T g) {
    const T square = a * a + b * b;
    return select(square == lit<T>(0), lit<T>(0), -(g * a) / square);
  }
};

}  // namespace sinter::ops
