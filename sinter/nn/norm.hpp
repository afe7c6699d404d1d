// SPDX-License-Identifier: MIT OR Apache-2.0
// Normalisation layers.
#pragma once

#include "sinter/nn/param.hpp"

namespace sinter::nn {

struct BatchNormConfig {
  std::int64_t features = 0;  ///< channels
  double eps = 1e-5;
  double momentum = 0.1;  ///< share of the batch in the running statistics
  bool affine = true;     ///< with a trained weight and bias
};

/// Normalises each channel of [batch, features, ...] (any rank >= 2). In training by the batch's
/// mean and variance (divided by n), which also move the running ones (variance divided by n - 1);
/// otherwise by the running ones. ShapeError in training with one value per channel.
class BatchNorm {
 public:
  Param<1> weight;
  Param<1> bias;
  Buffer<1> running_mean;
  Buffer<1> running_var;
  Buffer<0, Int> num_batches_tracked;  ///< batches that moved the running statistics
  double eps = 1e-5;
  double momentum = 0.1;

  BatchNorm() = default;
  BatchNorm(const BatchNormConfig& config, const Device& device = {});

  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return Tensor<D, K>(apply(x.value()));
  }
  Value apply(const Value& x) const;

  SINTER_FIELDS(weight, bias, running_mean, running_var, num_batches_tracked, eps, momentum)

 private:
  void check(const Value& x) const;
  Value train(const Value& x) const;
};

struct LayerNormConfig {
  std::int64_t features = 0;  ///< size of the last dim
  double eps = 1e-5;
  bool bias = true;
};

/// (x - mean) / sqrt(var + eps) * weight + bias over the last dim.
class LayerNorm {
 public:
  Param<1> weight;
  Param<1> bias;
  double eps = 1e-5;

  LayerNorm() = default;
  LayerNorm(const LayerNormConfig& config, const Device& device = {});

  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return Tensor<D, K>(apply(x.value()));
  }
  Value apply(const Value& x) const;

  SINTER_FIELDS(weight, bias, eps)
};

struct RmsNormConfig {
  std::int64_t features = 0;
  double eps = 1e-5;
};

/// x / sqrt(mean(x^2) + eps) * weight over the last dim.
class RmsNorm {
 public:
  Param<1> weight;
  double eps = 1e-5;

  RmsNorm() = default;
  RmsNorm(const RmsNormConfig& config, const Device& device = {});

  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return Tensor<D, K>(apply(x.value()));
  }
  Value apply(const Value& x) const;

  SINTER_FIELDS(weight, eps)
};

struct GroupNormConfig {
  std::int64_t groups = 1;
  std::int64_t channels = 0;
  double eps = 1e-5;
  bool affine = true;
};

/// Normalises groups of channels of each sample of [batch, channels, ...], rank >= 3.
class GroupNorm {
 public:
  Param<1> weight;
  Param<1> bias;
  std::int64_t groups = 1;
  double eps = 1e-5;

  GroupNorm() = default;
  /// ArgumentError unless `groups` divides `channels`.
  GroupNorm(const GroupNormConfig& config, const Device& device = {});

  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return Tensor<D, K>(apply(x.value()));
  }
  /// ShapeError for rank < 3.
  Value apply(const Value& x) const;

  SINTER_FIELDS(weight, bias, groups, eps)
};

struct InstanceNormConfig {
  std::int64_t channels = 0;
  double eps = 1e-5;
  bool affine = true;
};

/// Normalises each channel of each sample.
class InstanceNorm {
 public:
  Param<1> weight;
  Param<1> bias;
  double eps = 1e-5;

  InstanceNorm() = default;
  InstanceNorm(const InstanceNormConfig& config, const Device& device = {});

  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return Tensor<D, K>(apply(x.value()));
  }
  Value apply(const Value& x) const;

  SINTER_FIELDS(weight, bias, eps)
};

}  // namespace sinter::nn
