// SPDX-License-Identifier: MIT OR Apache-2.0
// The checked mode: runs a kernel unit by unit, and says what it does wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::ir {

/// What a buffer of the kernel is bound to: `length` elements of the buffer's dtype.
struct BufferArg {
  std::byte* data = nullptr;
  std::uint64_t length = 0;
};

struct Launch {
  Extent cubes;
  std::span<const BufferArg> buffers;      ///< in the order of the kernel's buffers
  std::span<const std::uint64_t> scalars;  ///< as constant_bits gives them
  std::uint32_t plane = 8;                 ///< units of a plane
};

/// Runs a legal kernel, all units of a cube in lockstep, one cube after the other. Throws
/// IndexError for an access outside a memory and ArgumentError for a read of what nobody wrote, for
/// two units that touch one element of shared memory without a barrier between (at least one
/// writing), for a shuffle from a unit that isn't there, and for arguments that don't fit; each
/// names the kernel, the memory, the unit and the line that recorded the access.
void interpret(const Kernel& kernel, const Launch& launch);

}  // namespace sinter::ir
