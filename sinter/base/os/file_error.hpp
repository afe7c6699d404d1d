// SPDX-License-Identifier: MIT OR Apache-2.0
// How file functions report a failure of the system.
#pragma once

#include <string>
#include <system_error>

#include "sinter/base/error.hpp"

namespace sinter::os {

[[noreturn]] inline void raise_io(const char* doing, const std::string& path,
                                  const std::error_code& error) {
  throw IoError(std::string(doing) + " '" + path + "': " + error.message() + " (error " +
                std::to_string(error.value()) + ")");
}

[[noreturn]] inline void raise_too_large(const std::string& path, std::size_t limit) {
  throw IoError("read '" + path + "': the file holds more than the limit of " +
                std::to_string(limit) + " bytes");
}

/// A name beside `path` that no other process or thread uses.
std::string temporary_name(const std::string& path);

}  // namespace sinter::os
