// SPDX-License-Identifier: MIT OR Apache-2.0
// Text from files, made fit for messages.
#pragma once

#include <string>
#include <string_view>

namespace sinter::store {

/// The first 80 bytes: names in a hostile file may be huge.
inline std::string clip(std::string_view text) {
  constexpr std::size_t most = 80;
  std::string out(text.substr(0, most));
  if (text.size() > most) {
    out += "…";
  }
  return out;
}

}  // namespace sinter::store
