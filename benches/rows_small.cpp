// SPDX-License-Identifier: MIT OR Apache-2.0
// What an operation costs on small tensors; recurrent loops, embedding, optimizer.
#include "benches/networks.hpp"
#include "benches/sinter_side.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/index/index.hpp"
#include "sinter/ops/optim/optim.hpp"
#include "sinter/tensor/tensor.hpp"

namespace sinter::bench {
namespace {

std::vector<Input> lstm_inputs(Input x, std::int64_t in, std::int64_t hidden, double scale) {
  return {std::move(x), normal("weight_ih", {4 * hidden, in}, scale),
          normal("weight_hh", {4 * hidden, hidden}, scale), normal("bias_ih", {4 * hidden}, scale),
          normal("bias_hh", {4 * hidden}, scale)};
}

// The two rows of the host's cost are written as a user would, with nothing in between.
Runner make_add(const Context& context) {
  const Device device = bench_device(context.options);
  const Tensor<1> a(load(context, "a", device));
  const Tensor<1> b(load(context, "b", device));
  return {.run =
              [=](long iterations) {
                for (long i = 0; i < iterations; ++i) {
                  const Tensor<1> sum = a + b;
                }
                device.sync();
              },
          .outputs = [=] { return std::vector<std::vector<float>>{floats((a + b).value())}; }};
}

Runner make_mulsum(const Context& context) {
  const Device device = bench_device(context.options).autodiff();
  const Tensor<1> w = Tensor<1>(load(context, "w", device)).require_grad();
  const Tensor<1> b(load(context, "b", device));
  return {.run =
              [=](long iterations) {
                for (long i = 0; i < iterations; ++i) {
                  const Gradients gradients = (w * b).sum().backward();
                }
                device.sync();
              },
          .outputs =
              [=] {
                const Gradients gradients = (w * b).sum().backward();
                return std::vector<std::vector<float>>{floats(w.grad(gradients)->value())};
              }};
}

Runner make_lstm_loop(const Context& context) {
  const Device device = bench_device(context.options).autodiff();
  const Value x = load(context, "x", device);
  const LstmWeights weights = {autodiff::require_grad(load(context, "weight_ih", device)),
                               autodiff::require_grad(load(context, "weight_hh", device)),
                               autodiff::require_grad(load(context, "bias_ih", device)),
                               autodiff::require_grad(load(context, "bias_hh", device))};
  return gradient_runner(device, [=] {
    std::vector<Value> out;
    for (int repeat = 0; repeat < 20; ++repeat) {
      Value h = ops::full(device.backend(), {1, 3}, 0, DType::f32);
      Value c = h;
      for (std::int64_t t = 0; t < 10; ++t) {
        lstm_cell(weights, ops::squeeze(ops::narrow(x, 0, t, 1), 0), h, c);
      }
      const Gradients gradients = autodiff::backward(ops::sum(h));
      out = {gradients.get(weights.input), gradients.get(weights.hidden)};
    }
    return out;
  });
}

Runner make_lstm(const Context& context) {
  const Device device = bench_device(context.options);
  const Value x = load(context, "x", device);
  const LstmWeights weights = {load(context, "weight_ih", device),
                               load(context, "weight_hh", device), load(context, "bias_ih", device),
                               load(context, "bias_hh", device)};
  return forward_runner(device, [x, weights] { return lstm(weights, x); });
}

Runner make_embedding(const Context& context) {
  const Device device = bench_device(context.options);
  const Value w = load(context, "w", device);
  const Value ids = load(context, "ids", device);
  return forward_runner(device, [w, ids] { return ops::embedding(w, ids); });
}

Runner make_embedding_backward(const Context& context) {
  const Device device = bench_device(context.options).autodiff();
  const Value g = load(context, "g", device);
  const Value ids = load(context, "ids", device);
  return loss_runner(context, {"w"}, [g, ids](const std::vector<Value>& leaves) {
    return ops::sum(ops::mul(ops::embedding(leaves[0], ids), g));
  });
}

/// Parameters, gradients and state of the optimizer row.
struct AdamState {
  std::vector<Value> parameters, gradients, first, second, unused;
  ops::AdamStep op;

