// SPDX-License-Identifier: MIT OR Apache-2.0
// Text from files, made fit for messages.
#pragma once

#include <string>
#include <string_view>

namespace sinter::store {

/// The first 80 bytes: names in a hostile file may be huge.
inline std::string clip(std::string_view text) {
  constexpr std::size_t most = 80;
  return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "…";
}

}  // namespace sinter::store
