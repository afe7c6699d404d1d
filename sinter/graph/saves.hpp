// SPDX-License-Identifier: MIT OR Apache-2.0
// What a gradient reads.
#pragma once

#include <cstdint>

namespace sinter {

/// Which inputs and outputs a gradient reads, as bit masks. Nothing else is kept for it.
struct Saves {
  std::uint64_t inputs = 0;
  std::uint64_t outputs = 0;
};

}  // namespace sinter
