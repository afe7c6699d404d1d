// SPDX-License-Identifier: MIT OR Apache-2.0
// Where each family of the portable backend sets its kernels.
#pragma once

#include "sinter/backend/host/host_backend.hpp"

namespace sinter::backend::portable {

// Each family sets its own kernels.
void set_elementwise(KernelTable& table);
void set_reduce(KernelTable& table);
void set_creation(KernelTable& table);
void set_matmul(KernelTable& table);
void set_conv(KernelTable& table);
void set_pool(KernelTable& table);
void set_softmax(KernelTable& table);
void set_norm(KernelTable& table);
void set_optim(KernelTable& table);
void set_index(KernelTable& table);
void set_join(KernelTable& table);
void set_random(KernelTable& table);
void set_scan(KernelTable& table);
void set_sort(KernelTable& table);

/// Sets the kernels of all families.
void set_kernels(KernelTable& table);

}  // namespace sinter::backend::portable
