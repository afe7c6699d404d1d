// SPDX-License-Identifier: MIT OR Apache-2.0
// The validate decorator: checks what another backend does.
#pragma once

#include <memory>

#include "sinter/graph/backend.hpp"

namespace sinter {

/// Checks every call on `inner`: inputs alive and on this device, outputs of the inferred shape and
/// dtype, no input's elements changed, and no NaN made from inputs without one. Violations throw
/// InternalError, a new NaN RuntimeError naming the op. Slow: it reads every tensor back.
std::unique_ptr<Backend> make_validate(Backend& inner);

}  // namespace sinter
