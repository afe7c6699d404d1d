// SPDX-License-Identifier: MIT OR Apache-2.0
// Scaled dot product attention of one batch, 12 heads, 1024 positions, 64 wide.
#include "benches/bench.hpp"

namespace sinter::bench {

void add_attention_rows(Rows& rows) {
  const std::vector<std::int64_t> dims = {1, 12, 1024, 64};
  std::vector<Input> inputs = {normal("q", dims), normal("k", dims), normal("v", dims)};
  const double n = static_cast<double>(inputs[0].count());
  const double flops = 4 * n * 1024;
  rows.push_back({.name = "attn_fwd", .inputs = inputs, .work = {.flops = flops, .bytes = 16 * n}});
  inputs.push_back(normal("g", dims));
  rows.push_back(
      {.name = "attn_fwdbwd", .inputs = inputs, .work = {.flops = 3 * flops, .bytes = 32 * n}});
}

}  // namespace sinter::bench
