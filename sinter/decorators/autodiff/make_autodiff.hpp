// SPDX-License-Identifier: MIT OR Apache-2.0
// Making the autodiff decorator, and its policy for memory.
#pragma once

#include <cstddef>
#include <memory>

#include "sinter/decorators/autodiff/options.hpp"
#include "sinter/graph/backend.hpp"

namespace sinter {

/// Reverse-mode differentiation over another backend. A node is owned by the values that need it: a
/// graph dies with its last value, there is no tape and no lock. Stack two for gradients of
/// gradients.
std::unique_ptr<Backend> make_autodiff(Backend& inner, AutodiffOptions options = {});

}  // namespace sinter
