// SPDX-License-Identifier: MIT OR Apache-2.0
// Square matrix products in f32, and i8 products summed in i32.
#include "benches/sinter_side.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::bench {
namespace {

Runner make_matmul(const Context& context) {
  const Device device = bench_device(context.options);
  const Value a = load(context, "a", device);
  const Value b = load(context, "b", device);
  return forward_runner(device, [a, b] { return ops::matmul(a, b); });
}

}  // namespace

void add_matmul_rows(Rows& rows) {
  for (std::int64_t n : {256, 512, 1024, 2048}) {
    const double d = static_cast<double>(n);
    rows.push_back({.name = "matmul_" + std::to_string(n),
                    .inputs = {normal("a", {n, n}), normal("b", {n, n})},
                    .work = {.flops = 2 * d * d * d, .bytes = 12 * d * d},
                    .tolerance = 1e-5,
                    .make = make_matmul});
  }
  const double d = 1024;
  rows.push_back({.name = "int8mm_1024",
                  .inputs = {int8("a", {1024, 1024}), int8("b", {1024, 1024})},
                  .work = {.bytes = 6 * d * d, .int8_ops = 2 * d * d * d},
                  .tolerance = 0,
                  .make = make_matmul});
}

}  // namespace sinter::bench
