// SPDX-License-Identifier: MIT OR Apache-2.0
// Ctrl-C as a flag that a loop can poll.
#pragma once

namespace sinter::os {

/// While one exists, the first interrupt (Ctrl-C) only sets a flag; a second one takes the
/// system's default action, so a stuck program can still be ended. The handler of before returns
/// with the last guard. Guards may nest and share the flag.
///
///     InterruptGuard guard;
///     while (!guard.requested()) { step(); }
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  bool requested() const noexcept;
};

}  // namespace sinter::os
