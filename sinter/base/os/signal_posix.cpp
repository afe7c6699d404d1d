// SPDX-License-Identifier: MIT OR Apache-2.0
// The interrupt flag by sigaction.
#ifndef _WIN32
#include <signal.h>

#include <atomic>
#include <mutex>

#include "sinter/base/os/signal.hpp"

namespace sinter::os {

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

std::mutex guard_mutex;
int guard_count = 0;
struct sigaction previous;

extern "C" void on_interrupt(int) { interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

InterruptGuard::InterruptGuard() {
  const std::lock_guard lock(guard_mutex);
  if (guard_count++ == 0) {
    interrupted = false;
    struct sigaction action = {};
    action.sa_handler = on_interrupt;
    // SA_RESETHAND puts the default action back before the handler runs: the second one ends us.
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &previous);
  }
}

InterruptGuard::~InterruptGuard() {
  const std::lock_guard lock(guard_mutex);
  if (--guard_count == 0) {
    sigaction(SIGINT, &previous, nullptr);
  }
}

bool InterruptGuard::requested() const noexcept {
  return interrupted.load(std::memory_order_relaxed);
}

}  // namespace sinter::os
#endif
