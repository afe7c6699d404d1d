// SPDX-License-Identifier: MIT OR Apache-2.0
// A whole program: trains a network of the rows from the first instruction on.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "benches/networks.hpp"

using namespace sinter;

namespace {

/// Runs `step`, which gives the loss, and writes a line after its first run.
template <class Step>
void repeat(int steps, Step step) {
  for (int i = 0; i < steps; ++i) {
    const Tensor<0> loss = step();
    if (i == 0) {
      std::printf("loss %f\n", static_cast<double>(loss.template item<float>()));
      std::fflush(stdout);
    }
  }
}

template <class Model, int D>
void train(int steps, const Device& device, const Shape& dims) {
  const auto x = Tensor<D>::random(dims, Distribution::normal(0, 1), device);
  const auto y = Tensor<1, Int>::random({dims[0]}, Distribution::randint(0, 10), device);
  bench::Trainer<Model> trainer(Model::make(device), 1e-3);
  repeat(steps, [&] { return trainer.step(x, y); });
}

/// Forward and backward passes alone, as in encoder_fwdbwd.
void run_encoder(int steps, const Device& device) {
  const nn::TransformerEncoder encoder(bench::encoder_config, device);
  const auto x = Tensor<3>::random({2, 128, 768}, Distribution::normal(0, 1), device);
  repeat(steps, [&] {
    const Tensor<3> y = encoder.forward(x);
    const Tensor<0> loss = (y * y).mean();
    const Gradients gradients = loss.backward();
    return loss.inner();
  });
}

void run(const std::string& network, int steps, const Device& device) {
  if (network == "mlp") {
    train<bench::Mlp, 2>(steps, device, {128, 784});
  } else if (network == "cnn") {
    train<bench::Cnn, 4>(steps, device, {256, 1, 28, 28});
  } else if (network == "encoder") {
    run_encoder(steps, device);
  } else {
    throw std::invalid_argument("no network " + network);
  }
}

}  // namespace

/// Arguments: mlp, cnn or encoder; steps; device.
int main(int argc, char** argv) {
  try {
    if (argc < 4) {
      throw std::invalid_argument("usage: NETWORK STEPS DEVICE");
    }
    const std::string name = argv[3];
    const Device device = name == "cpu" ? Device::portable() : Device::by_name(name);
    run(argv[1], std::atoi(argv[2]), device.autodiff());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
