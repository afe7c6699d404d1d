// SPDX-License-Identifier: MIT OR Apache-2.0
// Cores of linear, embedding and dropout layers.
#include "sinter/nn/linear.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/index/index.hpp"
#include "sinter/ops/random/random.hpp"

namespace sinter::nn {
namespace {

void check_positive(std::string_view layer, std::string_view name, std::int64_t value) {
  if (value <= 0) {
    throw ArgumentError(fmt::format("{}: `{}` must be 1 or more, got {}", layer, name, value));
  }
}

}  // namespace

bool is_training(const Value& input) { return is_autodiff(input.backend()); }

Linear::Linear(const LinearConfig& config, const Device& device) : layout(config.layout) {
  check_positive("Linear", "in", config.in);
  check_positive("Linear", "out", config.out);
  const bool column = layout == LinearLayout::column;
  const Fans fans{config.in, config.out};
  weight = Param<2>({.shape = column ? Shape{config.out, config.in} : Shape{config.in, config.out},
                     .initializer = config.init,
                     .fans = fans,
                     .transposed_in_records = !column},
                    device);
  if (config.bias) {
    bias = Param<1>(
        {.shape = {config.out},
         .initializer =
             config.init.kind == Initializer::Kind::orthogonal ? Initializer::zeros() : config.init,
         .fans = fans},
        device);
  }
}

Value Linear::apply(const Value& x) const {
  Value w = weight.value();
  if (layout == LinearLayout::column) {
    w = ops::transpose(w);
  }
  const std::int64_t in = w.size(0);
  if (x.rank() == 0 || x.size(-1) != in) {
    throw ShapeError(fmt::format(
        "Linear: expected an input [..., {}], got {}; build the layer with .in = {} or reshape", in,
        x.shape().str(), x.rank() ? x.size(-1) : 1));
  }
  // All leading dims are one batch: a single matrix product forward and backward.
  Shape shape = x.shape();
  Value y = ops::matmul(x.rank() == 2 ? x : ops::reshape(x, {num_elements(x.shape()) / in, in}), w);
  if (!bias.empty()) {
    const Value operands[] = {std::move(y), bias.value()};
    y = execute(op_def(OpCode::add), nullptr, operands, 1)[0];
  }
  if (x.rank() == 2) {
    return y;
  }
  shape[shape.rank() - 1] = w.size(1);
  return ops::reshape(y, shape);
}

Embedding::Embedding(const EmbeddingConfig& config, const Device& device) {
  check_positive("Embedding", "n_embedding", config.n_embedding);
  check_positive("Embedding", "d_model", config.d_model);
  weight = Param<2>({.shape = {config.n_embedding, config.d_model},
                     .initializer = config.init,
                     .fans = {config.n_embedding, config.d_model}},
                    device);
}

Value Embedding::apply(const Value& indices) const {
  return ops::embedding(weight.value(), indices);
}

Value Dropout::apply(const Value& x) const {
  if (!(config.prob >= 0 && config.prob <= 1)) {
    throw ArgumentError(fmt::format("Dropout: `prob` must be in [0, 1], got {}", config.prob));
  }
  return config.prob == 0 || !is_training(x) ? x : ops::dropout(x, config.prob);
}

Value GaussianNoise::apply(const Value& x) const {
  if (!(config.std >= 0)) {
    throw ArgumentError(fmt::format("GaussianNoise: `std` must be 0 or more, got {}", config.std));
  }
  if (config.std == 0 || !is_training(x)) {
    return x;
  }
  return ops::add(x, ops::random_like(x, ops::Distribution::normal(0, config.std)));
}

}  // namespace sinter::nn
