// SPDX-License-Identifier: MIT OR Apache-2.0
// sinter/nn: every layer, loss and function on modules, with what it gives.
#include "expect.hpp"

#include <sinter/nn/config_json.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;
using F1 = Tensor<1>;
using F2 = Tensor<2>;
using F3 = Tensor<3>;
using F4 = Tensor<4>;
using I1 = Tensor<1, Int>;

struct Net {
  nn::Linear hidden;
  nn::Relu act = {};
  nn::Linear out;
  nn::Buffer<1> scale;
  F2 forward(const F2& x) const { return out.forward(act.forward(hidden.forward(x))); }
};

static Net make_net(const Device& device) {
  return {.hidden = nn::Linear{{.in = 2, .out = 3}, device},
          .out = nn::Linear{{.in = 3, .out = 1, .init = nn::Initializer::ones()}, device},
          .scale = nn::Buffer<1>(F1::ones({1}, device))};
}

static void linear_and_plain_layers() {
  const F2 x = F2::from({{1, 2}});
  nn::Linear linear{{.in = 2, .out = 1, .bias = false}};
  linear.weight.set(F2::from({{3}, {4}}));
  EXPECT(holds(linear.forward(x), {11}));
  nn::Embedding embedding{{.n_embedding = 5, .d_model = 3}};
  EXPECT(embedding.forward(I1::from({4, 0})).shape() == Shape{2, 3});
  EXPECT(holds(nn::Dropout{{.prob = 0.5}}.forward(x), {1, 2}));  // evaluates: no autodiff
  EXPECT(holds(nn::GaussianNoise{{.std = 1}}.forward(x), {1, 2}));
  EXPECT(nn::Flatten{}.forward(F3::ones({2, 3, 4})).shape() == Shape{2, 12});
  EXPECT(holds(nn::Identity{}.forward(x), {1, 2}) && !nn::is_training(x.value()));
  const nn::Sequential net{nn::Linear{{.in = 2, .out = 4}}, nn::Tanh{},
                           nn::Linear{{.in = 4, .out = 3}}};
  EXPECT(net.forward(x).size(1) == 3 && net.size() == 3 && net.get<0>().weight.shape()[1] == 4);
}

static void convolutions_and_pools() {
  const F4 image = F1::arange(16).reshape<4>({1, 1, 4, 4});
  const F3 line = F1::arange(6).reshape<3>({1, 1, 6});
  EXPECT(nn::Conv1d{{.in = 1, .out = 2, .kernel = {3}}}.forward(line).shape() == Shape{1, 2, 4});
  nn::Conv2d conv{{.in = 1, .out = 2, .padding = nn::Padding<2>::same()}};
  EXPECT(conv.forward(image).shape() == Shape{1, 2, 4, 4});
  const auto volume = image.unsqueeze(2);
  nn::Conv3d deep{{.in = 1, .out = 1, .kernel = {1, 2, 2}}};
  EXPECT(deep.forward(volume).shape() == Shape{1, 1, 1, 3, 3});
  nn::ConvTranspose1d up1{{.in = 1, .out = 1, .kernel = {2}, .stride = {2}}};
  nn::ConvTranspose2d up2{{.in = 1, .out = 1, .kernel = {2, 2}, .stride = {2, 2}}};
  nn::ConvTranspose3d up3{{.in = 1, .out = 1, .kernel = {1, 2, 2}, .stride = {1, 2, 2}}};
  EXPECT(up1.forward(line).size(2) == 12 && up2.forward(image).size(3) == 8);
  EXPECT(up3.forward(volume).size(4) == 8);
  EXPECT(holds(nn::MaxPool1d{}.forward(line), {1, 3, 5}));
  EXPECT(holds(nn::MaxPool2d{}.forward(image), {5, 7, 13, 15}));
  EXPECT(holds(nn::AvgPool1d{}.forward(line), {0.5, 2.5, 4.5}));
  EXPECT(holds(nn::AvgPool2d{}.forward(image), {2.5, 4.5, 10.5, 12.5}));
  EXPECT(holds(nn::AdaptiveAvgPool1d{{.size = {2}}}.forward(line), {1, 4}));
  EXPECT(holds(nn::AdaptiveAvgPool2d{}.forward(image), {7.5}));
  EXPECT(holds(nn::AdaptiveMaxPool1d{{.size = {2}}}.forward(line), {2, 5}));
  EXPECT(holds(nn::AdaptiveMaxPool2d{}.forward(image), {15}));
}

static void norms() {
  const F2 x = F2::from({{-1, 1}});
  EXPECT(holds(nn::BatchNorm{{.features = 2}}.forward(x), {-1, 1}));
  EXPECT(holds(nn::LayerNorm{{.features = 2}}.forward(x), {-1, 1}));
  EXPECT(holds(nn::RmsNorm{{.features = 2}}.forward(x), {-1, 1}));
  EXPECT(holds(nn::GroupNorm{{.groups = 1, .channels = 2}}.forward(x.unsqueeze(2)), {-1, 1}));
  EXPECT(holds(nn::InstanceNorm{{.channels = 1}}.forward(x.unsqueeze(1)), {-1, 1}));
}

