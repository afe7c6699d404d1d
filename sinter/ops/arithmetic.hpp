// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementwise arithmetic.
#pragma once

#include "sinter/ops/formula.hpp"

namespace sinter::ops {

struct Add : Binary {
  static constexpr OpInfo info{.name = "add", .tolerance = 0};
  static constexpr bool inline_gradient = true;
  template <class T>
  static T forward(T a, T b) {
    return a + b;
  }
  template <class T>
  static T grad_a(T, T, T, T g) {
    return g;
  }
  template <class T>
  static T grad_b(T, T, T, T g) {
    return g;
  }
};

struct Sub : Binary {
  static constexpr OpInfo info{.name = "sub", .tolerance = 0};
  static constexpr bool inline_gradient = true;
  template <class T>
  static T forward(T a, T b) {
    return a - b;
  }
  template <class T>
  static T grad_a(T, T, T, T g) {
    return g;
  }
  template <class T>
  static T grad_b(T, T, T, T g) {
    return -g;
  }
};

struct Mul : Binary {
  static constexpr OpInfo info{.name = "mul", .reads = Reads::ab, .tolerance = 0};
  static constexpr bool inline_gradient = true;
  template <class T>
  static T forward(T a, T b) {
    return a * b;
  }
  template <class T>
  static T grad_a(T, T b, T, T g) {
    return g * b;
  }
  template <class T>
  static T grad_b(T a, T, T, T g) {
    return g * a;
  }
};

/// Floats: a / b. Integers: truncated; by zero gives 0.
struct Div : Binary {
  static constexpr OpInfo info{.name = "div", .reads = Reads::by, .low = 0.5};
  template <class T>
  static T forward(T a, T b) {
    return math::quotient(a, b);
  }
  template <class T>
  static T grad_a(T, T b, T, T g) {
    return g / b;
  }
  template <class T>
  static T grad_b(T, T b, T y, T g) {
    return -(g * y) / b;
  }
};

/// Rounded toward minus infinity; keeps the dtype. Integers by zero give 0.
struct FloorDiv : Binary {
  static constexpr OpInfo info{.name = "floor_div"};
  template <class T>
  static T forward(T a, T b) {
    if constexpr (Carrier<T>::is_integer) {
      const T q = math::quotient(a, b);
      const T r = math::fmod(a, b);
      return select((r != lit<T>(0)) & ((r < lit<T>(0)) != (b < lit<T>(0))), q - lit<T>(1), q);
    } else {
      // The exact remainder first: a / b alone may round up to the next whole number.
      const T r = math::fmod(a, b);
      const T q = (a - r) / b;
      const T below =
          select((r != lit<T>(0)) & ((r < lit<T>(0)) != (b < lit<T>(0))), q - lit<T>(1), q);
      return select(b == lit<T>(0), a / b, math::round(below));
    }
  }
  template <class T>
  static T grad_a(T, T, T, T g) {
    return g * lit<T>(0);
  }
  template <class T>
  static T grad_b(T, T, T, T g) {
    return g * lit<T>(0);
  }
};

/// Has the sign of the divisor: a - floor(a / b) * b. Integers by zero give 0.
struct Remainder : Binary {
  static constexpr OpInfo info{.name = "remainder", .reads = Reads::ab};
  template <class T>
  static T forward(T a, T b) {
    const T r = math::fmod(a, b);
    return select((r != lit<T>(0)) & ((r < lit<T>(0)) != (b < lit<T>(0))), r + b, r);
  }
  template <class T>
  static T grad_a(T, T, T, T g) {
    return g;
  }
  template <class T>
  static T grad_b(T a, T b, T, T g) {
    return -(g * math::floor(a / b));
  }
};

/// Has the sign of the dividend: C's fmod. Integers by zero give 0.
struct Fmod : Binary {
  static constexpr OpInfo info{.name = "fmod", .reads = Reads::ab};
  template <class T>
  static T forward(T a, T b) {
    return math::fmod(a, b);
  }
  template <class T>
  static T grad_a(T, T, T, T g) {
    return g;
  }
  template <class T>
  static T grad_b(T a, T b, T, T g) {
    return -(g * math::trunc(a / b));
  }
};

/// NaN if either is NaN; at ties the gradient is shared equally.
struct Maximum : Binary {
  static constexpr OpInfo info{
      .name = "maximum", .domain = Domain::any, .reads = Reads::ab, .tolerance = 0};
  template <class T>
  static T forward(T a, T b) {
    return math::maximum(a, b);
  }
  template <class T>
  static T grad_a(T a, T b, T, T g) {
    return select(a > b, g, select(a == b, g * lit<T>(0.5), g * lit<T>(0)));
  }
  template <class T>
  static T grad_b(T a, T b, T, T g) {
    return select(b > a, g, select(a == b, g * lit<T>(0.5), g * lit<T>(0)));
  }
};

struct Minimum : Binary {
  static constexpr OpInfo info{
      .name = "minimum", .domain = Domain::any, .reads = Reads::ab, .tolerance = 0};
  template <class T>
  static T forward(T a, T b) {
    return math::minimum(a, b);
  }
  template <class T>
  static T grad_a(T a, T b, T, T g) {
    return select(a < b, g, select(a == b, g * lit<T>(0.5), g * lit<T>(0)));
  }
  template <class T>
  static T grad_b(T a, T b, T, T g) {
    return select(b < a, g, select(a == b, g * lit<T>(0.5), g * lit<T>(0)));
  }
};

struct Neg : Unary {
  static constexpr OpInfo info{.name = "neg", .tolerance = 0};
  static constexpr bool inline_gradient = true;
  template <class T>
  static T forward(T a) {
    return -a;
  }
  template <class T>
  static T backward(T, T, T g) {
    return -g;
  }
};

/// The gradient at 0 is 0. The lowest signed integer maps to itself.
struct Abs : Unary {
  static constexpr OpInfo info{.name = "abs", .reads = Reads::a, .tolerance = 0};
  template <class T>
  static T forward(T a) {
    return math::abs(a);
  }
  template <class T>
  static T backward(T a, T, T g) {
    return select(a < lit<T>(0), -g, select(a > lit<T>(0), g, g * a));
  }
};

/// -1, 0 or 1; NaN stays NaN.
struct Sign : Unary {
  static constexpr OpInfo info{.name = "sign", .tolerance = 0};
  template <class T>
  static T forward(T a) {
    return select(a > lit<T>(0), lit<T>(1), select(a < lit<T>(0), lit<T>(-1), a));
  }
  template <class T>
  static T backward(T, T, T g) {
    return g * lit<T>(0);
  }
};

struct Square : Unary {
  static constexpr OpInfo info{.name = "square", .reads = Reads::a, .tolerance = 0};
  template <class T>
  static T forward(T a) {
    return a * a;
  }
  template <class T>
  static T backward(T a, T, T g) {
    return g * (a + a);
  }
};

struct Recip : Unary {
  static constexpr OpInfo info{.name = "recip", .domain = Domain::floating, .reads = Reads::y};
  template <class T>
  static T forward(T a) {
    return lit<T>(1) / a;
  }
  template <class T>
  static T backward(T, T y, T g) {
    return -(g * y * y);
  }
};

// Rounding is flat between its steps: the gradient is 0 everywhere.
#define SINTER_ROUNDING(Struct, function)                            \
  struct Struct : Unary {                                            \
    static constexpr OpInfo info{.name = #function, .tolerance = 0}; \
    template <class T>                                               \
    static T forward(T a) {                                          \
      return math::function(a);                                      \
    }                                                                \
    template <class T>                                               \
    static T backward(T, T, T g) {                                   \
      return g * lit<T>(0);                                          \
    }                                                                \
  };
SINTER_ROUNDING(Floor, floor)
SINTER_ROUNDING(Ceil, ceil)
SINTER_ROUNDING(Trunc, trunc)
SINTER_ROUNDING(Round, round)
#undef SINTER_ROUNDING

/// `a` limited to [low, high]; NaN stays NaN. The gradient is 1 inside and on the limits.
struct Clamp : Unary {
  static constexpr OpInfo info{.name = "clamp", .reads = Reads::a, .tolerance = 0};
  double low = -1;
  double high = 1;
  template <class T>
  T forward(T a) const {
    return select(a < lit<T>(low), lit<T>(low), select(a > lit<T>(high), lit<T>(high), a));
  }
  template <class T>
  T backward(T a, T, T g) const {
    return select((a < lit<T>(low)) | (a > lit<T>(high)), lit<T>(0), g);
  }
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("low", self.low);
    visit("high", self.high);
  }
};

/// `b` where `a` holds, else `c`. The side not taken gets a gradient of exactly 0.
struct Where : Ternary {
  static constexpr OpInfo info{
      .name = "where", .domain = Domain::any, .reads = Reads::a, .tolerance = 0};
  template <class T>
  static T forward(T a, T b, T c) {
    return select(a != lit<T>(0), b, c);
  }
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

/// a + (b - a) * c.
struct Lerp : Ternary {
  static constexpr OpInfo info{.name = "lerp", .domain = Domain::floating, .reads = Reads::abc};
  template <class T>
  static T forward(T a, T b, T c) {
    return a + (b - a) * c;
  }
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

}  // namespace sinter::ops
