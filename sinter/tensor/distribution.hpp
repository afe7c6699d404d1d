// SPDX-License-Identifier: MIT OR Apache-2.0
// What random tensors are drawn from.
#pragma once

#include <cstdint>

namespace sinter {

/// A distribution and its two parameters.
struct Distribution {
  enum class Kind : std::uint8_t { uniform, normal, bernoulli, integers };
  Kind kind = Kind::uniform;
  double a = 0;
  double b = 1;

  /// [low, high)
  static constexpr Distribution uniform(double low = 0, double high = 1) {
    return {Kind::uniform, low, high};
  }
  static constexpr Distribution normal(double mean = 0, double std = 1) {
    return {Kind::normal, mean, std};
  }
  /// 1 with probability `p`, else 0.
  static constexpr Distribution bernoulli(double p = 0.5) { return {Kind::bernoulli, p, 0}; }
  /// Whole numbers of [low, high).
  static constexpr Distribution integers(std::int64_t low, std::int64_t high) {
    return {Kind::integers, static_cast<double>(low), static_cast<double>(high)};
  }
};

}  // namespace sinter
