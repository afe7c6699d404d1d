// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementwise rows: GELU by its definition, and with erf written out.
#include "benches/bench.hpp"

namespace sinter::bench {

void add_elementwise_rows(Rows& rows) {
  const double n = 32.0 * 512 * 2048;
  const std::vector<Input> inputs = {normal("x", {32, 512, 2048})};
  // erf by a rational or polynomial formula is about 20 fused operations.
  rows.push_back({.name = "gelu_custom_fwd",
                  .inputs = inputs,
                  .work = {.flops = 40 * n, .bytes = 8 * n},
                  .tolerance = 1e-5});
  rows.push_back({.name = "gelu_custom_fwdbwd",
                  .inputs = inputs,
                  .work = {.flops = 80 * n, .bytes = 12 * n},
                  .tolerance = 1e-5});
  rows.push_back({.name = "gelu_erfpoly_fwd",
                  .inputs = inputs,
                  .work = {.flops = 40 * n, .bytes = 8 * n},
                  .tolerance = 1e-5});
}

}  // namespace sinter::bench
