// SPDX-License-Identifier: MIT OR Apache-2.0
// Clocks.
#pragma once

#include <cstdint>

namespace sinter::os {

/// Seconds since some fixed moment; never goes back.
double monotonic_seconds() noexcept;
std::int64_t monotonic_nanoseconds() noexcept;
/// Seconds since 1970-01-01 00:00 UTC.
double wall_seconds() noexcept;
void sleep_seconds(double seconds);

}  // namespace sinter::os
