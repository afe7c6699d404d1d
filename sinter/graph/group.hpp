// SPDX-License-Identifier: MIT OR Apache-2.0
// Group: several calls that a backend may run as one.
#pragma once

#include <cstdint>
#include <vector>

#include "sinter/graph/op_call.hpp"

namespace sinter {

/// Calls in the order in which they were asked for, each with one output. Values are numbered: the
/// inputs, then the output of each call. What is not among the results never has to exist.
struct Group {
  struct Call {
    const OpDef* def = nullptr;
    const void* attributes = nullptr;
    SmallVector<std::uint32_t, 4> args;
    SourceLoc where;
  };
  /// Held by the group alone where nobody else needs them: their memory may then be reused.
  std::vector<Value> inputs;
  std::vector<Call> calls;
  std::vector<TensorSpec> specs;       ///< of each call's output
  std::vector<std::uint32_t> results;  ///< values wanted, each a call's output

  [[nodiscard]] std::uint32_t value_of(std::size_t call) const {
    return static_cast<std::uint32_t>(inputs.size() + call);
  }
};

/// Runs a group call by call on `backend`, and appends its results.
void execute_one_by_one(Backend& backend, Group& group, Outputs& outputs);

}  // namespace sinter
