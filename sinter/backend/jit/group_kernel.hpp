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

  /// Places that units take: one for each vector of elements, or for each element of rows.
  [[nodiscard]] std::uint64_t places(const kernel::Properties& properties) const;
};

/// Whether a call can be part of a group: its formula can be recorded, and its one output has
/// `least` to `most` elements.
[[nodiscard]] bool joins_groups(const OpCall& call, std::int64_t least, std::int64_t most);

/// All outputs have one shape, and no dim is empty. On a device whose cube is a loop, inputs that
/// can't be walked in rows are replaced by dense copies; elsewhere each unit finds its own element,
/// and buffers are whole storages.
[[nodiscard]] GroupPlan plan_group(Group& group, const kernel::Properties& properties);

}  // namespace sinter::backend::jit
