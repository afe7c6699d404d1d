// SPDX-License-Identifier: MIT OR Apache-2.0
// Softmax, layer norm, sums and argmin.
#include "benches/bench.hpp"

namespace sinter::bench {

void add_reduction_rows(Rows& rows) {
  const auto map = [&](const char* name, std::vector<Input> inputs) {
    const double n = static_cast<double>(inputs[0].count());
    rows.push_back({.name = name,
                    .inputs = std::move(inputs),
                    .work = {.flops = 20 * n, .bytes = 8 * n},
                    .tolerance = 1e-5});
  };
  map("softmax_last", {normal("x", {16, 1024, 1024})});
  map("softmax_mid", {normal("x", {8, 2048, 2048})});
  map("layernorm", {normal("x", {4096, 1024}), normal("w", {1024}), normal("b", {1024})});

  for (const char* name : {"sum_full", "sum_d0", "sum_d1", "sum_d2", "argmin_d2"}) {
    const double n = 8.0 * 512 * 4096;
    rows.push_back({.name = name,
                    .inputs = {normal("x", {8, 512, 4096}, 1, 0.5)},
                    .work = {.flops = n, .bytes = 4 * n, .traffic = Traffic::read},
                    .tolerance = 1e-5});
  }
}

}  // namespace sinter::bench
