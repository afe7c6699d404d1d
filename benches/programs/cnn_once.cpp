// SPDX-License-Identifier: MIT OR Apache-2.0
// A whole program: trains the demo's network of cnn_step.
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
  const Value x = ops::random(device.backend(), {256, 1, 28, 28}, ops::Distribution::normal(0, 1));
  const Value y =
      ops::random(device.backend(), {256}, ops::Distribution::randint(0, 10), DType::i64);
  bench::Trainer trainer(bench::cnn, bench::random_cnn(inner), device, 1e-3, 0.25);
  for (int i = 0; i < steps; ++i) {
    const Value loss = trainer.step(x, y);
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
