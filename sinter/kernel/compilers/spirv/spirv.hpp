// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels as SPIR-V modules for Vulkan 1.2 and later.
#pragma once

#include <cstdint>
#include <vector>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::spirv {

/// What a device can do; a module uses nothing else.
struct Features {
  bool f64 = false;
  bool i64 = false;
  bool storage8 = false;   ///< elements of one byte in buffers; packed into words otherwise
  bool storage16 = false;  ///< elements of two bytes, likewise
  bool buffer_i64_atomics = false;
  bool shared_i64_atomics = false;
  bool buffer_f32_add = false;  ///< atomic; by compare-exchange otherwise
  bool shared_f32_add = false;
  bool plane_vote = false;
  bool plane_arithmetic = false;
  bool plane_shuffle = false;
  bool plane_i64 = false;
  bool exact_fma = false;  ///< the device's fma rounds once; computed in f64 otherwise, if there is
  bool exact_f64_fma = false;
  bool preserve_nan_f32 = false;  ///< NaN, infinities and the sign of zero can be asked for
  bool preserve_nan_f64 = false;
  bool denorm_preserve_f32 = false;
  bool denorm_preserve_f64 = false;
  bool round_to_even_f32 = false;
  bool round_to_even_f64 = false;
  std::uint32_t push_bytes = 128;  ///< push constants
};

/// The 32-bit words that a launch passes: push constants, or, where those don't suffice, a storage
/// buffer bound after the kernel's own. Numbers narrower than 64 bits take one word, as
/// ir::constant_bits gives them.
struct Parameters {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::uint32_t words = 0;
  bool in_buffer = false;
  std::uint32_t cube_count = none;     ///< place of three words
  std::vector<std::uint32_t> base;     ///< of each buffer: place of the first element, in elements
  std::vector<std::uint32_t> length;   ///< of each buffer: place of its length, if used
  std::vector<std::uint32_t> scalars;  ///< of each scalar
};
[[nodiscard]] Parameters parameters_of(const ir::Kernel& kernel, const Features& features);

/// Bytes of shared memory that the module of `kernel` takes: narrow elements take four bytes there.
[[nodiscard]] std::uint64_t shared_bytes_of(const ir::Kernel& kernel);

/// The module of a legal kernel, SPIR-V 1.5: an entry point `main`, storage buffers in set 0, bound
/// in the order of their declaration. A buffer of narrow elements may be read and written in whole
/// words. Results are those of docs/ir.md; `div` and `sqrt` of floats are as exact as the device's.
/// Throws CompileError naming instruction and line for what the device or Vulkan can't do.
[[nodiscard]] std::vector<std::uint32_t> compile(const ir::Kernel& kernel,
                                                 const Features& features);

}  // namespace sinter::spirv
