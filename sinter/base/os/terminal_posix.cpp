// SPDX-License-Identifier: MIT OR Apache-2.0
// Terminal facts on POSIX systems.
#ifndef _WIN32
#include <sys/ioctl.h>
#include <unistd.h>

#include "sinter/base/os/terminal.hpp"

namespace sinter::os {

namespace {
int descriptor(Stream stream) {
  return stream == Stream::standard_output ? STDOUT_FILENO : STDERR_FILENO;
}
}  // namespace

bool is_terminal(Stream stream) noexcept { return isatty(descriptor(stream)) == 1; }

int terminal_width(Stream stream, int fallback) noexcept {
  struct winsize size;
  if (ioctl(descriptor(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return fallback;
  }
  return size.ws_col;
}

}  // namespace sinter::os
#endif