static void activations() {
  const F1 x = F1::from({-2, 2});
  EXPECT(holds(nn::Relu{}.forward(x), {0, 2}) && holds(nn::Relu6{}.forward(x * 4), {0, 6}));
  EXPECT(holds(nn::Sigmoid{}.forward(x), {0.119203, 0.880797}));
  EXPECT(holds(nn::LogSigmoid{}.forward(x), {-2.126928, -0.126928}));
  EXPECT(holds(nn::Tanh{}.forward(x), {-0.964028, 0.964028}));
  EXPECT(holds(nn::Silu{}.forward(x), {-0.238406, 1.761594}));
  EXPECT(holds(nn::Gelu{}.forward(x), {-0.045500, 1.954500}));
  EXPECT(holds(nn::GeluApproximate{}.forward(x), {-0.045402, 1.954598}));
  EXPECT(holds(nn::Mish{}.forward(x), {-0.252501, 1.943959}));
  EXPECT(holds(nn::Softsign{}.forward(x), {-0.666667, 0.666667}));
  EXPECT(holds(nn::Selu{}.forward(x), {-1.520166, 2.101402}));
  EXPECT(holds(nn::HardSwish{}.forward(x), {-0.333333, 1.666667}));
  EXPECT(holds(nn::Softplus{}.forward(x), {0.126928, 2.126928}));
  EXPECT(holds(nn::LeakyRelu{.slope = 0.1}.forward(x), {-0.2, 2}));
  EXPECT(holds(nn::Elu{}.forward(x), {-0.864665, 2}) &&
         holds(nn::Celu{}.forward(x), {-0.864665, 2}));
  EXPECT(holds(nn::HardSigmoid{}.forward(x), {1.0 / 6, 5.0 / 6}));
  EXPECT(holds(nn::Threshold{.threshold = 1, .value = 7}.forward(x), {7, 2}));
  EXPECT(holds(nn::HardShrink{}.forward(x), {-2, 2}) &&
         holds(nn::SoftShrink{}.forward(x), {-1.5, 1.5}));
  EXPECT(holds(nn::Tanhshrink{}.forward(x), {-1.035972, 1.035972}));
  EXPECT(holds(nn::Hardtanh{}.forward(x), {-1, 1}) && holds(nn::Glu{}.forward(x), {-1.761594}));
  EXPECT(holds(nn::Softmax{}.forward(x), {0.017986, 0.982014}));
  EXPECT(holds(nn::LogSoftmax{}.forward(x), {-4.018150, -0.018150}));
  EXPECT(holds(nn::PRelu{{.slope = 0.5}}.forward(x), {-1, 2}));
}

static void sequences() {
  const F3 x = F3::ones({2, 3, 4});
  const auto [outputs, hidden] = nn::Rnn{{.in = 4, .hidden = 5}}.forward(x);
  EXPECT(outputs.shape() == Shape{2, 3, 5} && hidden.shape() == Shape{2, 5});
  EXPECT(nn::Gru{{.in = 4, .hidden = 5}}.forward(x).outputs.size(2) == 5);
  EXPECT(nn::Lstm{{.in = 4, .hidden = 5}}.forward(x).outputs.size(2) == 5);
  nn::MultiHeadAttention attention{{.d_model = 4, .n_heads = 2}};
  EXPECT(attention.forward(x, {.causal = true}).shape() == x.shape());
  EXPECT(attention.forward_with_weights(x, x, x).weights.shape() == Shape{2, 2, 3, 3});
  EXPECT(nn::PositionWiseFeedForward{{.d_model = 4, .d_ff = 8}}.forward(x).size(2) == 4);
  const nn::TransformerEncoderConfig config{.d_model = 4, .d_ff = 8, .n_heads = 2, .n_layers = 2};
  EXPECT(nn::TransformerEncoder{config}.forward(x).shape() == x.shape());
  EXPECT(nn::PositionalEncoding{{.d_model = 4}}.forward(x).shape() == x.shape());
}

static void losses() {
  const F2 logits = F2::from({{-1, 1}});
  const I1 target = I1::from({1});
  EXPECT(near(nn::CrossEntropyLoss{}.forward(logits, target).item(), 0.126928));
  EXPECT(near(nn::cross_entropy(logits, target).item(), 0.126928));
  const F1 x = F1::from({0.5}), y = F1::from({1});
  EXPECT(near(nn::MseLoss{}.forward(x, y).item(), 0.25) && near(nn::mse_loss(x, y).item(), 0.25));
  EXPECT(near(nn::L1Loss{}.forward(x, y).item(), 0.5) && near(nn::l1_loss(x, y).item(), 0.5));
  EXPECT(near(nn::SmoothL1Loss{}.forward(x, y).item(), 0.125));
  EXPECT(near(nn::HuberLoss{}.forward(x, y).item(), 0.125) &&
         near(nn::huber_loss(x, y).item(), 0.125));
  EXPECT(near(nn::BceLoss{}.forward(x, y).item(), 0.693147) &&
         near(nn::bce_loss(x, y).item(), 0.693147));
  EXPECT(near(nn::BceWithLogitsLoss{}.forward(x, y).item(), 0.474077));
  EXPECT(near(nn::bce_with_logits_loss(x, y).item(), 0.474077));
  EXPECT(near(nn::KlDivLoss{}.forward(x.log(), y).item(), 0.693147));
}

