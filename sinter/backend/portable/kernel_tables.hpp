// SPDX-License-Identifier: MIT OR Apache-2.0
// Where each family of the portable backend sets its kernels.
#pragma once

#include "sinter/backend/host/host_backend.hpp"

namespace sinter::backend::portable {

/// Sets the kernels of all families.
void set_kernels(KernelTable& table);

}  // namespace sinter::backend::portable
