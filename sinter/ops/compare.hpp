// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementwise comparisons, logic and tests; all give bool.
#pragma once

#include "sinter/ops/formula.hpp"

namespace sinter::ops {

#define SINTER_COMPARISON(Struct, text, expression)                                    \
  struct Struct : Compare {                                                            \
    static constexpr OpInfo info{.name = text, .domain = Domain::any, .tolerance = 0}; \
    template <class T>                                                                 \
    static MaskOf<T> forward(T a, T b) {                                               \
      return expression;                                                               \
    }                                                                                  \
  };
SINTER_COMPARISON(Equal, "equal", a == b)
SINTER_COMPARISON(NotEqual, "not_equal", a != b)
SINTER_COMPARISON(Less, "less", a < b)
SINTER_COMPARISON(LessEqual, "less_equal", a <= b)
SINTER_COMPARISON(Greater, "greater", a > b)
SINTER_COMPARISON(GreaterEqual, "greater_equal", a >= b)
// Truth is `x != 0`: -0.0 is false, NaN is true.
SINTER_COMPARISON(LogicalAnd, "logical_and", (a != lit<T>(0)) & (b != lit<T>(0)))
SINTER_COMPARISON(LogicalOr, "logical_or", (a != lit<T>(0)) | (b != lit<T>(0)))
SINTER_COMPARISON(LogicalXor, "logical_xor", (a != lit<T>(0)) != (b != lit<T>(0)))
#undef SINTER_COMPARISON

struct LogicalNot : Test {
  static constexpr OpInfo info{.name = "logical_not", .domain = Domain::any, .tolerance = 0};
  template <class T>
  static MaskOf<T> forward(T a) {
    return a == lit<T>(0);
  }
};

struct IsNan : Test {
  static constexpr OpInfo info{.name = "is_nan", .domain = Domain::numeric, .tolerance = 0};
  template <class T>
  static MaskOf<T> forward(T a) {
    return a != a;
  }
};

// x - x is 0 for every finite x and NaN for infinities and NaN.
struct IsInf : Test {
  static constexpr OpInfo info{.name = "is_inf", .domain = Domain::numeric, .tolerance = 0};
  template <class T>
  static MaskOf<T> forward(T a) {
    const T rest = a - a;
    return (a == a) & (rest != rest);
  }
};

struct IsFinite : Test {
  static constexpr OpInfo info{.name = "is_finite", .domain = Domain::numeric, .tolerance = 0};
  template <class T>
  static MaskOf<T> forward(T a) {
    const T rest = a - a;
    return rest == rest;
  }
};

}  // namespace sinter::ops
