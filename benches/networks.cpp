// SPDX-License-Identifier: MIT OR Apache-2.0
// Networks written with ops on values, and the training step.
#include "benches/networks.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sinter/ops/conv/conv.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/join/join.hpp"
#include "sinter/ops/loss/loss.hpp"
#include "sinter/ops/norm/norm.hpp"
#include "sinter/ops/pool/pool.hpp"
#include "sinter/ops/random/random.hpp"
#include "sinter/ops/softmax/softmax.hpp"

namespace sinter::bench {
namespace {

/// x [.., in], weight [out, in] -> [.., out].
Value linear(const Value& x, const Value& weight, const Value& bias) {
  return ops::add(ops::matmul(x, ops::transpose(weight)), bias);
}

Value maybe_dropout(const Value& x, double p) { return p > 0 ? ops::dropout(x, p) : x; }

/// Convolution, batch norm, GELU, maximum of 2 x 2.
Value conv_block(const Parameters& p, const Value& x, const std::string& n) {
  const Value y = ops::conv(x, p["c" + n], p["cb" + n]);
  const Value normalised = ops::batch_norm(y, p["bn_w" + n], p["bn_b" + n])[0];
  ops::PoolWindow window;
  window.kernel = {2, 2};
  return ops::max_pool(ops::gelu(normalised), window);
}

Value heads_of(const Value& qkv, int part) {
  const std::int64_t width = qkv.size(2) / 3;
  const Value x = ops::narrow(qkv, 2, part * width, width);
  const Value split = ops::reshape(x, {x.size(0), x.size(1), 12, width / 12});
  return ops::permute(split, {0, 2, 1, 3});
}

void add_random(Parameters& parameters, const Device& device, const std::string& weight,
                const std::string& bias, const Shape& shape) {
  double fan_in = 1;
  for (int i = 1; i < shape.rank(); ++i) {
    fan_in *= static_cast<double>(shape[i]);
  }
  const ops::Distribution normal = ops::Distribution::normal(0, 1 / std::sqrt(fan_in));
  parameters.add(weight, ops::random(device.backend(), shape, normal, DType::f32));
  parameters.add(bias, ops::full(device.backend(), {shape[0]}, 0, DType::f32));
}

}  // namespace

void Parameters::add(const std::string& name, Value value) {
  names.push_back(name);
  values.push_back(std::move(value));
}

const Value& Parameters::operator[](const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw std::logic_error("no parameter " + name);
  }
  return values[static_cast<std::size_t>(found - names.begin())];
}

void Parameters::require_grad() {
  for (Value& value : values) {
    value = autodiff::require_grad(value);
  }
}

void add_batch_norms(Parameters& parameters, const Device& device) {
  for (const std::string n : {"1", "2"}) {
    parameters.add("bn_w" + n, ops::full(device.backend(), {64}, 1, DType::f32));
    parameters.add("bn_b" + n, ops::full(device.backend(), {64}, 0, DType::f32));
  }
}

Value mlp(const Parameters& p, const Value& x, double) {
  const Value a = ops::relu(linear(x, p["w1"], p["b1"]));
  const Value b = ops::relu(linear(a, p["w2"], p["b2"]));
  return linear(b, p["w3"], p["b3"]);
}

Value cnn(const Parameters& p, const Value& x, double dropout) {
  const Value a = conv_block(p, x, "1");
  const Value b = conv_block(p, a, "2");
  const Value flat = ops::reshape(b, {b.size(0), -1});
  const Value c = maybe_dropout(ops::gelu(linear(flat, p["w1"], p["b1"])), dropout);
  const Value d = maybe_dropout(ops::gelu(linear(c, p["w2"], p["b2"])), dropout);
  return linear(d, p["w3"], p["b3"]);
}

Value attention(const Value& q, const Value& k, const Value& v) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const Value scaled = ops::mul(q, ops::scalar_like(q, scale));
  return ops::matmul(ops::softmax(ops::matmul(scaled, ops::transpose(k))), v);
}

