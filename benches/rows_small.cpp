// SPDX-License-Identifier: MIT OR Apache-2.0
// What an operation costs on small tensors; recurrent loops, embedding, optimizer.
#include "benches/bench.hpp"

namespace sinter::bench {
namespace {

std::vector<Input> lstm_inputs(Input x, std::int64_t in, std::int64_t hidden, double scale) {
  return {std::move(x), normal("weight_ih", {4 * hidden, in}, scale),
          normal("weight_hh", {4 * hidden, hidden}, scale), normal("bias_ih", {4 * hidden}, scale),
          normal("bias_hh", {4 * hidden}, scale)};
}

void add_host_rows(Rows& rows) {
  rows.push_back({.name = "add4",
                  .inputs = {normal("a", {4}), normal("b", {4})},
                  .peers = {"libtorch", "torch"},
                  .tolerance = 0});
  rows.push_back({.name = "mulsumbwd",
                  .inputs = {normal("w", {4}), normal("b", {4})},
                  .peers = {"libtorch", "torch"},
                  .tolerance = 0});
}

void add_lstm_rows(Rows& rows) {
  rows.push_back({.name = "lstm_loop",
                  .inputs = lstm_inputs(normal("x", {10, 1, 3}), 3, 3, 0.5),
                  .work = {.flops = 20 * 10 * 3 * 2.0 * 4 * (9 + 9)}});
  const double macs = 16.0 * 128 * 4 * (256 * 256 + 256 * 256);
  rows.push_back({.name = "lstm_fwd",
                  .inputs = lstm_inputs(normal("x", {16, 128, 256}), 256, 256, 1.0 / 16),
                  .work = {.flops = 2 * macs}});
}

void add_embedding_rows(Rows& rows) {
  std::vector<Input> inputs = {ids("ids", {64, 512}, 8192), normal("w", {8192, 768})};
  const double out = 64.0 * 512 * 768;
  const double table = 8192.0 * 768;
  rows.push_back({.name = "embed_fwd", .inputs = inputs, .work = {.bytes = 8 * out}});
  inputs.push_back(normal("g", {64, 512, 768}));
  // The loss reads the output and the weights; the gradient is added up in the table.
  rows.push_back(
      {.name = "embed_fwdbwd", .inputs = inputs, .work = {.bytes = 4 * (5 * out + table)}});
}

void add_optimizer_row(Rows& rows) {
  const double n = 20 * 500e3;
  rows.push_back({.name = "adamw_10M",
                  .inputs = {normal("p", {20, 500000}), normal("g", {20, 500000})},
                  .work = {.flops = 12 * n, .bytes = 28 * n, .traffic = Traffic::update},
                  .peers = {"torch", "torch_fused"},
                  .tolerance = 1e-6});
}

}  // namespace

void add_small_rows(Rows& rows) {
  add_host_rows(rows);
  add_lstm_rows(rows);
  add_embedding_rows(rows);
  add_optimizer_row(rows);
}

}  // namespace sinter::bench
