// SPDX-License-Identifier: MIT OR Apache-2.0
// Whole training steps: a perceptron, the demo's network, a transformer encoder.
#include <cmath>
#include <memory>

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

void load_linear(nn::Linear& layer, const Context& context, const std::string& weight,
                 const std::string& bias, std::int64_t part = 0, std::int64_t parts = 1) {
  const Device device = layer.weight.device();
  layer.weight.set(Tensor<2>(load_weight(context, weight, device, part, parts)));
  layer.bias.set(Tensor<1>(load_bias(context, bias, device, part, parts)));
}

void load_conv(nn::Conv2d& layer, const Context& context, const std::string& n) {
  layer.weight.set(Tensor<4>(load(context, "c" + n, layer.weight.device())));
  layer.bias.set(Tensor<1>(load(context, "cb" + n, layer.bias.device())));
}

Mlp make_mlp(const Context& context, const Device& device, double) {
  Mlp model = Mlp::make(device);
  load_linear(model.linear1, context, "w1", "b1");
  load_linear(model.linear2, context, "w2", "b2");
  load_linear(model.linear3, context, "w3", "b3");
  return model;
}

Cnn make_cnn(const Context& context, const Device& device, double dropout) {
  Cnn model = Cnn::make(device);
  load_conv(model.conv1, context, "1");
  load_conv(model.conv2, context, "2");
  load_linear(model.linear1, context, "w1", "b1");
  load_linear(model.linear2, context, "w2", "b2");
  load_linear(model.output, context, "w3", "b3");
  model.dropout.config.prob = dropout;
  return model;
}

nn::TransformerEncoder make_encoder(const Context& context, const Device& device) {
  nn::TransformerEncoder model(encoder_config, device);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    nn::TransformerEncoderLayer& layer = model.layers[i];
    const std::string n = std::to_string(i);
    load_linear(layer.attention.query, context, "qkv_w" + n, "qkv_b" + n, 0, 3);
    load_linear(layer.attention.key, context, "qkv_w" + n, "qkv_b" + n, 1, 3);
    load_linear(layer.attention.value, context, "qkv_w" + n, "qkv_b" + n, 2, 3);
    load_linear(layer.attention.output, context, "out_w" + n, "out_b" + n);
    load_linear(layer.feed_forward.linear_inner, context, "ff1_w" + n, "ff1_b" + n);
    load_linear(layer.feed_forward.linear_outer, context, "ff2_w" + n, "ff2_b" + n);
  }
  return model;
}

/// Compares the losses of three steps without dropout; times steps with it.
template <int D, class Model>
Runner make_training(const Context& context,
                     Model (*make)(const Context&, const Device&, double dropout)) {
  const Device device = bench_device(context.options).autodiff();
  const Tensor<D> x(load(context, "x", device));
  const Tensor<1, Int> y(load(context, "y", device));
  const auto trainer = [&](double lr, double dropout) {
    return std::make_shared<Trainer<Model>>(make(context, device, dropout), lr);
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
                  losses.push_back(checked->step(x, y).template item<float>());
                }
                return std::vector<std::vector<float>>{losses};
              }};
}

Runner make_encoder_forward(const Context& context) {
  const Device device = bench_device(context.options);
  const Tensor<3> x(load(context, "x", device));
  return forward_runner(
      device, [x, model = make_encoder(context, device)] { return model.forward(x).value(); });
}

Runner make_encoder_backward(const Context& context) {
  const Device device = bench_device(context.options).autodiff();
  const nn::TransformerEncoder model = make_encoder(context, device);
  const Tensor<3> x = Tensor<3>(load(context, "x", device)).require_grad();
  const Tensor<3> g(load(context, "g", device));
  return gradient_runner(device, [=] {
    const Gradients gradients = (model.forward(x) * g).sum().backward();
    const nn::Linear& inner = model.layers[0].feed_forward.linear_inner;
    return std::vector<Value>{x.grad(gradients)->value(),
                              ops::transpose(inner.weight.grad(gradients)->value())};
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
                  .make = [](const Context& c) { return make_training<2>(c, make_mlp); }});
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
                  .make = [](const Context& c) { return make_training<4>(c, make_cnn); }});
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
