// SPDX-License-Identifier: MIT OR Apache-2.0
// Softmax, layer norm, sums and argmin.
#include "benches/sinter_side.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/norm/norm.hpp"
#include "sinter/ops/softmax/softmax.hpp"
#include "sinter/ops/sort/sort.hpp"

namespace sinter::bench {
namespace {

using Function = Value (*)(const Value&);

Runner make_unary(const Context& context, Function function) {
  const Device device = bench_device(context.options);
  const Value x = load(context, "x", device);
  return forward_runner(device, [x, function] { return function(x); });
}

Runner make_layernorm(const Context& context) {
  const Device device = bench_device(context.options);
  const Value x = load(context, "x", device);
  const Value w = load(context, "w", device);
  const Value b = load(context, "b", device);
  return forward_runner(device, [x, w, b] { return ops::layer_norm(x, 1, w, b); });
}

void add_maps(Rows& rows) {
  const auto add = [&](const char* name, std::vector<Input> inputs,
                       std::function<Runner(const Context&)> make) {
    const double n = static_cast<double>(inputs[0].count());
    rows.push_back({.name = name,
                    .inputs = std::move(inputs),
                    .work = {.flops = 20 * n, .bytes = 8 * n},
                    .tolerance = 1e-5,
                    .make = std::move(make)});
  };
  add("softmax_last", {normal("x", {16, 1024, 1024})}, [](const Context& context) {
    return make_unary(context, [](const Value& x) { return ops::softmax(x, 2); });
  });
  add("softmax_mid", {normal("x", {8, 2048, 2048})}, [](const Context& context) {
    return make_unary(context, [](const Value& x) { return ops::softmax(x, 1); });
  });
  add("layernorm", {normal("x", {4096, 1024}), normal("w", {1024}), normal("b", {1024})},
      make_layernorm);
}

}  // namespace

void add_reduction_rows(Rows& rows) {
  add_maps(rows);
  const std::pair<const char*, Function> reductions[] = {
      {"sum_full", [](const Value& x) { return ops::sum(x); }},
      {"sum_d0", [](const Value& x) { return ops::sum(x, {0}); }},
      {"sum_d1", [](const Value& x) { return ops::sum(x, {1}); }},
      {"sum_d2", [](const Value& x) { return ops::sum(x, {2}); }},
      {"argmin_d2", [](const Value& x) { return ops::argmin(x, 2); }}};
  for (const auto& [name, function] : reductions) {
    const double n = 8.0 * 512 * 4096;
    rows.push_back({.name = name,
                    .inputs = {normal("x", {8, 512, 4096}, 1, 0.5)},
                    .work = {.flops = n, .bytes = 4 * n, .traffic = Traffic::read},
                    .tolerance = 1e-5,
                    .make = [function = function](const Context& context) {
                      return make_unary(context, function);
                    }});
  }
}

}  // namespace sinter::bench
