// SPDX-License-Identifier: MIT OR Apache-2.0
// Choice of the portable kernels' instruction set at run time.
#pragma once

#include <span>
#include <string_view>

#include "sinter/backend/portable/kernels/kernel_set.hpp"

namespace sinter::portable {

/// Tables that both this build and this processor support, best first; never empty.
[[nodiscard]] std::span<const KernelSet* const> kernel_sets();

/// The table named `isa` ("avx512", "avx2", "baseline", "generic"), or the best one if `isa` is
/// empty; null if the build or the processor lacks it.
[[nodiscard]] const KernelSet* find_kernel_set(std::string_view isa = {});

}  // namespace sinter::portable
