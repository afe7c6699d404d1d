// SPDX-License-Identifier: MIT OR Apache-2.0
// Conversion of one number between element types, the same everywhere in Sinter.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/types/dtype.hpp"

namespace sinter {

/// Converts `value` to `To`. Float to integer truncates toward zero, saturates, and maps NaN to 0;
/// integer to integer wraps; anything to bool is `value != 0`; float to a narrower float rounds
/// once.
template <class To, class From>
constexpr To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    if constexpr (std::is_arithmetic_v<From>) {
      return value != From(0);
    } else {
      return static_cast<float>(value) != 0.0f;
    }
  } else if constexpr (!std::is_arithmetic_v<From>) {
    if constexpr (std::is_same_v<To, float> || std::is_same_v<To, double>) {
      return static_cast<To>(static_cast<float>(value));
    } else {
      return convert<To>(static_cast<float>(value));
    }
  } else if constexpr (!std::is_arithmetic_v<To>) {
    // Every integer reaches a half type through double: exact up to 2^53, then far beyond its
    // range.
    if constexpr (std::is_same_v<From, float>) {
      return To(value);
    } else {
      return To(static_cast<double>(value));
    }
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr To lowest = std::is_signed_v<To> ? To(To(1) << (8 * sizeof(To) - 1)) : To(0);
    constexpr To highest = static_cast<To>(~lowest);
    // 2^bits as From: exact, and the first value that does not fit.
    constexpr From limit =
        From(2) * static_cast<From>(std::uint64_t(1)
                                    << (8 * sizeof(To) - 1 - (std::is_signed_v<To> ? 1 : 0)));
    if (value != value) {
      return To(0);
    }
    if (value >= limit) {
      return highest;
    }
    if (value <= (std::is_signed_v<To> ? -limit : From(0))) {
      return lowest;
    }
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace sinter
