// SPDX-License-Identifier: MIT OR Apache-2.0
// Cores of attention and of the transformer's encoder.
#include "sinter/nn/attention.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sinter/base/error.hpp"
#include "sinter/ops/attention/attention.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::nn {
namespace {

// [batch, length, heads * size] -> [batch, heads, length, size]
Value split_heads(const Value& x, std::int64_t heads) {
  const Value split = ops::reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads});
  return ops::permute(split, {0, 2, 1, 3});
}

Value merge_heads(const Value& x) {
  return ops::reshape(ops::permute(x, {0, 2, 1, 3}), {x.size(0), x.size(2), x.size(1) * x.size(3)});
}

// True above diagonal `keys - queries`.
HostData future(std::int64_t queries, std::int64_t keys) {
  HostData mask({queries, keys}, DType::boolean);
  const std::span<std::byte> bytes = mask.bytes();
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = i + keys - queries + 1; j < keys; ++j) {
      if (j >= 0) {
        bytes[static_cast<std::size_t>(i * keys + j)] = std::byte{1};
      }
    }
  }
  return mask;
}

// What a query may see, broadcast to [batch, heads, queries, keys]; empty for everything.
Value visible(const AttentionMasks& masks) {
  Value masked;
  if (masks.pad.is_set()) {
    masked = ops::unsqueeze(ops::unsqueeze(masks.pad.value(), 1), 1);
  }
  if (masks.attn.is_set()) {
    const Value pairs = ops::unsqueeze(masks.attn.value(), 1);
    masked = masked ? ops::logical_or(masked, pairs) : pairs;
  }
  return masked ? ops::logical_not(masked) : Value();
}

struct Heads {
  Value q;
  Value k;
  Value v;
};

Value weights_of(const Heads& heads, const AttentionMasks& masks) {
  const double scale = 1 / std::sqrt(static_cast<double>(heads.q.size(-1)));
  Value scores =
      ops::matmul(ops::mul(heads.q, ops::scalar_like(heads.q, scale)), ops::transpose(heads.k));
  Value see = visible(masks);
  if (masks.causal) {
    Backend& backend = scores.backend();
    const Value past =
        ops::logical_not(backend.from_data(future(scores.size(-2), scores.size(-1))));
    see = see ? ops::logical_and(see, past) : past;
  }
  if (!see) {
    return ops::masked_softmax(scores);
  }
  const Value hidden = ops::scalar_like(scores, -std::numeric_limits<double>::infinity());
  return ops::masked_softmax(ops::where(see, scores, hidden));
}

Heads project(const MultiHeadAttention& m, const Value& q, const Value& k, const Value& v) {
  return {split_heads(m.query.apply(q), m.n_heads), split_heads(m.key.apply(k), m.n_heads),
          split_heads(m.value.apply(v), m.n_heads)};
}

LinearConfig square(const MultiHeadAttentionConfig& config) {
  return {.in = config.d_model, .out = config.d_model, .bias = config.bias, .init = config.init};
}

MultiHeadAttentionConfig attention_of(const TransformerEncoderConfig& config) {
  return {.d_model = config.d_model,
          .n_heads = config.n_heads,
          .dropout = config.dropout,
          .init = config.init};
}

PositionWiseFeedForwardConfig feed_forward_of(const TransformerEncoderConfig& config) {
  return {.d_model = config.d_model,
          .d_ff = config.d_ff,
          .dropout = config.dropout,
          .activation = config.activation,
          .init = config.init};
}

}  // namespace

Tensor<3, Bool> causal_mask(std::int64_t size, const Device& device) {
  return Tensor<3, Bool>::from_data(future(size, size).reshaped({1, size, size}), device);
}

Tensor<2, Bool> padding_mask(std::span<const std::int64_t> lengths, const Device& device) {
  std::int64_t longest = 0;
  for (std::int64_t length : lengths) {
    longest = std::max(longest, length);
  }
  HostData mask({static_cast<std::int64_t>(lengths.size()), longest}, DType::boolean);
  std::size_t at = 0;
  for (std::int64_t length : lengths) {
    for (std::int64_t j = 0; j < longest; ++j) {
      mask.bytes()[at++] = std::byte{j >= length};
    }
  }
  return Tensor<2, Bool>::from_data(mask, device);
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionConfig& config, const Device& device)
    : query(square(config), device),
      key(square(config), device),
      value(square(config), device),
      output(square(config), device),
      dropout{{.prob = config.dropout}},
      n_heads(config.n_heads) {
  if (n_heads <= 0 || config.d_model % n_heads != 0) {
    throw ArgumentError(
        fmt::format("MultiHeadAttention: `n_heads` must divide `d_model`, got {} and {}", n_heads,
                    config.d_model));
  }
}

