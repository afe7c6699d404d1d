// SPDX-License-Identifier: MIT OR Apache-2.0
// The formulas of elementwise ops, recorded into kernels.
#pragma once

#include "sinter/graph/op_call.hpp"
#include "sinter/kernel/dsl/val.hpp"

namespace sinter::kernel {

/// Records the formula of an op on floating values of one type (truth values come as 0 and 1);
/// a comparison gives truth values.
using Formula = dsl::Val (*)(const void* attributes, const dsl::Val* args);

/// Of a row made from `ops.def`, gradients included; null for ops of the user's own and for those
/// that aren't defined on floats.
[[nodiscard]] Formula formula_of(const OpDef& def);

}  // namespace sinter::kernel
