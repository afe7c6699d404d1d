// SPDX-License-Identifier: MIT OR Apache-2.0
// What an operation costs on small tensors; recurrent loops, embedding, optimizer.
#include <memory>
#include <optional>

#include "benches/sinter_side.hpp"
#include "sinter/nn/rnn.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/index/index.hpp"
#include "sinter/optim/optimizer.hpp"
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

nn::Lstm make_lstm(const Context& context, const Device& device, std::int64_t size) {
  nn::Lstm lstm({.in = size, .hidden = size}, device);
  lstm.weight_input.set(Tensor<2>(load_weight(context, "weight_ih", device)));
  lstm.weight_hidden.set(Tensor<2>(load_weight(context, "weight_hh", device)));
  lstm.bias_input.set(Tensor<1>(load_bias(context, "bias_ih", device)));
  lstm.bias_hidden.set(Tensor<1>(load_bias(context, "bias_hh", device)));
  return lstm;
}

/// One call of the layer a step, each with a sequence of one element.
Runner make_lstm_loop(const Context& context) {
  const Device device = bench_device(context.options).autodiff();
  const Tensor<3> x(load(context, "x", device));
  const nn::Lstm lstm = make_lstm(context, device, 3);
  return gradient_runner(device, [=] {
    std::vector<Value> out;
    for (int repeat = 0; repeat < 20; ++repeat) {
      nn::LstmState state;
      for (std::int64_t t = 0; t < 10; ++t) {
        state = lstm.forward(x.narrow(0, t, 1), state).state;
      }
      const Gradients gradients = state.hidden.sum().backward();
      out = {ops::transpose(lstm.weight_input.grad(gradients)->value()),
             ops::transpose(lstm.weight_hidden.grad(gradients)->value())};
    }
    return out;
  });
}

Runner make_lstm_forward(const Context& context) {
  const Device device = bench_device(context.options);
  const Tensor<3> x(load(context, "x", device));
  return forward_runner(device, [x, lstm = make_lstm(context, device, 256)] {
    return lstm.forward(x).outputs.value();
  });
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

/// Twenty parameters with AdamW and their gradients.
struct AdamState {
  std::vector<nn::Param<1>> parameters;
  SINTER_FIELDS(parameters)
};

class AdamSteps {
 public:
  AdamSteps(const Context& context, const Device& device, double lr) : lr_(lr) {
    const std::int64_t count = context.inputs[0].dims[0];
    Tensor<0> loss = Tensor<0>::full({}, 0, device);
    for (std::int64_t i = 0; i < count; ++i) {
      model_.parameters.emplace_back(Tensor<1>(load_bias(context, "p", device, i, count)));
      const Tensor<1> gradient(load_bias(context, "g", device, i, count));
      loss = loss + (model_.parameters.back().tensor() * gradient).sum();
    }
    gradients_ = nn::gradients_of(model_, loss.backward());
  }

  void step() { optimizer_.step(lr_, model_, gradients_); }

  std::vector<float> values() const {
    std::vector<float> all;
    for (const nn::Param<1>& parameter : model_.parameters) {
      const std::vector<float> part = floats(parameter.value());
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

 private:
  AdamState model_;
  nn::ModuleGradients gradients_;
  optim::AdamW optimizer_;
  double lr_;
};

Runner make_adamw(const Context& context) {
  const Device device = bench_device(context.options).autodiff();
  const auto timed = std::make_shared<AdamSteps>(context, device, 1e-6);
  const auto checked = std::make_shared<AdamSteps>(context, device, 1e-3);
  return {.run =
              [=](long iterations) {
                for (long i = 0; i < iterations; ++i) {
                  timed->step();
                }
                device.sync();
              },
          .outputs =
              [=] {
                for (int i = 0; i < 3; ++i) {
                  checked->step();
                }
                return std::vector<std::vector<float>>{checked->values()};
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
                  .make = make_lstm_forward});
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
