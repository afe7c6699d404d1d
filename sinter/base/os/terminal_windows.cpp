// SPDX-License-Identifier: MIT OR Apache-2.0
// Terminal facts on Windows.
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include "sinter/base/os/terminal.hpp"

namespace sinter::os {

namespace {
HANDLE handle(Stream stream) {
  return GetStdHandle(stream == Stream::standard_output ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
}
}  // namespace

bool is_terminal(Stream stream) noexcept {
  DWORD mode = 0;
  return GetConsoleMode(handle(stream), &mode) != 0;
}

int terminal_width(Stream stream, int fallback) noexcept {
  CONSOLE_SCREEN_BUFFER_INFO info;
  if (!GetConsoleScreenBufferInfo(handle(stream), &info)) {
    return fallback;
  }
  return info.srWindow.Right - info.srWindow.Left + 1;
}

}  // namespace sinter::os
#endif
