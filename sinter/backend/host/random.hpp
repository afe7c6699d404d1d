// SPDX-License-Identifier: MIT OR Apache-2.0
// Uniform numbers in [low, high) that no rounding brings up to `high`.
#pragma once

#include <algorithm>

#include "sinter/ops/random/philox.hpp"
#include "sinter/ops/random/random.hpp"

namespace sinter::backend {

/// The largest number of `dtype` (f64, f32, f16 or bf16) below `high`.
double largest_below(double high, DType dtype);

/// How random bits become numbers of a range: in f64 for f64, in f32 for all others.
struct UniformRange {
  double low;
  double width;
  double last;  ///< the largest value

  UniformRange(const ops::Distribution& distribution, DType dtype)
      : low(distribution.a),
        width(distribution.b - distribution.a),
        last(largest_below(distribution.b, dtype)) {}

  float at(std::uint32_t bits) const {
    const float scaled = philox::unit(bits) * static_cast<float>(width);
    return std::min(static_cast<float>(low) + scaled, static_cast<float>(last));
  }
  double at(std::uint64_t bits) const {
    const double scaled = philox::unit(bits) * width;
    return std::min(low + scaled, last);
  }
};

}  // namespace sinter::backend
