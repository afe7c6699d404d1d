// SPDX-License-Identifier: MIT OR Apache-2.0
// The convolutional network that `sinter train fashion-mnist` trains: an example of a module.
#pragma once

#include "sinter/nn/activation.hpp"
#include "sinter/nn/conv.hpp"
#include "sinter/nn/linear.hpp"
#include "sinter/nn/norm.hpp"
#include "sinter/nn/pool.hpp"

namespace sinter::apps {

/// Images [batch, 1, 28, 28] to logits [batch, 10].
struct FashionMnistModel {
  nn::Conv2d conv1;
  nn::BatchNorm norm1;
  nn::Conv2d conv2;
  nn::BatchNorm norm2;
  nn::MaxPool2d pool{{.kernel = {2, 2}}};
  nn::Linear linear1;
  nn::Linear linear2;
  nn::Linear output;
  nn::Gelu gelu = {};
  nn::Dropout dropout{{.prob = 0.25}};

  static FashionMnistModel make(const Device& device) {
    return {.conv1 = nn::Conv2d{{.in = 1, .out = 64, .kernel = {3, 3}}, device},
            .norm1 = nn::BatchNorm{{.features = 64}, device},
            .conv2 = nn::Conv2d{{.in = 64, .out = 64, .kernel = {3, 3}}, device},
            .norm2 = nn::BatchNorm{{.features = 64}, device},
            .linear1 = nn::Linear{{.in = 64 * 5 * 5, .out = 128}, device},
            .linear2 = nn::Linear{{.in = 128, .out = 128}, device},
            .output = nn::Linear{{.in = 128, .out = 10}, device}};
  }

  Tensor<2> forward(const Tensor<4>& images) const {
    auto x = pool.forward(gelu.forward(norm1.forward(conv1.forward(images))));  // [b, 64, 13, 13]
    x = pool.forward(gelu.forward(norm2.forward(conv2.forward(x))));            // [b, 64, 5, 5]
    auto features = x.flatten<2>(1, -1);                                        // [b, 1600]
    features = dropout.forward(gelu.forward(linear1.forward(features)));
    features = dropout.forward(gelu.forward(linear2.forward(features)));
    return output.forward(features);
  }
};

}  // namespace sinter::apps
