// SPDX-License-Identifier: MIT OR Apache-2.0
// Scaled dot product attention of one batch, 12 heads, 1024 positions, 64 wide.
#include "benches/sinter_side.hpp"
#include "sinter/ops/attention/attention.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::bench {
namespace {

Runner make_forward(const Context& context) {
  const Device device = bench_device(context.options);
  const Value q = load(context, "q", device);
  const Value k = load(context, "k", device);
  const Value v = load(context, "v", device);
  return forward_runner(device, [q, k, v] { return ops::attention(q, k, v); });
}

Runner make_backward(const Context& context) {
  const Value g = load(context, "g", bench_device(context.options).autodiff());
  return loss_runner(context, {"q", "k", "v"}, [g](const std::vector<Value>& leaves) {
    return ops::sum(ops::mul(ops::attention(leaves[0], leaves[1], leaves[2]), g));
  });
}

}  // namespace

void add_attention_rows(Rows& rows) {
  const std::vector<std::int64_t> dims = {1, 12, 1024, 64};
  std::vector<Input> inputs = {normal("q", dims), normal("k", dims), normal("v", dims)};
  const double n = static_cast<double>(inputs[0].count());
  const double flops = 4 * n * 1024;
  rows.push_back({.name = "attn_fwd",
                  .inputs = inputs,
                  .work = {.flops = flops, .bytes = 16 * n},
                  .make = make_forward});
  inputs.push_back(normal("g", dims));
  rows.push_back({.name = "attn_fwdbwd",
                  .inputs = inputs,
                  .work = {.flops = 3 * flops, .bytes = 32 * n},
                  .make = make_backward});
}

}  // namespace sinter::bench
