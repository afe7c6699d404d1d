// SPDX-License-Identifier: MIT OR Apache-2.0
// Messages for the program that uses the library, which decides where they go.
#pragma once

#include <string_view>

namespace sinter::log {

enum class Level : int { off = 0, error, warning, info, debug, trace };

std::string_view level_name(Level level) noexcept;

/// Takes one message. It may be called from any thread, one call at a time, and must not log.
using Sink = void (*)(Level level, std::string_view message, void* user);

/// Sends messages up to `level` to `sink`; nullptr drops them, as at the start. The library itself
/// never prints.
void set_sink(Sink sink, Level level = Level::warning, void* user = nullptr);

/// Whether a message of this level would reach a sink. One relaxed load.
bool enabled(Level level) noexcept;

void write(Level level, std::string_view message);

/// Builds the message only if somebody listens: `log::lazy(Level::debug, [&] { return text; })`.
template <class Build>
void lazy(Level level, Build&& build) {
  if (enabled(level)) {
    write(level, build());
  }
}

}  // namespace sinter::log
