// SPDX-License-Identifier: MIT OR Apache-2.0
// What an instruction computes: the one definition that folding and the checked mode share.
#pragma once

#include <optional>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::ir {

/// The result of a pure instruction on one lane, all values as constant_bits gives them. `from` is
/// the dtype of the arguments (of a and b for select), `to` that of the result. Floats narrower
/// than f64 are computed in f64 and rounded once; integers wrap; a division by zero gives 0.
/// Nothing for an instruction that isn't a function of its arguments' lanes.
[[nodiscard]] std::optional<std::uint64_t> evaluate(Op op, DType from, DType to,
                                                    const std::array<std::uint64_t, 3>& args);

}  // namespace sinter::ir
