// SPDX-License-Identifier: MIT OR Apache-2.0
// Which kernels are legal.
#pragma once

#include <string>
#include <vector>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::ir {

/// Everything that is wrong with `kernel`, a sentence each with the line that recorded it: types,
/// scopes, memories, and instructions that all units must reach but may not. Empty for a legal one.
[[nodiscard]] std::vector<std::string> verify(const Kernel& kernel);

/// Throws InternalError with what verify() found and the kernel's text; `after` says who made it.
void require_valid(const Kernel& kernel, std::string_view after);

/// For each instruction, whether its value (or for a region: whether units enter it together) may
/// differ between the units of a cube.
[[nodiscard]] std::vector<bool> varying(const Kernel& kernel);

}  // namespace sinter::ir
