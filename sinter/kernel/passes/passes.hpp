// SPDX-License-Identifier: MIT OR Apache-2.0
// The passes: each takes a legal kernel and leaves a legal one that does the same.
#pragma once

#include <span>
#include <string_view>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::ir {

/// One unit does the work of the cube: the text between two barriers becomes a loop over the units,
/// shared memory becomes local, a plane is one unit. For devices on which a cube is a loop.
void units_to_loops(Kernel& kernel);

/// Moves pure values out of loops that they don't depend on.
void hoist_invariants(Kernel& kernel);

/// Computes equal pure values once, where the first of them stands or further out.
void merge_equal_values(Kernel& kernel);

/// Drops values that nobody uses, and stores to locals that nobody reads.
void drop_dead_code(Kernel& kernel);

/// Gives shared memories of one dtype that are never alive together one place.
void share_memories(Kernel& kernel);

struct Pass {
  std::string_view name;
  void (*run)(Kernel& kernel);
};

/// Runs passes in order; in debug builds the verifier looks at the kernel after each.
void run_passes(Kernel& kernel, std::span<const Pass> passes);

/// What a kernel goes through before it is compiled for a processor, and for anything else.
[[nodiscard]] std::span<const Pass> cpu_passes();
[[nodiscard]] std::span<const Pass> device_passes();

}  // namespace sinter::ir
