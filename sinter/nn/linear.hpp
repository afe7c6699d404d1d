// SPDX-License-Identifier: MIT OR Apache-2.0
// Linear, embedding and dropout layers.
#pragma once

#include "sinter/nn/param.hpp"

namespace sinter::nn {

/// How a Linear keeps its weight: [in, out] or [out, in]. Records hold it as [out, in] in both
/// cases, as PyTorch's do.
enum class LinearLayout : std::uint8_t { row, column };

struct LinearConfig {
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool bias = true;
  Initializer init = Initializer::fan_in_uniform();
  LinearLayout layout = LinearLayout::row;
};

/// y = x W + b: [..., in] -> [..., out], with W [in, out] ([out, in] in column layout).
class Linear {
 public:
  Param<2> weight;
  Param<1> bias;  ///< empty without bias
  LinearLayout layout = LinearLayout::row;

  Linear() = default;
  /// ArgumentError unless `in` and `out` are positive.
  Linear(const LinearConfig& config, const Device& device = {});

  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return Tensor<D, K>(apply(x.value()));
  }
  Value apply(const Value& x) const;

  SINTER_FIELDS(weight, bias)
};

struct EmbeddingConfig {
  std::int64_t n_embedding = 0;
  std::int64_t d_model = 0;
  Initializer init = Initializer::normal();
};

/// Rows of a table: integers [...] -> [..., d_model].
class Embedding {
 public:
  Param<2> weight;  ///< [n_embedding, d_model]

  Embedding() = default;
  /// ArgumentError unless both sizes are positive.
  Embedding(const EmbeddingConfig& config, const Device& device = {});

  template <int D>
  Tensor<D + 1> forward(const Tensor<D, Int>& indices) const {
    return Tensor<D + 1>(apply(indices.value()));
  }
  DynTensor forward(const DynTensor& indices) const { return DynTensor(apply(indices.value())); }
  Value apply(const Value& indices) const;

  SINTER_FIELDS(weight)
};

struct DropoutConfig {
  double prob = 0.5;
};

/// Zeroes elements with probability `prob` and scales the others by 1 / (1 - prob), where the
/// input's device has autodiff; elsewhere it does nothing.
struct Dropout {
  DropoutConfig config;

  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return Tensor<D, K>(apply(x.value()));
  }
  /// ArgumentError unless 0 <= prob <= 1.
  Value apply(const Value& x) const;
};

struct GaussianNoiseConfig {
  double std = 0.1;
};

/// Adds normal noise in training.
struct GaussianNoise {
  GaussianNoiseConfig config;

  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return Tensor<D, K>(apply(x.value()));
  }
  Value apply(const Value& x) const;
};

/// Dims `first` … `last` merged into one; the batch dim is kept by default.
struct Flatten {
  int first = 1;
  int last = -1;

  template <int D>
  Tensor<2> forward(const Tensor<D>& x) const {
    return x.template flatten<2>(first, last);
  }
  DynTensor forward(const DynTensor& x) const { return x.flatten(first, last); }
};

struct Identity {
  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return x;
  }
};

/// The layer trains: its input's device has autodiff.
[[nodiscard]] bool is_training(const Value& input);

}  // namespace sinter::nn
