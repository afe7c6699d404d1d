// SPDX-License-Identifier: MIT OR Apache-2.0
// Square matrix products in f32, and i8 products summed in i32.
#include "benches/bench.hpp"

namespace sinter::bench {

void add_matmul_rows(Rows& rows) {
  for (std::int64_t n : {256, 512, 1024, 2048}) {
    const double d = static_cast<double>(n);
    rows.push_back({.name = "matmul_" + std::to_string(n),
                    .inputs = {normal("a", {n, n}), normal("b", {n, n})},
                    .work = {.flops = 2 * d * d * d, .bytes = 12 * d * d},
                    .tolerance = 1e-5});
  }
  const double d = 1024;
  rows.push_back({.name = "int8mm_1024",
                  .inputs = {int8("a", {1024, 1024}), int8("b", {1024, 1024})},
                  .work = {.bytes = 6 * d * d, .int8_ops = 2 * d * d * d},
                  .tolerance = 0});
}

}  // namespace sinter::bench
