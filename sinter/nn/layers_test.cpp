// SPDX-License-Identifier: MIT OR Apache-2.0
// Layers against PyTorch's numbers, and the cases that layers get wrong.
#include "sinter/base/error.hpp"
#include "sinter/nn/golden_test.hpp"
#include "tests/golden/nn_golden.hpp"

namespace sinter::nn {
namespace {

using namespace sinter::testing;

TEST(Golden, linear) {
  Linear layer{{.in = 3, .out = 5}, train_device()};
  layer.weight.set(Tensor<2>(wave({3, 5}, 0.2)));
  layer.bias.set(Tensor<1>(wave({5}, 0.3)));
  const auto x = wave_leaf<2>({2, 3}, 0.1);
  const auto y = layer.forward(x);
  const Gradients gradients = square_backward(y);
  expect_near(y, golden::linear_y);
  expect_near(x.grad(gradients), golden::linear_gx);
  expect_near(layer.weight.grad(gradients), golden::linear_gw);
  expect_near(layer.bias.grad(gradients), golden::linear_gb);
}

TEST(Golden, conv2d) {
  Conv2d layer{{.in = 4,
                .out = 6,
                .kernel = {3, 2},
                .stride = {2, 1},
                .dilation = {1, 2},
                .groups = 2,
                .padding = Padding2d::amounts({1, 2})},
               train_device()};
  layer.weight.set(Tensor<4>(wave({6, 2, 3, 2}, 0.2)));
  layer.bias.set(Tensor<1>(wave({6}, 0.3)));
  const auto y = layer.forward(wave_leaf<4>({2, 4, 5, 6}, 0.1));
  const Gradients gradients = square_backward(y);
  expect_near(y, golden::conv2d_y);
  expect_near(layer.weight.grad(gradients), golden::conv2d_gw);
  expect_near(layer.bias.grad(gradients), golden::conv2d_gb);
}

TEST(Golden, conv1d_same_with_an_even_kernel) {
  Conv1d layer{{.in = 3, .out = 4, .kernel = {4}, .padding = Padding1d::same(), .bias = false},
               train_device()};
  EXPECT_TRUE(layer.bias.empty());
  layer.weight.set(Tensor<3>(wave({4, 3, 4}, 0.2)));
  expect_near(layer.forward(Tensor<3>(wave({2, 3, 7}, 0.1))), golden::conv1d_same_y);
}

TEST(Golden, conv_transpose2d) {
  ConvTranspose2d layer{{.in = 4,
                         .out = 6,
                         .kernel = {3, 3},
                         .stride = {2, 2},
                         .padding = {1, 1},
                         .output_padding = {1, 1},
                         .groups = 2},
                        train_device()};
  layer.weight.set(Tensor<4>(wave({4, 3, 3, 3}, 0.2)));
  layer.bias.set(Tensor<1>(wave({6}, 0.3)));
  const auto y = layer.forward(wave_leaf<4>({2, 4, 3, 3}, 0.1));
  const Gradients gradients = square_backward(y);
  expect_near(y, golden::conv_transpose2d_y);
  expect_near(layer.weight.grad(gradients), golden::conv_transpose2d_gw);
}

TEST(Golden, batch_norm) {
  BatchNorm layer{{.features = 2}, train_device()};
  layer.weight.set(Tensor<1>(wave({2}, 0.5)));
  layer.bias.set(Tensor<1>(wave({2}, 0.6)));
  const auto x = wave_leaf<3>({3, 2, 4}, 0.1);
  const auto y = layer.forward(x);
  const Gradients gradients = square_backward(y);
  expect_near(y, golden::batch_norm_y);
  expect_near(x.grad(gradients), golden::batch_norm_gx);
  expect_near(layer.weight.grad(gradients), golden::batch_norm_gw);
  expect_near(layer.running_mean.tensor(), golden::batch_norm_mean);
  expect_near(layer.running_var.tensor(), golden::batch_norm_var);
  expect_near(valid(layer).forward(x.inner()), golden::batch_norm_eval_y);
}

TEST(Golden, norms) {
  LayerNorm layer{{.features = 8}, train_device()};
  layer.weight.set(Tensor<1>(wave({8}, 0.5)));
  layer.bias.set(Tensor<1>(wave({8}, 0.6)));
  const auto x = wave_leaf<2>({3, 8}, 0.1);
  const auto y = layer.forward(x);
  const Gradients gradients = square_backward(y);
  expect_near(y, golden::layer_norm_y);
  expect_near(x.grad(gradients), golden::layer_norm_gx);
  expect_near(layer.weight.grad(gradients), golden::layer_norm_gw);

  RmsNorm rms{{.features = 8}, train_device()};
  rms.weight.set(Tensor<1>(wave({8}, 0.5)));
  expect_near(rms.forward(x), golden::rms_norm_y);

  const auto images = Tensor<3>(wave({2, 4, 3}, 0.1));
  GroupNorm group{{.groups = 2, .channels = 4}, train_device()};
  group.weight.set(Tensor<1>(wave({4}, 0.5)));
  group.bias.set(Tensor<1>(wave({4}, 0.6)));
  expect_near(group.forward(images), golden::group_norm_y);
  InstanceNorm instance{{.channels = 4}, train_device()};
  instance.weight.set(Tensor<1>(wave({4}, 0.5)));
  instance.bias.set(Tensor<1>(wave({4}, 0.6)));
  expect_near(instance.forward(images), golden::instance_norm_y);
}

// PyTorch keeps a recurrent weight as [gates * hidden, in], and fills parameter i with
// 0.5 wave(0.1 (i + 1)).
template <class Layer>
void fill_recurrent(Layer& layer, std::int64_t gates) {
  const auto transposed = [](const Shape& shape, double phase) {
    return Tensor<2>(wave(shape, phase, 0.5)).t().contiguous();
  };
  layer.weight_input.set(transposed({4 * gates, 3}, 0.1));
  layer.weight_hidden.set(transposed({4 * gates, 4}, 0.2));
  layer.bias_input.set(Tensor<1>(wave({4 * gates}, 0.3, 0.5)));
  layer.bias_hidden.set(Tensor<1>(wave({4 * gates}, 0.4, 0.5)));
}
template <class Layer>
void check_recurrent(const Layer& layer, const std::vector<double>& y,
                     const std::vector<double>& gx, const std::vector<double>& gu) {
  const auto x = wave_leaf<3>({2, 5, 3}, 0.1);
  const auto out = layer.forward(x);
  const Gradients gradients = square_backward(out.outputs);
  expect_near(out.outputs, y);
  expect_near(x.grad(gradients), gx);
  expect_near(layer.weight_hidden.grad(gradients)->t().contiguous(), gu);
}

TEST(Golden, recurrent) {
  Lstm lstm{{.in = 3, .hidden = 4}, train_device()};
  fill_recurrent(lstm, 4);
  check_recurrent(lstm, golden::lstm_y, golden::lstm_gx, golden::lstm_gu);
  Gru gru{{.in = 3, .hidden = 4}, train_device()};
  fill_recurrent(gru, 3);
  check_recurrent(gru, golden::gru_y, golden::gru_gx, golden::gru_gu);
  Rnn rnn{{.in = 3, .hidden = 4}, train_device()};
  fill_recurrent(rnn, 1);
  check_recurrent(rnn, golden::rnn_y, golden::rnn_gx, golden::rnn_gu);
}

TEST(Recurrent, a_reversed_layer_is_the_layer_on_reversed_input) {
  Gru gru{{.in = 3, .hidden = 4, .reset_after = false}, train_device()};
  const auto x = Tensor<3>(wave({2, 5, 3}, 0.1));
  Gru reversed = gru;
  reversed.reverse = true;
  const auto expected = gru.forward(x.flip({1}).contiguous()).outputs.flip({1});
  expect_near(reversed.forward(x).outputs, expected.to_vector<double>());
  EXPECT_THROW((void)gru.forward(Tensor<3>(wave({2, 5, 4}, 0.1))), ShapeError);
}

TEST(Golden, activations) {
  const auto x = Tensor<1>(wave({12}, 0.3, 4));
  expect_near(Relu{}.forward(x), golden::act_relu);
  expect_near(Gelu{}.forward(x), golden::act_gelu);
  expect_near(GeluApproximate{}.forward(x), golden::act_gelu_tanh);
  expect_near(Silu{}.forward(x), golden::act_silu);
  expect_near(Mish{}.forward(x), golden::act_mish);
  expect_near(Selu{}.forward(x), golden::act_selu);
  expect_near(HardSwish{}.forward(x), golden::act_hard_swish);
  expect_near(LogSigmoid{}.forward(x), golden::act_log_sigmoid);
  expect_near(Softplus{.beta = 2}.forward(x), golden::act_softplus);
  expect_near(LeakyRelu{.slope = 0.2}.forward(x), golden::act_leaky_relu);
  expect_near(Elu{.alpha = 0.7}.forward(x), golden::act_elu);
  expect_near(Celu{.alpha = 0.7}.forward(x), golden::act_celu);
  expect_near(HardSigmoid{}.forward(x), golden::act_hard_sigmoid);
  expect_near(HardShrink{.lambda = 0.7}.forward(x), golden::act_hard_shrink);
  expect_near(SoftShrink{.lambda = 0.7}.forward(x), golden::act_soft_shrink);
  expect_near(Tanhshrink{}.forward(x), golden::act_tanhshrink);
  expect_near(Hardtanh{}.forward(x), golden::act_hardtanh);
  expect_near(Relu6{}.forward(x), golden::act_relu6);
  expect_near(Glu{}.forward(x), golden::act_glu);
  expect_near(Threshold{.threshold = 0.5, .value = -1}.forward(x), golden::act_threshold);
  PRelu prelu{{.slope = 0.2}, train_device()};
  expect_near(prelu.forward(x), golden::act_leaky_relu);
}

TEST(Cases, ATT_09_batch_norm_running_statistics) {
  BatchNorm layer{{.features = 1}, train_device()};
  const auto x = tensor<2>({1, 2, 3, 4}, {4, 1});
  expect_near(layer.forward(x), {-1.341635, -0.447212, 0.447212, 1.341635}, 1e-5);
  expect_near(layer.running_mean.tensor(), {0.25}, 1e-6);
  expect_near(layer.running_var.tensor(), {1.0666667}, 1e-6);
  EXPECT_THROW((void)layer.forward(tensor<2>({1}, {1, 1})), ShapeError);
  expect_near(valid(layer).forward(tensor<2>({0.25}, {1, 1}, plain_device())), {0}, 1e-6);
}

TEST(Cases, ATT_08_the_epsilon_is_inside_the_root) {
  LayerNorm layer{{.features = 2}, train_device()};
  expect_near(layer.forward(tensor<2>({0, 0.002}, {1, 2})), {-0.301511, 0.301511}, 1e-5);
}

TEST(Cases, ATT_12_fans) {
  const Conv1d layer{{.in = 4, .out = 8, .kernel = {3}}, train_device()};
  const Fans fans = conv_fans(layer.weight.shape());
  EXPECT_EQ(fans.in, 12);
  EXPECT_EQ(fans.out, 24);
  const auto drawn =
      Tensor<3>(initialize(Initializer::xavier_uniform(), {8, 4, 3}, fans, {7, 0}, plain_device()));
  const double bound = std::sqrt(6.0 / 36);
  EXPECT_LE(drawn.abs().max().item(), bound);
  EXPECT_GT(drawn.abs().max().item(), 0.9 * bound);
  EXPECT_EQ(linear_fans({3, 5}).in, 3);
  EXPECT_THROW((void)conv_fans({4}), ShapeError);
}

TEST(Cases, ATT_13_options_of_zero_are_zeros) {
  const Dropout none{{.prob = 0}};
  const auto x = Tensor<1>(wave({6}, 0.1));
  expect_near(none.forward(x), x.to_vector<double>(), 0);
  BatchNorm still{{.features = 1, .momentum = 0}, train_device()};
  (void)still.forward(tensor<2>({1, 2, 3, 4}, {4, 1}));
  expect_near(still.running_mean.tensor(), {0}, 0);
  expect_near(LeakyRelu{.slope = 0}.forward(tensor({-2}, {1})), {0}, 0);
  Linear no_bias{{.in = 2, .out = 2, .bias = false}, train_device()};
  EXPECT_EQ(parameters(no_bias).size(), 1u);
}

TEST(Cases, ATT_16_group_norm_checks_the_rank) {
  const GroupNorm layer{{.groups = 1, .channels = 2}, train_device()};
  EXPECT_NO_THROW((void)layer.forward(tensor<3>({1, 3}, {1, 2, 1})));
  try {
    (void)layer.forward(tensor<2>({1, 3}, {1, 2}));
    FAIL() << "rank 2 was accepted";
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("rank 2"), std::string::npos) << error.what();
  }
}

TEST(Layers, dropout_trains_on_autodiff_devices_only) {
  const Dropout layer{{.prob = 0.5}};
  train_device().seed(3);
  const auto x = Tensor<1>::ones({1000}, train_device());
  const std::vector<double> y = layer.forward(x).to_vector<double>();
  std::size_t zeros = 0;
  for (double value : y) {
    EXPECT_TRUE(value == 0 || value == 2);
    zeros += value == 0;
  }
  EXPECT_NEAR(static_cast<double>(zeros), 500, 80);
  expect_near(layer.forward(x.inner()), std::vector<double>(1000, 1), 0);
  EXPECT_THROW((void)Dropout{{.prob = 1.5}}.forward(x), ArgumentError);
}

TEST(Layers, embedding_picks_rows) {
  Embedding layer{{.n_embedding = 4, .d_model = 2}, train_device()};
  layer.weight.set(tensor<2>({0, 1, 10, 11, 20, 21, 30, 31}, {4, 2}));
  const Tensor<3> y = layer.forward(integers<2>({3, 0, 3, 1}, {2, 2}));
  expect_near(y, {30, 31, 0, 1, 30, 31, 10, 11}, 0);
  expect_near(layer.weight.grad(y.sum().backward()), {1, 1, 1, 1, 0, 0, 2, 2}, 0);
}

TEST(Layers, pools) {
  const auto x = tensor<4>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, {1, 1, 4, 4});
  expect_near(MaxPool2d{}.forward(x), {6, 8, 14, 16}, 0);
  expect_near(MaxPool2d{{.kernel = {3, 3}, .stride = {{1, 1}}}}.forward(x), {11, 12, 15, 16}, 0);
  expect_near(AvgPool2d{}.forward(x), {3.5, 5.5, 11.5, 13.5}, 1e-6);
  expect_near(AdaptiveAvgPool2d{}.forward(x), {8.5}, 1e-6);
  expect_near(AdaptiveMaxPool2d{{.size = {3, 1}}}.forward(x), {8, 12, 16}, 0);
}

