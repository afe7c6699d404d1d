// SPDX-License-Identifier: MIT OR Apache-2.0
// Where in the caller's source an operation was asked for.
#pragma once

#include <source_location>

namespace sinter {

using SourceLoc = std::source_location;

}  // namespace sinter
