// SPDX-License-Identifier: MIT OR Apache-2.0
// One number of any kind, kept exactly.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "sinter/types/dtype.hpp"

namespace sinter {

/// A number given by the caller, not yet of any dtype: it takes the dtype of the tensor it meets.
struct Scalar {
  Kind kind = Kind::floating;
  union {
    double floating = 0;
    std::int64_t integer;
  };

  constexpr Scalar() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      kind = Kind::boolean;
      integer = value;
    } else if constexpr (std::is_integral_v<T>) {
      kind = Kind::integer;
      integer = static_cast<std::int64_t>(value);
    } else {
      floating = static_cast<double>(value);
    }
  }
  Scalar(f16 value) : Scalar(static_cast<float>(value)) {}
  Scalar(bf16 value) : Scalar(static_cast<float>(value)) {}

  constexpr double as_double() const {
    return kind == Kind::floating ? floating : static_cast<double>(integer);
  }
  /// Truncated toward zero; saturates, and NaN gives 0.
  std::int64_t as_int64() const;
};

}  // namespace sinter
