// SPDX-License-Identifier: MIT OR Apache-2.0
// Cores of recurrent layers: the input's products for all steps at once, the state's one by one.
#include "sinter/nn/rnn.hpp"

#include <fmt/format.h>

#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/join/join.hpp"

namespace sinter::nn {
namespace {

Value plus_bias(const Value& x, const ParamBase& bias) {
  return bias.empty() ? x : ops::add(x, bias.value());
}

// W x + b for every step: [length, batch, gates * hidden].
Value input_products(const RecurrentBase& layer, const Value& x) {
  const std::int64_t in = layer.weight_input.shape()[0];
  if (x.rank() != 3 || x.size(2) != in) {
    throw ShapeError(fmt::format("recurrent layer: expected sequences {} with {} features, got {}",
                                 layer.batch_first ? "[batch, length, in]" : "[length, batch, in]",
                                 in, x.shape().str()));
  }
  const Value steps = layer.batch_first ? ops::transpose(x, 0, 1) : x;
  const std::int64_t length = steps.size(0);
  const std::int64_t batch = steps.size(1);
  const Value flat =
      ops::matmul(ops::reshape(steps, {length * batch, in}), layer.weight_input.value());
  return ops::reshape(plus_bias(flat, layer.bias_input), {length, batch, flat.size(1)});
}

Value step_of(const Value& products, std::int64_t t) {
  return ops::squeeze(ops::narrow(products, 0, t, 1), 0);
}

Value hidden_products(const RecurrentBase& layer, const Value& hidden) {
  return plus_bias(ops::matmul(hidden, layer.weight_hidden.value()), layer.bias_hidden);
}

Value gate(const Value& all, std::int64_t index, std::int64_t hidden) {
  return ops::narrow(all, 1, index * hidden, hidden);
}

Value start(const Value& products, std::int64_t hidden, const Value& given) {
  if (given) {
    return given;
  }
  return ops::full(products.backend(), {products.size(1), hidden}, 0, products.dtype());
}

// Calls `step(t)` for each step in the layer's direction, and joins what it returns.
template <class Step>
Tensor<3> run(const RecurrentBase& layer, std::int64_t length, Step&& step) {
  if (length == 0) {
    throw ShapeError("recurrent layer: a sequence has no elements");
  }
  std::vector<Value> outputs(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t t = layer.reverse ? length - 1 - i : i;
    outputs[static_cast<std::size_t>(t)] = step(t);
  }
  return Tensor<3>(ops::stack(outputs, layer.batch_first ? 1 : 0));
}

Value gru_step(const Gru& layer, const Value& x, const Value& h) {
  const std::int64_t size = h.size(1);
  Value n;
  Value z;
  if (layer.reset_after) {
    const Value u = hidden_products(layer, h);
    const Value r = ops::sigmoid(ops::add(gate(x, 0, size), gate(u, 0, size)));
    z = ops::sigmoid(ops::add(gate(x, 1, size), gate(u, 1, size)));
    n = ops::tanh(ops::add(gate(x, 2, size), ops::mul(r, gate(u, 2, size))));
  } else {
    const Value w = layer.weight_hidden.value();
    const Value b = layer.bias_hidden.empty() ? Value() : layer.bias_hidden.value();
    const auto product = [&](const Value& state, std::int64_t first, std::int64_t count) {
      const Value y = ops::matmul(state, ops::narrow(w, 1, first * size, count * size));
      return b ? ops::add(y, ops::narrow(b, 0, first * size, count * size)) : y;
    };
    const Value u = product(h, 0, 2);
    const Value r = ops::sigmoid(ops::add(gate(x, 0, size), gate(u, 0, size)));
    z = ops::sigmoid(ops::add(gate(x, 1, size), gate(u, 1, size)));
    n = ops::tanh(ops::add(gate(x, 2, size), product(ops::mul(r, h), 2, 1)));
  }
  // (1 - z) n + z h
  return ops::add(n, ops::mul(z, ops::sub(h, n)));
}

}  // namespace

RecurrentBase::RecurrentBase(const RnnConfig& config, int gates, const Device& device)
    : batch_first(config.batch_first), reverse(config.reverse) {
  if (config.in <= 0 || config.hidden <= 0) {
    throw ArgumentError(
        fmt::format("recurrent layer: `in` and `hidden` must be 1 or more, got {} and {}",
                    config.in, config.hidden));
  }
  const std::int64_t columns = gates * config.hidden;
  const Fans fans{config.hidden, config.hidden};
  const auto matrix = [&](std::int64_t rows) {
    return Param<2>({.shape = {rows, columns},
                     .initializer = config.init,
                     .fans = fans,
                     .transposed_in_records = true},
                    device);
  };
  weight_input = matrix(config.in);
  weight_hidden = matrix(config.hidden);
  if (config.bias) {
    const bool shaped = config.init.kind == Initializer::Kind::orthogonal;
    const ParamSpec spec{.shape = {columns},
                         .initializer = shaped ? Initializer::zeros() : config.init,
                         .fans = fans};
    bias_input = Param<1>(spec, device);
    bias_hidden = Param<1>(spec, device);
  }
}

RnnOutput Rnn::forward(const Tensor<3>& x, const Tensor<2>& hidden) const {
  const Value products = input_products(*this, x.value());
  Value h = start(products, weight_hidden.shape()[0], hidden.value());
  const Tensor<3> outputs = run(*this, products.size(0), [&](std::int64_t t) {
    h = ops::tanh(ops::add(step_of(products, t), hidden_products(*this, h)));
    return h;
  });
  return {outputs, Tensor<2>(h)};
}

RnnOutput Gru::forward(const Tensor<3>& x, const Tensor<2>& hidden) const {
  const Value products = input_products(*this, x.value());
  Value h = start(products, weight_hidden.shape()[0], hidden.value());
  const Tensor<3> outputs = run(*this, products.size(0), [&](std::int64_t t) {
    h = gru_step(*this, step_of(products, t), h);
    return h;
  });
  return {outputs, Tensor<2>(h)};
}

LstmOutput Lstm::forward(const Tensor<3>& x, const LstmState& state) const {
  const Value products = input_products(*this, x.value());
  const std::int64_t size = weight_hidden.shape()[0];
  Value h = start(products, size, state.hidden.value());
  Value c = start(products, size, state.cell.value());
  const Tensor<3> outputs = run(*this, products.size(0), [&](std::int64_t t) {
    const Value all = ops::add(step_of(products, t), hidden_products(*this, h));
    const Value i = ops::sigmoid(gate(all, 0, size));
    const Value f = ops::sigmoid(gate(all, 1, size));
    const Value g = ops::tanh(gate(all, 2, size));
    const Value o = ops::sigmoid(gate(all, 3, size));
    c = ops::add(ops::mul(f, c), ops::mul(i, g));
    h = ops::mul(o, ops::tanh(c));
    return h;
  });
  return {outputs, {Tensor<2>(c), Tensor<2>(h)}};
}

}  // namespace sinter::nn
