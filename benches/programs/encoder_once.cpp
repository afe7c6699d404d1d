// SPDX-License-Identifier: MIT OR Apache-2.0
// A whole program: forward and backward passes of the encoder of encoder_fwdbwd.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "benches/networks.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/random/random.hpp"
#include "sinter/types/host_data.hpp"

using namespace sinter;

namespace {

double number(const Value& value) { return value.backend().read(value).at(0); }

void run(int steps, const std::string& name) {
  const Device inner = name == "cpu" ? Device::portable() : Device::by_name(name);
  const Device device = inner.autodiff();
  bench::Parameters parameters = bench::random_encoder(device);
  parameters.require_grad();
  const Value x = ops::random(device.backend(), {2, 128, 768}, ops::Distribution::normal(0, 1));
  for (int i = 0; i < steps; ++i) {
    const Value y = bench::encoder(parameters, x);
    const Value loss = ops::mean(ops::mul(y, y));
    const Gradients gradients = autodiff::backward(loss);
    if (i == 0) {
      std::printf("loss %f\n", number(loss));
      std::fflush(stdout);
    }
  }
}

}  // namespace

/// Arguments: steps, device. Writes a line after the first step.
int main(int argc, char** argv) {
  try {
    run(argc > 1 ? std::atoi(argv[1]) : 1, argc > 2 ? argv[2] : "cpu");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
