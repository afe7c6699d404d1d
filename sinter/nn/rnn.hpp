// SPDX-License-Identifier: MIT OR Apache-2.0
// Recurrent layers over sequences [batch, length, features].
#pragma once

#include "sinter/nn/param.hpp"

namespace sinter::nn {

struct RnnConfig {
  std::int64_t in = 0;
  std::int64_t hidden = 0;
  bool bias = true;
  bool batch_first = true;  ///< false: sequences are [length, batch, features]
  bool reverse = false;     ///< from the last element to the first
  Initializer init = Initializer::fan_in_uniform();
};

/// The weights that all recurrent layers have: gates beside each other. Records hold matrices as
/// [gates * hidden, in], as PyTorch's do.
class RecurrentBase {
 public:
  Param<2> weight_input;   ///< [in, gates * hidden]
  Param<2> weight_hidden;  ///< [hidden, gates * hidden]
  Param<1> bias_input;
  Param<1> bias_hidden;
  bool batch_first = true;
  bool reverse = false;

  SINTER_FIELDS(weight_input, weight_hidden, bias_input, bias_hidden)

 protected:
  RecurrentBase() = default;
  RecurrentBase(const RnnConfig& config, int gates, const Device& device);
};

struct RnnOutput {
  Tensor<3> outputs;  ///< [batch, length, hidden]
  Tensor<2> hidden;   ///< after the last step
};

/// h' = tanh(W x + U h + b)
class Rnn : public RecurrentBase {
 public:
  Rnn() = default;
  Rnn(const RnnConfig& config, const Device& device = {}) : RecurrentBase(config, 1, device) {}
  /// An unset state counts as zeros.
  RnnOutput forward(const Tensor<3>& x, const Tensor<2>& hidden = {}) const;
};

struct GruConfig {
  std::int64_t in = 0;
  std::int64_t hidden = 0;
  bool bias = true;
  bool batch_first = true;
  bool reverse = false;
  bool reset_after =
      true;  ///< the reset gate acts after the product with U, as cuDNN and PyTorch do
  Initializer init = Initializer::fan_in_uniform();
};

/// Gates r, z, n: n = tanh(W x + r (U h + b)), h' = (1 - z) n + z h (Cho et al. 2014).
class Gru : public RecurrentBase {
 public:
  bool reset_after = true;

  Gru() = default;
  Gru(const GruConfig& config, const Device& device = {})
      : RecurrentBase({config.in, config.hidden, config.bias, config.batch_first, config.reverse,
                       config.init},
                      3, device),
        reset_after(config.reset_after) {}
  RnnOutput forward(const Tensor<3>& x, const Tensor<2>& hidden = {}) const;
};

struct LstmState {
  Tensor<2> cell = {};
  Tensor<2> hidden = {};
};
struct LstmOutput {
  Tensor<3> outputs;
  LstmState state;  ///< after the last step
};

/// Gates i, f, g, o: c' = f c + i g, h' = o tanh(c') (Hochreiter and Schmidhuber 1997).
class Lstm : public RecurrentBase {
 public:
  Lstm() = default;
  Lstm(const RnnConfig& config, const Device& device = {}) : RecurrentBase(config, 4, device) {}
  LstmOutput forward(const Tensor<3>& x, const LstmState& state = {}) const;
};

}  // namespace sinter::nn
