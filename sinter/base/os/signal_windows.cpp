// SPDX-License-Identifier: MIT OR Apache-2.0
// The interrupt flag by a console control handler.
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <atomic>
#include <mutex>

#include "sinter/base/os/signal.hpp"

namespace sinter::os {

namespace {

std::atomic<bool> interrupted{false};
std::mutex guard_mutex;
int guard_count = 0;

BOOL WINAPI on_interrupt(DWORD kind) {
  if (kind != CTRL_C_EVENT && kind != CTRL_BREAK_EVENT) {
    return FALSE;
  }
  // FALSE passes the second event on to the default action.
  return interrupted.exchange(true) ? FALSE : TRUE;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  const std::lock_guard lock(guard_mutex);
  if (guard_count++ == 0) {
    interrupted = false;
    SetConsoleCtrlHandler(on_interrupt, TRUE);
  }
}

InterruptGuard::~InterruptGuard() {
  const std::lock_guard lock(guard_mutex);
  if (--guard_count == 0) {
    SetConsoleCtrlHandler(on_interrupt, FALSE);
  }
}

bool InterruptGuard::requested() const noexcept {
  return interrupted.load(std::memory_order_relaxed);
}

}  // namespace sinter::os
#endif
