// SPDX-License-Identifier: MIT OR Apache-2.0
// The stub backend, a template for new ones.
#pragma once

namespace sinter::backend {

/// Adds the stub to the registry. It reports no devices, so that it is never chosen by itself.
void register_stub();

}  // namespace sinter::backend