  AdamState(const Context& context, const Device& device, double lr) {
    op = {.lr = lr, .weight_decay = 0.01, .step = 0, .decoupled = true};
    const Value p = load(context, "p", device);
    const Value g = load(context, "g", device);
    for (std::int64_t i = 0; i < p.size(0); ++i) {
      const auto row = [i](const Value& all) {
        return device_copy(ops::squeeze(ops::narrow(all, 0, i, 1), 0));
      };
      parameters.push_back(row(p));
      gradients.push_back(row(g));
      first.push_back(ops::zeros_like(parameters.back()));
      second.push_back(ops::zeros_like(parameters.back()));
    }
  }
  /// A tensor of its own, not a part of another.
  static Value device_copy(const Value& part) {
    return part.backend().from_data(part.backend().read(part));
  }
  void step() {
    ++op.step;
    ops::adam_step(op, parameters, gradients, first, second, unused);
  }
};

Runner make_adamw(const Context& context) {
  const Device device = bench_device(context.options);
  const auto timed = std::make_shared<AdamState>(context, device, 1e-6);
  const auto checked = std::make_shared<AdamState>(context, device, 1e-3);
  return {.run =
              [=](long iterations) {
                for (long i = 0; i < iterations; ++i) {
                  timed->step();
                }
                device.sync();
              },
          .outputs =
              [=] {
                std::vector<float> all;
                for (int i = 0; i < 3; ++i) {
                  checked->step();
                }
                for (const Value& parameter : checked->parameters) {
                  const std::vector<float> part = floats(parameter);
                  all.insert(all.end(), part.begin(), part.end());
                }
                return std::vector<std::vector<float>>{all};
              }};
}

void add_host_rows(Rows& rows) {
  rows.push_back({.name = "add4",
                  .inputs = {normal("a", {4}), normal("b", {4})},
                  .peers = {"libtorch", "torch"},
                  .tolerance = 0,
                  .make = make_add});
  rows.push_back({.name = "mulsumbwd",
                  .inputs = {normal("w", {4}), normal("b", {4})},
                  .peers = {"libtorch", "torch"},
                  .tolerance = 0,
                  .make = make_mulsum});
}

void add_lstm_rows(Rows& rows) {
  rows.push_back({.name = "lstm_loop",
                  .inputs = lstm_inputs(normal("x", {10, 1, 3}), 3, 3, 0.5),
                  .work = {.flops = 20 * 10 * 3 * 2.0 * 4 * (9 + 9)},
                  .make = make_lstm_loop});
  const double macs = 16.0 * 128 * 4 * (256 * 256 + 256 * 256);
  rows.push_back({.name = "lstm_fwd",
                  .inputs = lstm_inputs(normal("x", {16, 128, 256}), 256, 256, 1.0 / 16),
                  .work = {.flops = 2 * macs},
                  .make = make_lstm});
}

void add_embedding_rows(Rows& rows) {
  std::vector<Input> inputs = {ids("ids", {64, 512}, 8192), normal("w", {8192, 768})};
  const double out = 64.0 * 512 * 768;
  const double table = 8192.0 * 768;
  rows.push_back(
      {.name = "embed_fwd", .inputs = inputs, .work = {.bytes = 8 * out}, .make = make_embedding});
  inputs.push_back(normal("g", {64, 512, 768}));
  // The loss reads the output and the weights; the gradient is added up in the table.
  rows.push_back({.name = "embed_fwdbwd",
                  .inputs = inputs,
                  .work = {.bytes = 4 * (5 * out + table)},
                  .make = make_embedding_backward});
}

void add_optimizer_row(Rows& rows) {
  const double n = 20 * 500e3;
  rows.push_back({.name = "adamw_10M",
                  .inputs = {normal("p", {20, 500000}), normal("g", {20, 500000})},
                  .work = {.flops = 12 * n, .bytes = 28 * n, .traffic = Traffic::update},
                  .peers = {"torch", "torch_fused"},
                  .tolerance = 1e-6,
                  .make = make_adamw});
}

}  // namespace

void add_small_rows(Rows& rows) {
  add_host_rows(rows);
  add_lstm_rows(rows);
  add_embedding_rows(rows);
  add_optimizer_row(rows);
}

}  // namespace sinter::bench
