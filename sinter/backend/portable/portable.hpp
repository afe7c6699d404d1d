// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernels of the portable backend, for other backends in host memory.
#pragma once

#include "sinter/backend/host/host_backend.hpp"

namespace sinter::backend {

/// SIMD kernels; an op without one runs the reference's.
const KernelTable& portable_kernels();

}  // namespace sinter::backend
