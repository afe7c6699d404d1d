// SPDX-License-Identifier: MIT OR Apache-2.0
// The portable backend's families, one line each.
#include "sinter/backend/portable/kernel_tables.hpp"

namespace sinter::backend::portable {

void set_kernels(KernelTable&) {}

}  // namespace sinter::backend::portable
