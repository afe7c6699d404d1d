// SPDX-License-Identifier: MIT OR Apache-2.0
// The networks of the training and process rows, and the pieces they are made of.
#pragma once

#include <string>
#include <vector>

#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/graph/value.hpp"
#include "sinter/ops/optim/optim.hpp"
#include "sinter/tensor/device.hpp"

namespace sinter::bench {

/// Named tensors in a fixed order.
class Parameters {
 public:
  void add(const std::string& name, Value value);
  const Value& operator[](const std::string& name) const;
  /// Tracks every tensor.
  void require_grad();

  std::vector<std::string> names;
  std::vector<Value> values;
};

/// Logits of `x`; dropout keeps 1 - `dropout` of the activations where the network has it.
using Network = Value (*)(const Parameters& parameters, const Value& x, double dropout);

/// 784-512-512-10 with ReLU: w1 … w3, b1 … b3, weights [out, in].
Value mlp(const Parameters& parameters, const Value& x, double dropout);

/// The demo's network: two blocks of convolution, batch norm, GELU and pooling, three linear
/// layers.
Value cnn(const Parameters& parameters, const Value& x, double dropout);

/// Adds the weights and biases of the two batch norms of `cnn`: ones and zeros.
void add_batch_norms(Parameters& parameters, const Device& device);

/// Four post-norm transformer layers of 12 heads: qkv, out, ff1, ff2 with _w0 … and _b0 ….
Value encoder(const Parameters& parameters, const Value& x);

/// softmax(q · kᵀ / sqrt(d)) · v over the last two dims.
Value attention(const Value& q, const Value& k, const Value& v);

/// Gates in the order input, forget, cell, output, as PyTorch has them.
struct LstmWeights {
  Value input, hidden, input_bias, hidden_bias;
};
/// One step: x [n, in]; replaces h and c [n, hidden].
void lstm_cell(const LstmWeights& weights, const Value& x, Value& h, Value& c);
/// x [n, t, in] -> [n, t, hidden], from zero states.
Value lstm(const LstmWeights& weights, const Value& x);

/// Parameters on the device under autodiff, with AdamW's state.
class Trainer {
 public:
  Trainer(Network network, Parameters parameters, const Device& device, double lr, double dropout);
  /// One step of cross entropy; gives the loss before it.
  Value step(const Value& x, const Value& y);

 private:
  Network network_;
  Parameters parameters_;
  Device device_;
  double dropout_;
  ops::AdamStep op_;
  std::vector<Value> first_, second_, unused_;
};

/// Random parameters for the programs that run alone.
Parameters random_mlp(const Device& device);
Parameters random_cnn(const Device& device);
Parameters random_encoder(const Device& device);

}  // namespace sinter::bench
