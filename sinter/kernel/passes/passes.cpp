// SPDX-License-Identifier: MIT OR Apache-2.0
// The lists of passes.
#include "sinter/kernel/passes/passes.hpp"

#include "sinter/kernel/ir/verify.hpp"
#include "sinter/kernel/passes/lower_math.hpp"

namespace sinter::ir {

void run_passes(Kernel& kernel, std::span<const Pass> passes) {
  for (const Pass& pass : passes) {
    pass.run(kernel);
#ifndef NDEBUG
    require_valid(kernel, pass.name);
#endif
  }
}

namespace {
void lower_math_on_cpu(Kernel& kernel) { lower_math(kernel, MathTarget::cpu()); }
}  // namespace

std::span<const Pass> cpu_passes() {
  static constexpr Pass list[] = {
      {"lower_math", lower_math_on_cpu},      {"units_to_loops", units_to_loops},
      {"hoist_invariants", hoist_invariants}, {"merge_equal_values", merge_equal_values},
      {"drop_dead_code", drop_dead_code},
  };
  return list;
}

std::span<const Pass> device_passes() {
  static constexpr Pass list[] = {
      {"hoist_invariants", hoist_invariants},
      {"merge_equal_values", merge_equal_values},
      {"drop_dead_code", drop_dead_code},
      {"share_memories", share_memories},
  };
  return list;
}

}  // namespace sinter::ir
