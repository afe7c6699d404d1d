// SPDX-License-Identifier: MIT OR Apache-2.0
// Attention and transformers against PyTorch's numbers.
#include "sinter/base/error.hpp"
#include "sinter/nn/golden_test.hpp"
#include "tests/golden/nn_golden.hpp"

namespace sinter::nn {
namespace {

using namespace sinter::testing;

// Rows [from, from + 8) of a PyTorch weight of `rows` rows, as ours: [in, out].
Tensor<2> weight(std::int64_t rows, std::int64_t columns, double phase, std::int64_t from = 0,
                 std::int64_t count = -1) {
  const auto whole = Tensor<2>(wave({rows, columns}, phase, 0.5));
  return whole.narrow(0, from, count < 0 ? rows : count).t().contiguous();
}
Tensor<1> bias(std::int64_t size, double phase, std::int64_t from = 0, std::int64_t count = -1) {
  return Tensor<1>(wave({size}, phase, 0.5)).narrow(0, from, count < 0 ? size : count).contiguous();
}

// Parameters i of nn.MultiheadAttention from phase 0.1 on.
void fill(MultiHeadAttention& m) {
  Linear* parts[] = {&m.query, &m.key, &m.value};
  for (std::int64_t i = 0; i < 3; ++i) {
    parts[i]->weight.set(weight(24, 8, 0.1, 8 * i, 8));
    parts[i]->bias.set(bias(24, 0.2, 8 * i, 8));
  }
  m.output.weight.set(weight(8, 8, 0.3));
  m.output.bias.set(bias(8, 0.4));
}

Tensor<2, Bool> pad_mask() {
  const std::int64_t lengths[] = {5, 3};
  return padding_mask(lengths, train_device());
}

TEST(Golden, multi_head_attention) {
  MultiHeadAttention m{{.d_model = 8, .n_heads = 2, .dropout = 0}, train_device()};
  fill(m);
  const auto x = wave_leaf<3>({2, 5, 8}, 0.1);
  const AttentionMasks masks{.pad = pad_mask(), .causal = true};
  const auto y = m.forward(x, masks);
  const Gradients gradients = square_backward(y);
  expect_near(y, golden::mha_y);
  expect_near(x.grad(gradients), golden::mha_gx, 5e-5);
  expect_near(m.output.weight.grad(gradients)->t().contiguous(), golden::mha_gout, 5e-5);
  const AttentionOutput both = m.forward_with_weights(x, x, x, masks);
  expect_near(both.context, golden::mha_y);
  expect_near(both.weights, golden::mha_weights);
  const AttentionMasks same{.pad = pad_mask(), .attn = causal_mask(5, train_device())};
  expect_near(m.forward(x, same), golden::mha_y);
}

TEST(Golden, transformer_encoder_layer) {
  for (const bool norm_first : {false, true}) {
    TransformerEncoderLayer layer{
        {.d_model = 8, .d_ff = 16, .n_heads = 2, .dropout = 0, .norm_first = norm_first},
        train_device()};
    fill(layer.attention);
    layer.feed_forward.linear_inner.weight.set(weight(16, 8, 0.5));
    layer.feed_forward.linear_inner.bias.set(bias(16, 0.6));
    layer.feed_forward.linear_outer.weight.set(weight(8, 16, 0.7));
    layer.feed_forward.linear_outer.bias.set(bias(8, 0.8));
    layer.norm_1.weight.set(bias(8, 0.9));
    layer.norm_1.bias.set(bias(8, 1.0));
    layer.norm_2.weight.set(bias(8, 1.1));
    layer.norm_2.bias.set(bias(8, 1.2));
    const auto x = wave_leaf<3>({2, 5, 8}, 0.1);
    const auto y = layer.forward(x);
    expect_near(y, norm_first ? golden::encoder_first_y : golden::encoder_last_y);
    expect_near(x.grad(square_backward(y)),
                norm_first ? golden::encoder_first_gx : golden::encoder_last_gx, 5e-5);
  }
}

TEST(Cases, ATT_01_a_row_that_sees_nothing_is_zero) {
  MultiHeadAttention m{{.d_model = 4, .n_heads = 2, .dropout = 0.0, .bias = false}, train_device()};
  const auto x = wave_leaf<3>({1, 2, 4}, 0.1);
  HostData mask({1, 2, 2}, DType::boolean);
  mask.bytes()[0] = mask.bytes()[1] = std::byte{1};
  const AttentionMasks masks{.attn = Tensor<3, Bool>::from_data(mask, train_device())};
  const auto y = m.forward(x, masks);
  expect_near(y.narrow(1, 0, 1), {0, 0, 0, 0}, 0);
  const auto gradient = x.grad(square_backward(y));
  ASSERT_TRUE(gradient);
  EXPECT_TRUE(gradient->is_finite().all().item<bool>());
}

TEST(Cases, GRD_12_every_parameter_upstream_of_a_layer_learns) {
  TransformerEncoder encoder{
      {.d_model = 8, .d_ff = 16, .n_heads = 2, .n_layers = 2, .dropout = 0.1}, train_device()};
  const auto y = encoder.forward(Tensor<3>(wave({2, 5, 8}, 0.1)));
  const ModuleGradients gradients = gradients_of(encoder, square_backward(y));
  const std::vector<NamedParam> params = parameters(encoder);
  EXPECT_EQ(params.size(), 2u * 16);
  EXPECT_EQ(params[0].name, "layers.0.attention.query.weight");
  for (const NamedParam& named : params) {
    const Value gradient = gradients.get(named.name);
    ASSERT_TRUE(gradient) << named.name;
    EXPECT_TRUE(DynTensor(gradient).is_finite().all().item<bool>()) << named.name;
    // A key's bias shifts all scores of a row alike, which softmax forgets.
    if (named.name.find("key.bias") == std::string::npos) {
      EXPECT_GT(DynTensor(gradient).abs().max().item(), 1e-7) << named.name;
    }
  }
}

TEST(Attention, positional_encoding_is_the_paper_s) {
  const PositionalEncoding encoding{{.d_model = 4, .max_sequence_size = 8}, train_device()};
  const auto y = encoding.forward(Tensor<3>::zeros({1, 2, 4}, train_device()));
  expect_near(y, {0, 1, 0, 1, 0.84147098, 0.54030231, 0.00999983, 0.99995000}, 1e-6);
  EXPECT_THROW((void)encoding.forward(Tensor<3>::zeros({1, 9, 4}, train_device())), ShapeError);
  EXPECT_THROW((MultiHeadAttention{{.d_model = 8, .n_heads = 3}}), ArgumentError);
}

}  // namespace
}  // namespace sinter::nn
