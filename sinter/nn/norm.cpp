// SPDX-License-Identifier: MIT OR Apache-2.0
// Cores of normalisation layers.
#include "sinter/nn/norm.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/nn/linear.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/norm/norm.hpp"

namespace sinter::nn {
namespace {

ParamSpec filled_vector(std::string_view layer, std::int64_t size, double value) {
  if (size <= 0) {
    throw ArgumentError(
        fmt::format("{}: the number of features must be 1 or more, got {}", layer, size));
  }
  return {.shape = {size}, .initializer = Initializer::constant(value)};
}

Value value_or_empty(const ParamBase& param) { return param.empty() ? Value() : param.value(); }

void check_last(std::string_view layer, const Value& x, std::int64_t features) {
  if (x.rank() == 0 || x.size(-1) != features) {
    throw ShapeError(
        fmt::format("{}: expected an input [..., {}], got {}", layer, features, x.shape().str()));
  }
}

void check_sample_norm(std::string_view layer, const Value& x) {
  if (x.rank() < 3) {
    throw ShapeError(
        fmt::format("{}: expected an input [batch, channels, ...] of rank 3 or more, "
                    "got rank {} ({})",
                    layer, x.rank(), x.shape().str()));
  }
}

}  // namespace

BatchNorm::BatchNorm(const BatchNormConfig& config, const Device& device)
    : running_mean(filled_vector("BatchNorm", config.features, 0), device),
      running_var(filled_vector("BatchNorm", config.features, 1), device),
      num_batches_tracked({.initializer = Initializer::zeros(), .dtype = DType::i64}, device),
      eps(config.eps),
      momentum(config.momentum) {
  if (config.affine) {
    weight = Param<1>(filled_vector("BatchNorm", config.features, 1), device);
    bias = Param<1>(filled_vector("BatchNorm", config.features, 0), device);
  }
}

void BatchNorm::check(const Value& x) const {
  const std::int64_t features = running_mean.shape()[0];
  if (x.rank() < 2 || x.size(1) != features) {
    throw ShapeError(fmt::format("BatchNorm: expected an input [batch, {}, ...], got {}", features,
                                 x.shape().str()));
  }
}

Value BatchNorm::apply(const Value& x) const {
  check(x);
  return is_training(x)
             ? train(x)
             : ops::batch_norm_inference(x, running_mean.value(), running_var.value(),
                                         value_or_empty(weight), value_or_empty(bias), eps);
}

Value BatchNorm::train(const Value& x) const {
  Outputs outputs = ops::batch_norm(x, value_or_empty(weight), value_or_empty(bias), eps);
  const Value mean = autodiff::detach(outputs[1]);
  const Value variance = autodiff::detach(outputs[2]);
  const auto move_to = [&](const Tensor<1>& running, const Value& batch) {
    const Value target = ops::cast(batch, running.dtype());
    return Tensor<1>(
        ops::lerp(running.value(), target, ops::scalar_like(running.value(), momentum)));
  };
  running_mean.update([&](const Tensor<1>& running) { return move_to(running, mean); });
  const double count = static_cast<double>(x.num_elements() / x.size(1));
  const Value unbiased = ops::mul(variance, ops::scalar_like(variance, count / (count - 1)));
  running_var.update([&](const Tensor<1>& running) { return move_to(running, unbiased); });
  num_batches_tracked.update([](const Tensor<0, Int>& batches) { return batches + 1; });
  return outputs[0];
}

LayerNorm::LayerNorm(const LayerNormConfig& config, const Device& device)
    : weight(filled_vector("LayerNorm", config.features, 1), device), eps(config.eps) {
  if (config.bias) {
    bias = Param<1>(filled_vector("LayerNorm", config.features, 0), device);
  }
}

Value LayerNorm::apply(const Value& x) const {
  check_last("LayerNorm", x, weight.shape()[0]);
  return ops::layer_norm(x, 1, weight.value(), value_or_empty(bias), eps);
}

RmsNorm::RmsNorm(const RmsNormConfig& config, const Device& device)
    : weight(filled_vector("RmsNorm", config.features, 1), device), eps(config.eps) {}

Value RmsNorm::apply(const Value& x) const {
  check_last("RmsNorm", x, weight.shape()[0]);
  return ops::rms_norm(x, 1, weight.value(), eps);
}

GroupNorm::GroupNorm(const GroupNormConfig& config, const Device& device)
    : groups(config.groups), eps(config.eps) {
  const ParamSpec ones = filled_vector("GroupNorm", config.channels, 1);
  if (groups <= 0 || config.channels % groups != 0) {
    throw ArgumentError(fmt::format("GroupNorm: `groups` must divide `channels`, got {} and {}",
                                    groups, config.channels));
  }
  if (config.affine) {
    weight = Param<1>(ones, device);
    bias = Param<1>(filled_vector("GroupNorm", config.channels, 0), device);
  }
}

Value GroupNorm::apply(const Value& x) const {
  check_sample_norm("GroupNorm", x);
  return ops::group_norm(x, groups, value_or_empty(weight), value_or_empty(bias), eps);
}

InstanceNorm::InstanceNorm(const InstanceNormConfig& config, const Device& device)
    : eps(config.eps) {
  const ParamSpec ones = filled_vector("InstanceNorm", config.channels, 1);
  if (config.affine) {
    weight = Param<1>(ones, device);
    bias = Param<1>(filled_vector("InstanceNorm", config.channels, 0), device);
  }
}

Value InstanceNorm::apply(const Value& x) const {
  check_sample_norm("InstanceNorm", x);
  return ops::instance_norm(x, value_or_empty(weight), value_or_empty(bias), eps);
}

}  // namespace sinter::nn
