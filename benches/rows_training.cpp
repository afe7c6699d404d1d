// SPDX-License-Identifier: MIT OR Apache-2.0
// Whole training steps: a perceptron, the demo's network, a transformer encoder.
#include <cmath>

#include "benches/networks.hpp"
#include "benches/sinter_side.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::bench {
namespace {

/// A linear or convolution layer's weight and bias, scaled by its fan-in.
void add_layer(std::vector<Input>& inputs, const std::string& weight, const std::string& bias,
               std::vector<std::int64_t> dims) {
  double fan_in = 1;
  for (std::size_t i = 1; i < dims.size(); ++i) {
    fan_in *= static_cast<double>(dims[i]);
  }
  inputs.push_back(normal(bias, {dims[0]}, 0.01));
  inputs.push_back(normal(weight, std::move(dims), 1 / std::sqrt(fan_in)));
}

constexpr double lr_checked = 1e-3;
// Timed steps must not converge: vanishing gradients become denormal, and slow.
constexpr double lr_timed = 1e-6;

Parameters load_parameters(const Context& context, const Device& device) {
  Parameters parameters;
  for (const Input& input : context.inputs) {
    if (input.name != "x" && input.name != "y" && input.name != "g") {
      parameters.add(input.name, load(context, input.name, device));
    }
  }
  return parameters;
}

Parameters load_cnn(const Context& context, const Device& device) {
  Parameters parameters = load_parameters(context, device);
  add_batch_norms(parameters, device);
  return parameters;
}

/// Compares the losses of three steps without dropout; times steps with it.
Runner make_training(const Context& context, Network network,
                     Parameters (*load_all)(const Context&, const Device&)) {
  const Device device = bench_device(context.options).autodiff();
  const Value x = load(context, "x", device);
  const Value y = load(context, "y", device);
  const auto trainer = [&](double lr, double dropout) {
    return std::make_shared<Trainer>(network, load_all(context, device.inner()), device, lr,
                                     dropout);
  };
  return {.run =
              [=, timed = trainer(lr_timed, 0.25)](long iterations) {
                for (long i = 0; i < iterations; ++i) {
                  timed->step(x, y);
                }
                device.sync();
              },
          .outputs =
              [=, checked = trainer(lr_checked, 0)] {
                std::vector<float> losses;
                for (int i = 0; i < 3; ++i) {
                  losses.push_back(floats(checked->step(x, y))[0]);
                }
                return std::vector<std::vector<float>>{losses};
              }};
}

Runner make_encoder_forward(const Context& context) {
  const Device device = bench_device(context.options);
  const Value x = load(context, "x", device);
  return forward_runner(device, [x, parameters = load_parameters(context, device)] {
    return encoder(parameters, x);
  });
}

Runner make_encoder_backward(const Context& context) {
  const Device device = bench_device(context.options).autodiff();
  Parameters parameters = load_parameters(context, device);
  parameters.require_grad();
  const Value x = autodiff::require_grad(load(context, "x", device));
  const Value g = load(context, "g", device);
  return gradient_runner(device, [=] {
    const Value loss = ops::sum(ops::mul(encoder(parameters, x), g));
    const Gradients gradients = autodiff::backward(loss);
    return std::vector<Value>{gradients.get(x), gradients.get(parameters["ff1_w0"])};
  });
}

void add_mlp(Rows& rows) {
  std::vector<Input> inputs = {normal("x", {128, 784}), ids("y", {128}, 10)};
  add_layer(inputs, "w1", "b1", {512, 784});
  add_layer(inputs, "w2", "b2", {512, 512});
  add_layer(inputs, "w3", "b3", {10, 512});
  const double weights = 784.0 * 512 + 512 * 512 + 512 * 10;
  rows.push_back({.name = "mlp_step",
                  .inputs = inputs,
                  .work = {.flops = 6 * 128 * weights - 2 * 128 * 784.0 * 512,
                           .bytes = 28 * weights,
                           .traffic = Traffic::update},
                  .tolerance = 1e-3,
                  .make = [](const Context& c) { return make_training(c, mlp, load_parameters); }});
}

void add_cnn(Rows& rows) {
  std::vector<Input> inputs = {normal("x", {256, 1, 28, 28}), ids("y", {256}, 10)};
  add_layer(inputs, "c1", "cb1", {64, 1, 3, 3});
  add_layer(inputs, "c2", "cb2", {64, 64, 3, 3});
  add_layer(inputs, "w1", "b1", {128, 1600});
  add_layer(inputs, "w2", "b2", {128, 128});
  add_layer(inputs, "w3", "b3", {10, 128});
  const double first = 2 * 256.0 * 64 * 26 * 26 * 9;
  const double second = 2 * 256.0 * 64 * 11 * 11 * 576;
  const double linear = 2 * 256.0 * (1600 * 128 + 128 * 128 + 128 * 10);
  rows.push_back({.name = "cnn_step",
                  .inputs = inputs,
                  .work = {.flops = 2 * first + 3 * (second + linear)},
                  .peers = {"torch", "torch_nhwc"},
                  .tolerance = 1e-3,
                  .make = [](const Context& c) { return make_training(c, cnn, load_cnn); }});
}

void add_encoder(Rows& rows) {
  std::vector<Input> inputs = {normal("x", {2, 128, 768})};
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    add_layer(inputs, "qkv_w" + n, "qkv_b" + n, {2304, 768});
    add_layer(inputs, "out_w" + n, "out_b" + n, {768, 768});
    add_layer(inputs, "ff1_w" + n, "ff1_b" + n, {3072, 768});
    add_layer(inputs, "ff2_w" + n, "ff2_b" + n, {768, 3072});
  }
  const double weights = 4 * 12.0 * 768 * 768;
  const double flops = 2 * 256 * weights + 4 * 4.0 * 256 * 128 * 768;
  rows.push_back({.name = "encoder_fwd",
                  .inputs = inputs,
                  .work = {.flops = flops, .bytes = 4 * weights, .traffic = Traffic::read},
                  .make = make_encoder_forward});
  inputs.push_back(normal("g", {2, 128, 768}));
  rows.push_back({.name = "encoder_fwdbwd",
                  .inputs = inputs,
                  .work = {.flops = 3 * flops, .bytes = 12 * weights},
                  .tolerance = 1e-3,
                  .make = make_encoder_backward});
}

}  // namespace

void add_training_rows(Rows& rows) {
  add_mlp(rows);
  add_cnn(rows);
  add_encoder(rows);
}

}  // namespace sinter::bench
