// SPDX-License-Identifier: MIT OR Apache-2.0
// Clipping of gradients.
#include "sinter/optim/clip.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/optim/optim.hpp"

namespace sinter::optim {
namespace {

void check_limit(std::string_view name, double limit) {
  if (!(limit >= 0)) {
    throw ArgumentError(
        fmt::format("gradient clipping: `{}` must be 0 or more, got {}", name, limit));
  }
}

std::vector<Value> taken(nn::ModuleGradients& gradients) {
  std::vector<Value> values;
  for (auto& [name, gradient] : gradients.entries()) {
    values.push_back(std::move(gradient));
  }
  return values;
}

void give_back(nn::ModuleGradients& gradients, std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    gradients.entries()[i].second = std::move(values[i]);
  }
}

}  // namespace

Value clip(std::vector<Value>& gradients, const GradientClipping& clipping) {
  if (clipping.value) {
    check_limit("value", *clipping.value);
    for (Value& gradient : gradients) {
      if (gradient) {
        gradient = ops::clamp(gradient, -*clipping.value, *clipping.value);
      }
    }
  }
  if (!clipping.norm) {
    return {};
  }
  check_limit("norm", *clipping.norm);
  const bool any = std::any_of(gradients.begin(), gradients.end(),
                               [](const Value& gradient) { return static_cast<bool>(gradient); });
  return any ? ops::clip_global_norm(gradients, *clipping.norm) : Value();
}

void clip_by_value(nn::ModuleGradients& gradients, double limit) {
  std::vector<Value> values = taken(gradients);
  clip(values, {.value = limit});
  give_back(gradients, values);
}

double clip_by_global_norm(nn::ModuleGradients& gradients, double max_norm) {
  std::vector<Value> values = taken(gradients);
  const Value norm = clip(values, {.norm = max_norm});
  give_back(gradients, values);
  return norm ? norm.backend().read(norm).at(0) : 0;
}

}  // namespace sinter::optim
