// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels compiled by the plug-in, run, and held against checked mode.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sinter/base/half.hpp"
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
                            const std::vector<std::uint64_t>& scalars = {}, ir::Extent cubes = {},
                            const Request& request = {}) {
  BothResults results{buffers, buffers};
  const Bound checked(kernel, results.expected);
  ir::interpret(kernel, {.cubes = cubes, .buffers = checked.args, .scalars = scalars, .plane = 1});
  const std::string text = ir::print(kernel);
  const Compiled compiled = compile(text, request);
  EXPECT_EQ(compiled.message, "") << text;
  if (compiled.message.empty()) {
    const Bound bound(kernel, results.got);
    Code(compiled).run(call_of(bound, scalars, cubes), 0,
                       std::uint64_t{cubes.x} * cubes.y * cubes.z);
  }
  return results;
}

// ---- numbers in memory ----

/// A float of `dtype` as memory holds it.
inline std::uint64_t memory_bits(DType dtype, double value) {
  switch (dtype) {
    case DType::f64:
      return std::bit_cast<std::uint64_t>(value);
    case DType::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::f16:
      return f16(value).bits;
    default:
      return bf16(value).bits;
  }
}

inline double number_at(DType dtype, const std::byte* at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(dtype));
  switch (dtype) {
    case DType::f64:
      return std::bit_cast<double>(bits);
    case DType::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case DType::f16:
      return f16::from_bits(static_cast<std::uint16_t>(bits)).to_float();
    default:
      return bf16::from_bits(static_cast<std::uint16_t>(bits)).to_float();
  }
}

/// Adds an element to `bytes`; checked mode knows one NaN of f16 and bf16, and two truth values.
inline void put_element(std::vector<std::byte>& bytes, DType dtype, std::uint64_t bits) {
  if (dtype == DType::boolean) {
    bits &= 1;
  } else if (dtype == DType::f16 && f16::from_bits(static_cast<std::uint16_t>(bits)).is_nan()) {
    bits = F16Format::nan_code;
  } else if (dtype == DType::bf16 && bf16::from_bits(static_cast<std::uint16_t>(bits)).is_nan()) {
    bits = BF16Format::nan_code;
  }
  const auto raw = std::bit_cast<std::array<std::byte, 8>>(bits);
  bytes.insert(bytes.end(), raw.begin(), raw.begin() + size_of(dtype));
}

/// What first differs, if not two NaN; `slack` lets floats be off by that share of the value.
inline std::string difference(DType dtype, const std::vector<std::byte>& expected,
                              const std::vector<std::byte>& got, double slack = 0) {
  const std::size_t size = size_of(dtype);
  for (std::size_t i = 0; i < expected.size(); i += size) {
    if (std::memcmp(&expected[i], &got[i], size) == 0) {
      continue;
    }
    if (!is_floating(dtype)) {
      std::uint64_t a = 0, b = 0;
      std::memcpy(&a, &expected[i], size);
      std::memcpy(&b, &got[i], size);
      return fmt::format("element {}: expected {:#x}, got {:#x}", i / size, a, b);
    }
    const double a = number_at(dtype, &expected[i]);
    const double b = number_at(dtype, &got[i]);
    if (!(std::isnan(a) && std::isnan(b)) && !(std::abs(a - b) <= slack * std::abs(a))) {
      return fmt::format("element {}: expected {}, got {}", i / size, a, b);
    }
    if (slack == 0 && !std::isnan(a)) {
      return fmt::format("element {}: expected {}, got {} (other bits)", i / size, a, b);
    }
  }
  return {};
}

inline constexpr DType value_dtypes[] = {
    DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32,    DType::i16,
    DType::i8,  DType::u64, DType::u32, DType::u16,  DType::u8,  DType::boolean};

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
