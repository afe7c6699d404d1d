// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementwise operations on the bits of integers.
#pragma once

#include "sinter/ops/formula.hpp"

namespace sinter::ops {

#define SINTER_BITWISE(Struct, text, function, lowest, highest)                                   \
  struct Struct : Binary {                                                                        \
    static constexpr OpInfo info{                                                                 \
        .name = text, .domain = Domain::integer, .low = lowest, .high = highest, .tolerance = 0}; \
    template <class T>                                                                            \
    static T forward(T a, T b) {                                                                  \
      return math::function(a, b);                                                                \
    }                                                                                             \
  };
SINTER_BITWISE(BitwiseAnd, "bitwise_and", bit_and, -100, 100)
SINTER_BITWISE(BitwiseOr, "bitwise_or", bit_or, -100, 100)
SINTER_BITWISE(BitwiseXor, "bitwise_xor", bit_xor, -100, 100)
SINTER_BITWISE(ShiftLeft, "bitwise_left_shift", shift_left, 0, 7)
SINTER_BITWISE(ShiftRight, "bitwise_right_shift", shift_right, 0, 7)
#undef SINTER_BITWISE

struct BitwiseNot : Unary {
  static constexpr OpInfo info{
      .name = "bitwise_not", .domain = Domain::integer, .low = -100, .high = 100, .tolerance = 0};
  template <class T>
  static T forward(T a) {
    return -a - lit<T>(1);
  }
};

}  // namespace sinter::ops
