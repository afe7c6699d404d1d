// SPDX-License-Identifier: MIT OR Apache-2.0
// What an op of the user's own says of its kernel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::kernel {

/// Filled by `static void kernel(const OpCall&, kernel::LaunchPlan&)` of an op struct, for each
/// call. The kernel's buffers are the call's inputs, dense, then its outputs; its scalars are those
/// given here, both in the order in which it declares them.
struct LaunchPlan {
  /// Records the kernel; called only when no kernel of this op, dtypes and `variant` is known yet.
  std::function<ir::Kernel()> record;
  /// What else tells one kernel of the op from another: tile sizes, powers, whatever `record`
  /// reads.
  std::string variant;
  ir::Extent cubes;
  std::vector<std::uint64_t> scalars;

  /// A number for the next scalar.
  void scalar(float value) { scalars.push_back(ir::constant_bits(DType::f32, double{value})); }
  void scalar(double value) { scalars.push_back(ir::constant_bits(DType::f64, value)); }
  void scalar(std::uint32_t value) { scalars.push_back(value); }
  void scalar(std::int64_t value) { scalars.push_back(ir::constant_bits(DType::i64, value)); }

  /// Enough cubes of `units` along x for one unit an element.
  void elements(std::int64_t count, std::uint32_t units) {
    cubes.x = static_cast<std::uint32_t>((count + units - 1) / units);
  }
};

}  // namespace sinter::kernel
