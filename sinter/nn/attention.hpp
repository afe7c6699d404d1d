// SPDX-License-Identifier: MIT OR Apache-2.0
// Multi-head attention and the transformer's encoder.
#pragma once

#include <vector>

#include "sinter/nn/linear.hpp"
#include "sinter/nn/norm.hpp"

namespace sinter::nn {

/// What attention may not see. True means masked; an unset mask hides nothing.
struct AttentionMasks {
  Tensor<2, Bool> pad = {};   ///< keys [batch, keys]
  Tensor<3, Bool> attn = {};  ///< pairs [batch or 1, queries, keys]
  /// Query i sees keys up to i + keys - queries; adds to the other masks.
  bool causal = false;
};

/// [1, size, size], true above the diagonal: position i doesn't see what comes after it.
[[nodiscard]] Tensor<3, Bool> causal_mask(std::int64_t size, const Device& device = {});
/// [batch, longest], true past each length.
[[nodiscard]] Tensor<2, Bool> padding_mask(std::span<const std::int64_t> lengths,
                                           const Device& device = {});

struct MultiHeadAttentionConfig {
  std::int64_t d_model = 0;
  std::int64_t n_heads = 1;
  double dropout = 0.1;  ///< of the attention weights, in training
  bool bias = true;
  Initializer init = Initializer::fan_in_uniform();
};

struct AttentionOutput {
  Tensor<3> context;  ///< [batch, queries, d_model]
  Tensor<4> weights;  ///< [batch, heads, queries, keys]
};

/// softmax(q k^T / sqrt(d_head)) v in `n_heads` subspaces (Vaswani et al. 2017). A query that sees
/// no key gets zeros.
class MultiHeadAttention {
 public:
  Linear query;
  Linear key;
  Linear value;
  Linear output;
  Dropout dropout;
  std::int64_t n_heads = 1;

  MultiHeadAttention() = default;
  /// ArgumentError unless `n_heads` divides `d_model`.
  MultiHeadAttention(const MultiHeadAttentionConfig& config, const Device& device = {});

  /// Self-attention: [batch, length, d_model] -> the same shape.
  Tensor<3> forward(const Tensor<3>& x, const AttentionMasks& masks = {}) const {
    return forward(x, x, x, masks);
  }
  /// q [batch, queries, d_model], k and v [batch, keys, d_model].
  Tensor<3> forward(const Tensor<3>& q, const Tensor<3>& k, const Tensor<3>& v,
                    const AttentionMasks& masks = {}) const;
  /// Also the weights, which are otherwise never stored.
  AttentionOutput forward_with_weights(const Tensor<3>& q, const Tensor<3>& k, const Tensor<3>& v,
                                       const AttentionMasks& masks = {}) const;

  SINTER_FIELDS(query, key, value, output, dropout, n_heads)
};

/// Activations that a config can name.
enum class Activation : std::uint8_t { gelu, relu, silu, tanh, sigmoid, gelu_approximate };
[[nodiscard]] Value activate(Activation activation, const Value& x);

struct PositionWiseFeedForwardConfig {
  std::int64_t d_model = 0;
  std::int64_t d_ff = 0;
  double dropout = 0.1;
  Activation activation = Activation::gelu;
  Initializer init = Initializer::fan_in_uniform();
};

/// Two linear layers with an activation and dropout between, on each position alone.
class PositionWiseFeedForward {
 public:
  Linear linear_inner;
  Linear linear_outer;
  Dropout dropout;
  Activation activation = Activation::gelu;

  PositionWiseFeedForward() = default;
  PositionWiseFeedForward(const PositionWiseFeedForwardConfig& config, const Device& device = {});

  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return Tensor<D, K>(apply(x.value()));
  }
  Value apply(const Value& x) const;

  SINTER_FIELDS(linear_inner, linear_outer, dropout, activation)
};

struct TransformerEncoderConfig {
  std::int64_t d_model = 0;
  std::int64_t d_ff = 0;
  std::int64_t n_heads = 1;
  std::int64_t n_layers = 1;
  double dropout = 0.1;
  bool norm_first = false;  ///< normalise before each part instead of after it
  double layer_norm_eps = 1e-5;
  Activation activation = Activation::gelu;
  Initializer init = Initializer::fan_in_uniform();
};

/// Self-attention and a feed-forward network, each with a residual path and a layer norm.
class TransformerEncoderLayer {
 public:
  MultiHeadAttention attention;
  PositionWiseFeedForward feed_forward;
  LayerNorm norm_1;
  LayerNorm norm_2;
  Dropout dropout;
  bool norm_first = false;

  TransformerEncoderLayer() = default;
  /// `n_layers` is not used.
  TransformerEncoderLayer(const TransformerEncoderConfig& config, const Device& device = {});

  /// [batch, length, d_model] -> the same shape.
  Tensor<3> forward(const Tensor<3>& x, const AttentionMasks& masks = {}) const;

  SINTER_FIELDS(attention, feed_forward, norm_1, norm_2, dropout, norm_first)
};

class TransformerEncoder {
 public:
  std::vector<TransformerEncoderLayer> layers;

  TransformerEncoder() = default;
  TransformerEncoder(const TransformerEncoderConfig& config, const Device& device = {});

  Tensor<3> forward(const Tensor<3>& x, const AttentionMasks& masks = {}) const;

  SINTER_FIELDS(layers)
};

struct PositionalEncodingConfig {
  std::int64_t d_model = 0;
  std::int64_t max_sequence_size = 5000;
  double max_timescale = 10000;
};

/// Adds sines and cosines of the position: dim 2i holds sin(p / timescale^(2i / d)), dim 2i + 1 the
/// cosine.
class PositionalEncoding {
 public:
  Tensor<3> sinusoids;  ///< [1, max_sequence_size, d_model]

  PositionalEncoding() = default;
  PositionalEncoding(const PositionalEncodingConfig& config, const Device& device = {});

  /// [batch, length, d_model]; ShapeError past the longest length.
  Tensor<3> forward(const Tensor<3>& x) const;

  SINTER_FIELDS(sinusoids)
};

}  // namespace sinter::nn
