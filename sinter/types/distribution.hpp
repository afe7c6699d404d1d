// SPDX-License-Identifier: MIT OR Apache-2.0
// What random tensors are drawn from.
#pragma once

#include <cstdint>

namespace sinter {

/// `uniform`: [low, high). `normal`: mean and deviation. `bernoulli`: 1 with probability p.
/// `randint`: integers in [first, last).
enum class RandomKind : std::uint8_t { uniform, normal, bernoulli, randint };

/// What to draw from; made by the functions of the same names.
struct Distribution {
  RandomKind kind = RandomKind::uniform;
  double a = 0;  ///< low, mean or p
  double b = 1;  ///< high or deviation
  std::int64_t first = 0;
  std::int64_t last = 1;

  static constexpr Distribution uniform(double low = 0, double high = 1) {
    return {RandomKind::uniform, low, high, 0, 1};
  }
  static constexpr Distribution normal(double mean = 0, double deviation = 1) {
    return {RandomKind::normal, mean, deviation, 0, 1};
  }
  static constexpr Distribution bernoulli(double p = 0.5) {
    return {RandomKind::bernoulli, p, 0, 0, 1};
  }
  /// Whole numbers of [first, last).
  static constexpr Distribution randint(std::int64_t first, std::int64_t last) {
    return {RandomKind::randint, 0, 0, first, last};
  }
};

}  // namespace sinter
