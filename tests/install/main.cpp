// SPDX-License-Identifier: MIT OR Apache-2.0
// A user's program, built against the installed package: a small network learns to tell inside from
// outside.
#include <cstdio>
#include <sinter/sinter.hpp>

using namespace sinter;

struct Model {
  nn::Linear first, second;
  nn::Gelu gelu;
  Tensor<2> forward(const Tensor<2>& x) const {
    return second.forward(gelu.forward(first.forward(x)));
  }
};

int main() {
  const Device device = Device::portable().autodiff();
  device.seed(1);
  Model model{
      nn::Linear({.in = 2, .out = 32}, device), nn::Linear({.in = 32, .out = 1}, device), {}};
  optim::AdamW optim{{.weight_decay = 0.0}};
  const auto x = Tensor<2>::random({256, 2}, Distribution::uniform(-1, 1), device);
  const auto inside = (x.square().sum(1, keep_dim) < 0.5).to_float();
  double loss = 1;
  for (int step = 0; step < 200; ++step) {
    const Tensor<0> error = functional::bce_with_logits_loss(model.forward(x), inside);
    optim.step(0.03, model, error.backward());
    loss = error.item();
  }
  std::printf("loss %.3f\n", loss);
  return loss < 0.2 ? 0 : 1;
}
