// SPDX-License-Identifier: MIT OR Apache-2.0
// Clipping of gradients.
#pragma once

#include <optional>
#include <vector>

#include "sinter/nn/module.hpp"

namespace sinter::optim {

/// Both may be given: values are clipped first.
struct GradientClipping {
  /// Each element is held in [-value, value].
  std::optional<double> value = std::nullopt;
  /// All gradients together are scaled down to this Euclidean norm if theirs is larger. A norm of
  /// NaN or infinity is not hidden: it makes gradients NaN.
  std::optional<double> norm = std::nullopt;
};

/// Clips in place; empty gradients stay empty. ArgumentError for a negative or NaN limit. Returns
/// the global norm from before scaling (a scalar on the device), or an empty value if none was
/// asked for.
Value clip(std::vector<Value>& gradients, const GradientClipping& clipping);

/// Holds each element in [-limit, limit].
void clip_by_value(nn::ModuleGradients& gradients, double limit);
/// Scales all gradients together to a norm of at most `max_norm`; gives the norm from before.
double clip_by_global_norm(nn::ModuleGradients& gradients, double max_norm);

}  // namespace sinter::optim
