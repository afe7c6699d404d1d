// SPDX-License-Identifier: MIT OR Apache-2.0
// Clocks by std::chrono, which is the same on every system.
#include "sinter/base/os/clock.hpp"

#include <chrono>
#include <thread>

namespace sinter::os {

double monotonic_seconds() noexcept { return 1e-9 * static_cast<double>(monotonic_nanoseconds()); }

std::int64_t monotonic_nanoseconds() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

double wall_seconds() noexcept {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

void sleep_seconds(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

}  // namespace sinter::os
