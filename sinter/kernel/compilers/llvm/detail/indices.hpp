// SPDX-License-Identifier: MIT OR Apache-2.0
// Which arithmetic serves memory indices alone.
#pragma once

#include <vector>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::llvm {

/// For each instruction, whether it is an addition, product or shift of u32 that only indices come
/// of, and whose operands are made of positions, lengths, small constants and the like: not of
/// differences, of scalars or of what was loaded, which may stand for numbers below zero. Such an
/// index that wraps would lie outside of any memory that it is meant for, so it may be computed
/// with more bits.
std::vector<bool> never_wrapping(const ir::Kernel& kernel);

}  // namespace sinter::llvm
