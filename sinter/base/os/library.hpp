// SPDX-License-Identifier: MIT OR Apache-2.0
// Libraries opened while the program runs.
#pragma once

#include <string>

namespace sinter::os {

/// A shared library found at run time; never closed, since drivers don't survive that.
class DynamicLibrary {
 public:
  /// Opens the first of a space-separated list of names that exists; an empty handle if none does.
  static DynamicLibrary open(const std::string& names);
  /// Opens the library at `path`, which may hold spaces.
  static DynamicLibrary open_file(const std::string& path);

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The address of a symbol; nullptr if there is none.
  void* symbol(const char* name) const noexcept;
  /// Why `open` failed.
  const std::string& error() const noexcept { return error_; }

 private:
  void* handle_ = nullptr;
  std::string error_;
};

}  // namespace sinter::os
