// SPDX-License-Identifier: MIT OR Apache-2.0
// The networks of the training and process rows, built from layers as a user builds them.
#pragma once

#include <utility>

#include "sinter/apps/fashion_mnist_model.hpp"
#include "sinter/nn/attention.hpp"
#include "sinter/nn/loss.hpp"
#include "sinter/optim/optimizer.hpp"

namespace sinter::bench {

/// The demo's network.
using Cnn = apps::FashionMnistModel;

/// 784-512-512-10 with ReLU.
struct Mlp {
  nn::Linear linear1;
  nn::Linear linear2;
  nn::Linear linear3;

  static Mlp make(const Device& device) {
    return {.linear1 = nn::Linear{{.in = 784, .out = 512}, device},
            .linear2 = nn::Linear{{.in = 512, .out = 512}, device},
            .linear3 = nn::Linear{{.in = 512, .out = 10}, device}};
  }

  Tensor<2> forward(const Tensor<2>& x) const {
    const Tensor<2> a = linear1.forward(x).relu();
    const Tensor<2> b = linear2.forward(a).relu();
    return linear3.forward(b);
  }
};

inline constexpr nn::TransformerEncoderConfig encoder_config = {
    .d_model = 768, .d_ff = 3072, .n_heads = 12, .n_layers = 4, .dropout = 0};

/// A model with AdamW.
template <class Model>
class Trainer {
 public:
  Trainer(Model model, double lr) : model_(std::move(model)), lr_(lr) {}

  /// One step of cross entropy; gives the loss before it.
  template <class X>
  Tensor<0> step(const X& x, const Tensor<1, Int>& labels) {
    Gradients gradients;
    Tensor<0> value;
    {
      // The graph ends here, so that the optimizer works in place.
      const Tensor<0> loss = nn::CrossEntropyLoss().forward(model_.forward(x), labels);
      gradients = loss.backward();
      value = loss.inner();
    }
    optimizer_.step(lr_, model_, gradients);
    return value;
  }

 private:
  Model model_;
  double lr_;
  optim::AdamW optimizer_;
};

}  // namespace sinter::bench
