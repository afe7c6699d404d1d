// SPDX-License-Identifier: MIT OR Apache-2.0
// Choices that ops share with the tensors' public functions; light, so that both can include it.
#pragma once

#include <cstdint>

namespace sinter::ops {

/// How a written value meets the element that is there; `assign` keeps the last one.
enum class IndexUpdate : std::uint8_t { assign, add, mul, min, max };

/// What a border is filled with, for [1, 2, 3] padded by 2: `constant` [v, v, 1, 2, 3, v, v],
/// `reflect` [3, 2, 1, 2, 3, 2, 1], `replicate` [1, 1, 1, 2, 3, 3, 3], `symmetric`
/// [2, 1, 1, 2, 3, 3, 2], `circular` [2, 3, 1, 2, 3, 1, 2].
enum class PadMode : std::uint8_t { constant, reflect, replicate, symmetric, circular };

enum class Reduction : std::uint8_t { mean, sum, none };

enum class InterpolateMode : std::uint8_t {
  nearest,        ///< element floor(i * in / out)
  nearest_exact,  ///< element floor((i + 0.5) * in / out)
  linear,         ///< between two neighbours in each dim
};

}  // namespace sinter::ops
