// SPDX-License-Identifier: MIT OR Apache-2.0
// The LLVM plug-in, opened when the first kernel must be compiled.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "sinter/base/os/library.hpp"

namespace sinter::kernel {

/// Machine code that runs wherever it is mapped.
struct CompiledImage {
  std::string code;
  std::uint64_t entry = 0;    ///< offset of the kernel's function
  std::uint64_t scratch = 0;  ///< bytes of memory that each thread must bring

  /// As kept on disk.
  [[nodiscard]] std::string str() const;
  [[nodiscard]] static std::optional<CompiledImage> parse(std::string_view content);
};

/// What a compiled kernel depends on besides its text: compiler and processor.
[[nodiscard]] const std::string& compiler_key();

class LlvmPlugin {
 public:
  /// `path` empty: it is looked for when needed.
  explicit LlvmPlugin(std::string path) : path_(std::move(path)) {}

  /// Where the plug-in is: `wanted`, or the first found beside the program, in its ../lib and
  /// ../lib/sinter, or where this library was built; empty if there is none or `wanted` is "off".
  static std::string find(const std::string& wanted);

  /// Throws DeviceError when it isn't there or can't be opened.
  void open();
  /// Compiles the text of a kernel for this processor. Throws DeviceError when the plug-in isn't
  /// there, and CompileError.
  /// With `listing`, also what the compiler made of it.
  CompiledImage compile(std::string_view name, std::string_view text,
                        std::string* listing = nullptr);

 private:
  void open_locked();

  std::string path_;
  std::mutex mutex_;
  os::DynamicLibrary library_;
};

}  // namespace sinter::kernel
