// SPDX-License-Identifier: MIT OR Apache-2.0
// The sink of log messages.
#include "sinter/base/log.hpp"

#include <atomic>
#include <mutex>

namespace sinter::log {

namespace {

struct Target {
  std::mutex mutex;
  Sink sink = nullptr;
  void* user = nullptr;
};

// Leaked: a message from a static object's destructor still finds it.
Target& target() {
  static Target* const made = new Target();
  return *made;
}

constinit std::atomic<int> highest{0};

}  // namespace

std::string_view level_name(Level level) noexcept {
  constexpr std::string_view names[] = {"off", "error", "warning", "info", "debug", "trace"};
  return names[static_cast<int>(level)];
}

void set_sink(Sink sink, Level level, void* user) {
  Target& to = target();
  const std::lock_guard lock(to.mutex);
  to.sink = sink;
  to.user = user;
  highest.store(sink == nullptr ? 0 : static_cast<int>(level), std::memory_order_relaxed);
}

bool enabled(Level level) noexcept {
  return level != Level::off && static_cast<int>(level) <= highest.load(std::memory_order_relaxed);
}

void write(Level level, std::string_view message) {
  if (!enabled(level)) {
    return;
  }
  Target& to = target();
  const std::lock_guard lock(to.mutex);
  if (to.sink != nullptr) {
    to.sink(level, message, to.user);
  }
}

}  // namespace sinter::log
