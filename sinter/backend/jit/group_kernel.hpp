// SPDX-License-Identifier: MIT OR Apache-2.0
// Groups as elementwise kernels: how tensors of any layout are walked together.
#pragma once

#include <vector>

#include "sinter/backend/host/tensor.hpp"
#include "sinter/graph/group.hpp"
#include "sinter/kernel/library/elementwise.hpp"

namespace sinter::backend::jit {

/// A group over one shape, brought to the form that the kernel library takes.
struct GroupPlan {
  kernel::ElementwiseProblem problem;
  kernel::ElementwiseLaunch launch;
  std::vector<std::uint64_t> key;  ///< equal for equal problems
};

/// Replaces inputs that can't be walked in rows by dense copies. All outputs have one shape, and no
/// dim is empty.
[[nodiscard]] GroupPlan plan_group(Group& group);

}  // namespace sinter::backend::jit