static void initializers() {
  const auto drawn = [](const nn::Initializer& init) {
    nn::Linear layer{{.in = 64, .out = 64, .bias = false, .init = init}};
    return layer.weight.tensor();
  };
  EXPECT(drawn(nn::Initializer::constant(2)).mean().item() == 2);
  EXPECT(drawn(nn::Initializer::zeros()).sum().item() == 0);
  EXPECT(drawn(nn::Initializer::ones()).mean().item() == 1);
  EXPECT(drawn(nn::Initializer::uniform(2, 3)).min().item() >= 2);
  EXPECT(std::abs(drawn(nn::Initializer::normal(5, 1)).mean().item() - 5) < 0.2);
  EXPECT(drawn(nn::Initializer::truncated_normal()).max().item() <= 2);
  EXPECT(drawn(nn::Initializer::xavier_uniform()).max().item() <= std::sqrt(6.0 / 128));
  EXPECT(drawn(nn::Initializer::xavier_normal()).std(all, 0).item() < 0.2);
  EXPECT(drawn(nn::Initializer::kaiming_uniform()).max().item() <= std::sqrt(6.0 / 64));
  EXPECT(drawn(nn::Initializer::kaiming_normal()).std(all, 0).item() < 0.3);
  EXPECT(drawn(nn::Initializer::fan_in_uniform()).max().item() <= 0.125);
  const F2 q = drawn(nn::Initializer::orthogonal());
  EXPECT(q.t().matmul(q).all_close(F2::eye(64), 1e-3, 1e-4));
  EXPECT(nn::linear_fans({3, 5}).in == 3 && nn::conv_fans({8, 4, 3}).in == 12);
}

static void modules() {
  const Device device = Device().autodiff();
  Net net = make_net(device);
  EXPECT(nn::parameters(net).size() == 4 && nn::parameters(net)[0].name == "hidden.weight");
  EXPECT(nn::state_entries(net).size() == 5 && nn::num_params(net) == 13);
  EXPECT(nn::str(net).find("hidden: Linear") != std::string::npos);
  const Net copy = net, other = nn::fork(net);
  EXPECT(copy.hidden.weight == net.hidden.weight && !(other.hidden.weight == net.hidden.weight));
  const Net valid = nn::valid(net);
  EXPECT(valid.hidden.weight.device() == Device());
  EXPECT(nn::to_device(valid, Device::reference()).out.weight.device() == Device::reference());
  EXPECT(nn::to_dtype(valid, DType::f64).out.weight.dtype() == DType::f64);
  const Net doubled = nn::map(valid, [](const std::string&, const DynTensor& x) { return x * 2; });
  EXPECT(near(doubled.out.weight.tensor().sum().item(), 6));
  EXPECT(!nn::no_grad(net).out.weight.is_require_grad());
  nn::freeze(net, [](const nn::NamedParam& param) { return param.name.starts_with("hidden"); });
  EXPECT(!net.hidden.weight.is_require_grad() && net.out.weight.is_require_grad());
  nn::unfreeze(net);
  nn::freeze(net);
  nn::unfreeze(net);
  const Gradients grads = net.forward(F2::ones({1, 2}, device)).sum().backward();
  EXPECT(net.out.bias.grad(grads)->item() == 1);
  nn::ModuleGradients sum = nn::gradients_of(net, grads);
  sum.accumulate(nn::gradients_of(net, grads));
  sum.scale(0.5);
  EXPECT(near(F1(sum.get("out.bias")).item(), 1) && sum.entries().size() == 4);
  net.scale.update([](const F1& old) { return old * 3; });
  EXPECT(net.scale.tensor().item() == 3 && net.scale.is_buffer());
}

static void configs_and_visits() {
  const std::string text = nn::config_to_json(nn::LinearConfig{.in = 3, .out = 4});
  EXPECT(nn::config_from_json<nn::LinearConfig>(text).out == 4);
  const Net net = make_net(Device());
  std::string names;
  nn::visit(net, "net", [&](const std::string& path, const auto&) { names += path + ' '; });
  EXPECT(names.find("net.hidden.weight ") != std::string::npos);
  nn::Param<2> param({.shape = {2, 2}, .initializer = nn::Initializer::ones()});
  EXPECT(!param.initialized() && holds(param.tensor(), {1, 1, 1, 1}) && param.initialized());
  param.set(F2::zeros({2, 2}));
  EXPECT(param.tensor().sum().item() == 0 && param.shape() == Shape{2, 2} && param.id() != 0);
}

int main() {
  configs_and_visits();
  linear_and_plain_layers();
  convolutions_and_pools();
  norms();
  activations();
  sequences();
  losses();
  initializers();
  modules();
  return wrong == 0 ? 0 : 1;
}