Value encoder(const Parameters& p, const Value& input) {
  Value x = input;
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    const Value qkv = linear(x, p["qkv_w" + n], p["qkv_b" + n]);
    const Value heads = attention(heads_of(qkv, 0), heads_of(qkv, 1), heads_of(qkv, 2));
    const Value joined = ops::reshape(ops::permute(heads, {0, 2, 1, 3}), x.shape());
    x = ops::layer_norm(ops::add(x, linear(joined, p["out_w" + n], p["out_b" + n])));
    const Value inner = ops::gelu(linear(x, p["ff1_w" + n], p["ff1_b" + n]));
    x = ops::layer_norm(ops::add(x, linear(inner, p["ff2_w" + n], p["ff2_b" + n])));
  }
  return x;
}

namespace {

/// The cell from its gates [n, 4 · hidden].
void lstm_gates(const Value& gates, Value& h, Value& c) {
  const std::vector<Value> part = ops::chunk(gates, 4, 1);
  const Value kept = ops::mul(ops::sigmoid(part[1]), c);
  c = ops::add(kept, ops::mul(ops::sigmoid(part[0]), ops::tanh(part[2])));
  h = ops::mul(ops::sigmoid(part[3]), ops::tanh(c));
}

}  // namespace

void lstm_cell(const LstmWeights& weights, const Value& x, Value& h, Value& c) {
  const Value of_input = linear(x, weights.input, weights.input_bias);
  const Value of_hidden = linear(h, weights.hidden, weights.hidden_bias);
  lstm_gates(ops::add(of_input, of_hidden), h, c);
}

Value lstm(const LstmWeights& weights, const Value& x) {
  const std::int64_t hidden = weights.hidden.size(1);
  Value h = ops::full(x.backend(), {x.size(0), hidden}, 0, DType::f32);
  Value c = h;
  const Value bias = ops::add(weights.input_bias, weights.hidden_bias);
  const Value of_input = linear(x, weights.input, bias);
  std::vector<Value> states;
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    const Value now = ops::squeeze(ops::narrow(of_input, 1, t, 1), 1);
    lstm_gates(ops::add(ops::matmul(h, ops::transpose(weights.hidden)), now), h, c);
    states.push_back(h);
  }
  return ops::stack(states, 1);
}

Trainer::Trainer(Network network, Parameters parameters, const Device& device, double lr,
                 double dropout)
    : network_(network), parameters_(std::move(parameters)), device_(device), dropout_(dropout) {
  op_ = {.lr = lr, .weight_decay = 0.01, .step = 0, .decoupled = true};
  for (const Value& parameter : parameters_.values) {
    first_.push_back(ops::zeros_like(parameter));
    second_.push_back(ops::zeros_like(parameter));
  }
}

Value Trainer::step(const Value& x, const Value& y) {
  std::vector<Value> gradients;
  Value loss;
  {
    // The tracked handles end here, so that the optimizer may work in place.
    Parameters tracked = parameters_;
    for (Value& value : tracked.values) {
      value = autodiff::require_grad(device_.backend().wrap(value));
    }
    const Value tracked_loss = ops::cross_entropy(network_(tracked, x, dropout_), y);
    const Gradients all = autodiff::backward(tracked_loss);
    for (const Value& value : tracked.values) {
      gradients.push_back(all.get(value));
    }
    loss = device_.backend().unwrap(tracked_loss);
  }
  ++op_.step;
  ops::adam_step(op_, parameters_.values, gradients, first_, second_, unused_);
  return loss;
}

Parameters random_mlp(const Device& device) {
  Parameters p;
  add_random(p, device, "w1", "b1", {512, 784});
  add_random(p, device, "w2", "b2", {512, 512});
  add_random(p, device, "w3", "b3", {10, 512});
  return p;
}

Parameters random_cnn(const Device& device) {
  Parameters p;
  add_batch_norms(p, device);
  add_random(p, device, "c1", "cb1", {64, 1, 3, 3});
  add_random(p, device, "c2", "cb2", {64, 64, 3, 3});
  add_random(p, device, "w1", "b1", {128, 1600});
  add_random(p, device, "w2", "b2", {128, 128});
  add_random(p, device, "w3", "b3", {10, 128});
  return p;
}

Parameters random_encoder(const Device& device) {
  Parameters p;
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    add_random(p, device, "qkv_w" + n, "qkv_b" + n, {2304, 768});
    add_random(p, device, "out_w" + n, "out_b" + n, {768, 768});
    add_random(p, device, "ff1_w" + n, "ff1_b" + n, {3072, 768});
    add_random(p, device, "ff2_w" + n, "ff2_b" + n, {768, 3072});
  }
  return p;
}

}  // namespace sinter::bench
