// SPDX-License-Identifier: MIT OR Apache-2.0
// What a fused kernel computes for each element: ops whose values never reach memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sinter/base/small_vector.hpp"
#include "sinter/graph/op_call.hpp"
#include "sinter/kernel/dsl/val.hpp"

namespace sinter::kernel {

/// Values are numbered: the inputs, then the result of each step.
struct Expression {
  struct Step {
    const OpDef* def = nullptr;
    const void* attributes = nullptr;
    SmallVector<std::uint16_t, 4> args;
    DType dtype = DType::f32;  ///< of the result
  };
  std::vector<DType> inputs;
  std::vector<Step> steps;
  std::vector<std::uint16_t> results;

  [[nodiscard]] DType dtype_of(std::uint16_t value) const {
    return value < inputs.size() ? inputs[value] : steps[value - inputs.size()].dtype;
  }
};

/// Whether a step of this op on these dtypes can be part of an expression: elementwise ops on
/// floats and truth values, and casts between all dtypes that kernels know.
[[nodiscard]] bool joins_expressions(const OpDef& def, std::span<const DType> inputs, DType result);

/// Records the steps; `inputs` as they were loaded, the results as they are stored. In between f16
/// and bf16 are f32.
[[nodiscard]] std::vector<dsl::Val> record_expression(const Expression& expression,
                                                      std::span<const dsl::Val> inputs);

/// The expression as text that is equal only for equal expressions.
[[nodiscard]] std::string to_key(const Expression& expression);

}  // namespace sinter::kernel
