// SPDX-License-Identifier: MIT OR Apache-2.0
// What autodiff keeps for the backward pass, and what it computes again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter {

enum class Checkpointing : std::uint8_t {
  keep,      ///< everything a gradient reads is kept: fastest
  balanced,  ///< results of cheap ops (elementwise, views) are computed again from what they came
             ///< from
  budget,  ///< at most `AutodiffOptions::budget` bytes of results are kept, evenly spread over the
           ///< graph
};

/// Values computed again are bit for bit those of the first time: random ops carry their key.
struct AutodiffOptions {
  Checkpointing checkpointing = Checkpointing::keep;
  /// Bytes, for Checkpointing::budget: counted for each thread that records.
  std::size_t budget = 0;
  bool operator==(const AutodiffOptions&) const = default;
};

}  // namespace sinter
