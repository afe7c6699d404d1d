// SPDX-License-Identifier: MIT OR Apache-2.0
// The tool of passes that replace instructions: a kernel copied through a recorder.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "sinter/kernel/dsl/val.hpp"
#include "sinter/kernel/ir/ir.hpp"

namespace sinter::ir {

/// What stands in for an instruction; nothing leaves it as it is. `args` are its arguments in the
/// new kernel. A hook may record statements too: they land before whatever uses the result.
using Hook =
    std::function<std::optional<dsl::Val>(const Inst& inst, std::span<const dsl::Val> args)>;

/// `from` recorded again, with the hook's replacements; equal values become one and known ones are
/// folded on the way. A hook is asked about every instruction that is no region.
[[nodiscard]] Kernel rebuild(const Kernel& from, const Hook& hook);

}  // namespace sinter::ir