Tensor<3> MultiHeadAttention::forward(const Tensor<3>& q, const Tensor<3>& k, const Tensor<3>& v,
                                      const AttentionMasks& masks) const {
  if (dropout.config.prob != 0 && is_training(q.value())) {
    return forward_with_weights(q, k, v, masks).context;
  }
  const Heads heads = project(*this, q.value(), k.value(), v.value());
  ops::Attention options;
  options.is_causal = masks.causal;
  const Value context = ops::attention(heads.q, heads.k, heads.v, visible(masks), options);
  return Tensor<3>(output.apply(merge_heads(context)));
}

AttentionOutput MultiHeadAttention::forward_with_weights(const Tensor<3>& q, const Tensor<3>& k,
                                                         const Tensor<3>& v,
                                                         const AttentionMasks& masks) const {
  const Heads heads = project(*this, q.value(), k.value(), v.value());
  const Value weights = weights_of(heads, masks);
  const Value context = ops::matmul(dropout.apply(weights), heads.v);
  return {Tensor<3>(output.apply(merge_heads(context))), Tensor<4>(weights)};
}

Value activate(Activation activation, const Value& x) {
  switch (activation) {
    case Activation::relu:
      return ops::relu(x);
    case Activation::silu:
      return ops::silu(x);
    case Activation::tanh:
      return ops::tanh(x);
    case Activation::sigmoid:
      return ops::sigmoid(x);
    case Activation::gelu_approximate:
      return ops::gelu_approximate(x);
    default:
      return ops::gelu(x);
  }
}

PositionWiseFeedForward::PositionWiseFeedForward(const PositionWiseFeedForwardConfig& config,
                                                 const Device& device)
    : linear_inner({.in = config.d_model, .out = config.d_ff, .init = config.init}, device),
      linear_outer({.in = config.d_ff, .out = config.d_model, .init = config.init}, device),
      dropout{{.prob = config.dropout}},
      activation(config.activation) {}

Value PositionWiseFeedForward::apply(const Value& x) const {
  return linear_outer.apply(dropout.apply(activate(activation, linear_inner.apply(x))));
}

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerEncoderConfig& config,
                                                 const Device& device)
    : attention(attention_of(config), device),
      feed_forward(feed_forward_of(config), device),
      norm_1({.features = config.d_model, .eps = config.layer_norm_eps}, device),
      norm_2({.features = config.d_model, .eps = config.layer_norm_eps}, device),
      dropout{{.prob = config.dropout}},
      norm_first(config.norm_first) {}

Tensor<3> TransformerEncoderLayer::forward(const Tensor<3>& x, const AttentionMasks& masks) const {
  if (norm_first) {
    const Tensor<3> y = x + dropout.forward(attention.forward(norm_1.forward(x), masks));
    return y + dropout.forward(feed_forward.forward(norm_2.forward(y)));
  }
  const Tensor<3> y = norm_1.forward(x + dropout.forward(attention.forward(x, masks)));
  return norm_2.forward(y + dropout.forward(feed_forward.forward(y)));
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderConfig& config,
                                       const Device& device) {
  layers.reserve(static_cast<std::size_t>(std::max<std::int64_t>(config.n_layers, 0)));
  for (std::int64_t i = 0; i < config.n_layers; ++i) {
    layers.emplace_back(config, device);
  }
}

Tensor<3> TransformerEncoder::forward(const Tensor<3>& x, const AttentionMasks& masks) const {
  Tensor<3> y = x;
  for (const TransformerEncoderLayer& layer : layers) {
    y = layer.forward(y, masks);
  }
  return y;
}

PositionalEncoding::PositionalEncoding(const PositionalEncodingConfig& config,
                                       const Device& device) {
  if (config.d_model <= 0 || config.max_sequence_size <= 0) {
    throw ArgumentError(fmt::format(
        "PositionalEncoding: `d_model` and `max_sequence_size` must be 1 or more, got {} and {}",
        config.d_model, config.max_sequence_size));
  }
  HostData data({1, config.max_sequence_size, config.d_model}, DType::f32);
  const std::span<float> out = data.as<float>();
  std::size_t at = 0;
  for (std::int64_t p = 0; p < config.max_sequence_size; ++p) {
    for (std::int64_t i = 0; i < config.d_model; ++i) {
      const double exponent = static_cast<double>(i - i % 2) / static_cast<double>(config.d_model);
      const double angle = static_cast<double>(p) / std::pow(config.max_timescale, exponent);
      out[at++] = static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  sinusoids = Tensor<3>::from_data(data, device);
}

Tensor<3> PositionalEncoding::forward(const Tensor<3>& x) const {
  if (x.size(1) > sinusoids.size(1) || x.size(2) != sinusoids.size(2)) {
    throw ShapeError(fmt::format(
        "PositionalEncoding: expected [batch, at most {}, {}], got {}; raise max_sequence_size",
        sinusoids.size(1), sinusoids.size(2), x.shape().str()));
  }
  return x + sinusoids.narrow(1, 0, x.size(1));
}

}  // namespace sinter::nn