TEST(Layers, wrong_shapes_and_sizes_name_the_layer) {
  const Linear layer{{.in = 3, .out = 2}, train_device()};
  try {
    (void)layer.forward(Tensor<2>(wave({2, 4}, 0)));
    FAIL() << "4 features were accepted";
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("Linear: expected an input [..., 3], got [2, 4]"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW((Linear{{.in = 0, .out = 2}}), ArgumentError);
  EXPECT_THROW((Conv2d{{.in = 3, .out = 4, .groups = 2}}), ArgumentError);
  EXPECT_THROW((GroupNorm{{.groups = 3, .channels = 4}}), ArgumentError);
  EXPECT_THROW((void)Linear().forward(Tensor<2>(wave({2, 4}, 0))), ArgumentError);
}

TEST(Initializers, have_their_moments_and_bounds) {
  const auto draw = [](const Initializer& init, const Shape& shape = {100, 100}) {
    return Tensor<2>(initialize(init, shape, linear_fans(shape), {11, 5}, plain_device()));
  };
  const auto std_of = [](const Tensor<2>& x) { return std::sqrt((x * x).mean().item()); };
  EXPECT_NEAR(std_of(draw(Initializer::kaiming_normal())), std::sqrt(2.0 / 100), 0.005);
  EXPECT_NEAR(std_of(draw(Initializer::xavier_normal(2))), 2 * std::sqrt(2.0 / 200), 0.01);
  EXPECT_NEAR(std_of(draw(Initializer::kaiming_normal(1, true), {50, 200})), std::sqrt(1.0 / 200),
              0.003);
  EXPECT_LE(draw(Initializer::fan_in_uniform()).abs().max().item(), 0.1 + 1e-6);
  const auto cut = draw(Initializer::truncated_normal(0, 1, -0.5, 1));
  EXPECT_GE(cut.min().item(), -0.5);
  EXPECT_LE(cut.max().item(), 1);
  EXPECT_NEAR(cut.mean().item(), 0.2060, 0.01);  // (pdf(-0.5) - pdf(1)) / (cdf(1) - cdf(-0.5))
  const auto tall = draw(Initializer::orthogonal(2), {6, 4});
  const auto product = tall.t().matmul(tall);
  expect_near(product, {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4}, 1e-5);
}

}  // namespace
}  // namespace sinter::nn
