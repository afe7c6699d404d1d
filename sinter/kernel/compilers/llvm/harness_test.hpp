// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels compiled by the plug-in, run, and held against checked mode.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sinter/base/os/library.hpp"
#include "sinter/base/os/memory.hpp"
#include "sinter/kernel/compilers/llvm/helpers.hpp"
#include "sinter/kernel/compilers/llvm/plugin.hpp"
#include "sinter/kernel/ir/interpret.hpp"
#include "sinter/kernel/ir/text.hpp"

namespace sinter::llvm {

/// The plug-in of this build; nothing where LLVM wasn't found.
struct Plugin {
  Compile* compile = nullptr;
  Release* release = nullptr;
  explicit operator bool() const { return compile != nullptr && release != nullptr; }
};

inline const Plugin& plugin() {
  static const Plugin opened = [] {
    Plugin result;
#ifdef SINTER_LLVM_PLUGIN
    const os::DynamicLibrary library = os::DynamicLibrary::open_file(SINTER_LLVM_PLUGIN);
    EXPECT_TRUE(library) << library.error();
    if (library) {
      result.compile = reinterpret_cast<Compile*>(library.symbol("sinter_llvm_compile"));
      result.release = reinterpret_cast<Release*>(library.symbol("sinter_llvm_release"));
      EXPECT_TRUE(result) << "the plug-in lacks a function";
    }
#endif
    return result;
  }();
  return opened;
}

#define SINTER_NEEDS_LLVM()                                      \
  if (!::sinter::llvm::plugin()) {                               \
    GTEST_SKIP() << "LLVM 19 was not found when this was built"; \
  }

/// What a compilation gave, copied.
struct Compiled {
  std::string message;  ///< empty if it went well
  std::string listing;
  std::vector<std::byte> image;
  std::uint64_t entry = 0;
  std::uint64_t scratch_bytes = 0;
};

inline Compiled compile(const std::string& text, Request request = {}) {
  request.text = text.data();
  request.text_bytes = text.size();
  Result result;
  const int status = plugin().compile(&request, &result);
  Compiled compiled;
  if (result.message != nullptr) {
    compiled.message = result.message;
  }
  if (result.listing != nullptr) {
    compiled.listing = result.listing;
  }
  if (status == 0) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(result.image);
    compiled.image.assign(bytes, bytes + result.image_bytes);
    compiled.entry = result.entry;
    compiled.scratch_bytes = result.scratch_bytes;
  } else if (compiled.message.empty()) {
    compiled.message = "no message";
  }
  plugin().release(&result);
  return compiled;
}

/// Compiled code in memory.
class Code {
 public:
  explicit Code(const Compiled& compiled)
      : memory_(compiled.image), entry_(compiled.entry), scratch_bytes_(compiled.scratch_bytes) {}

  void run(const Call& call, std::uint64_t first, std::uint64_t last) const {
    std::vector<std::byte> scratch(scratch_bytes_ + 64);
    const std::size_t skip = (0 - reinterpret_cast<std::uintptr_t>(scratch.data())) % 64;
    memory_.at<Function>(entry_)(&call, first, last, scratch.data() + skip);
  }

 private:
  os::ExecutableMemory memory_;
  std::uint64_t entry_;
  std::uint64_t scratch_bytes_;
};

/// Buffers of a launch, in bytes.
using Buffers = std::vector<std::vector<std::byte>>;

/// Buffers of a kernel's dtypes as interpret() and as compiled code take them.
struct Bound {
  std::vector<ir::BufferArg> args;
  std::vector<void*> starts;
  std::vector<std::uint64_t> lengths;

  Bound(const ir::Kernel& kernel, Buffers& buffers) {
    std::size_t next = 0;
    for (const ir::Memory& memory : kernel.memories) {
      if (memory.space == ir::Space::buffer) {
        std::vector<std::byte>& bytes = buffers.at(next++);
        args.push_back({bytes.data(), bytes.size() / size_of(memory.dtype)});
        starts.push_back(bytes.data());
        lengths.push_back(args.back().length);
      }
    }
  }
};

inline Call call_of(const Bound& bound, const std::vector<std::uint64_t>& scalars,
                    ir::Extent cubes) {
  return {.buffers = bound.starts.data(),
          .lengths = bound.lengths.data(),
          .scalars = scalars.data(),
          .helpers = helper_table(),
          .cubes = {cubes.x, cubes.y, cubes.z}};
}

/// Runs a kernel in checked mode on one copy of `buffers` and compiled on another; gives both.
struct BothResults {
  Buffers expected, got;
};
inline BothResults run_both(const ir::Kernel& kernel, const Buffers& buffers,
                            const std::vector<std::uint64_t>& scalars = {}, ir::Extent cubes = {}) {
  BothResults results{buffers, buffers};
  const Bound checked(kernel, results.expected);
  ir::interpret(kernel, {.cubes = cubes, .buffers = checked.args, .scalars = scalars, .plane = 1});
  const std::string text = ir::print(kernel);
  const Compiled compiled = compile(text);
  EXPECT_EQ(compiled.message, "") << text;
  if (compiled.message.empty()) {
    const Bound bound(kernel, results.got);
    Code(compiled).run(call_of(bound, scalars, cubes), 0,
                       std::uint64_t{cubes.x} * cubes.y * cubes.z);
  }
  return results;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <class T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace sinter::llvm
