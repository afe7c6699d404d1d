// SPDX-License-Identifier: MIT OR Apache-2.0
// A user's program, built against the installed package.
#include <cstdio>
#include <string>

#include <sinter/base/error.hpp>

int main() {
  try {
    SINTER_ASSERT(1 + 1 == 3);
  } catch (const sinter::Error& error) {
    const std::string text = error.what();
    const bool named = text.find("1 + 1 == 3") != std::string::npos;
    std::printf("%s\n", named ? "errors name their condition" : text.c_str());
    return named ? 0 : 1;
  }
  return 1;
}
