// SPDX-License-Identifier: MIT OR Apache-2.0
// Optimizers against PyTorch's numbers; groups, clipping, state, half precision, accumulation.
#include "sinter/optim/optimizer.hpp"

#include "sinter/base/error.hpp"
#include "sinter/nn/golden_test.hpp"
#include "sinter/nn/record.hpp"
#include "sinter/store/record.hpp"
#include "tests/golden/nn_golden.hpp"

namespace sinter::optim {

struct Weights {
  nn::Param<2> weight;
};
struct Vector {
  nn::Param<1> w;
};

namespace {

using namespace sinter::testing;

// Gradients that are given, as a loss whose gradient is `g`.
template <int D>
Gradients given(const nn::Param<D>& param, const Tensor<D>& g) {
  return (param.tensor() * g).sum().backward();
}
Vector vector_of(const std::vector<double>& values) {
  return {nn::Param<1>(tensor(values, {static_cast<std::int64_t>(values.size())}))};
}
std::vector<double> values(const nn::ParamBase& param) {
  return sinter::detail::read(param.value()).to_doubles();
}

void check_golden(Optimizer&& optim, const std::vector<double>& expected) {
  Weights m{nn::Param<2>(Tensor<2>(wave({2, 3}, 0.2)))};
  for (int step = 0; step < 4; ++step) {
    optim.step(0.1, m, given(m.weight, Tensor<2>(wave({2, 3}, 0.5 + step, step == 2 ? 3 : 1))));
  }
  expect_near(m.weight.tensor(), expected);
  EXPECT_TRUE(autodiff::is_leaf(m.weight.value()));
}

TEST(Golden, optimizers) {
  check_golden(Sgd({.weight_decay = 0.05}), golden::optim_sgd);
  check_golden(Sgd({.momentum = 0.9, .dampening = 0.1, .weight_decay = 0.05}),
               golden::optim_sgd_momentum);
  check_golden(Sgd({.momentum = 0.9, .nesterov = true}), golden::optim_sgd_nesterov);
  check_golden(Adam({.weight_decay = 0.05}), golden::optim_adam);
  check_golden(Adam({.amsgrad = true}), golden::optim_amsgrad);
  check_golden(AdamW({.beta_1 = 0.8, .beta_2 = 0.99, .epsilon = 1e-6, .weight_decay = 0.3}),
               golden::optim_adamw);
}

// PyTorch's loop: beta and 1 - beta are each rounded to f32 once, from double. 1 - 0.999f would be
// off by 1.3e-5.
TEST(Golden, adam_moments_in_single_precision) {
  Vector model = vector_of({0.5});
  Adam adam;
  float m = 0, v = 0;
  for (int step = 1; step <= 100; ++step) {
    const float g = 0.5f + 0.01f * static_cast<float>(step % 7);
    adam.step(1e-3, model, given(model.w, tensor({g}, {1})));
    m += static_cast<float>(1 - 0.9) * (g - m);
    v = v * static_cast<float>(0.999) + static_cast<float>(1 - 0.999) * g * g;
    const store::Record state = adam.state(model);
    EXPECT_NEAR(state.at("w.first").at(0) / m, 1, 2e-6) << step;
    EXPECT_NEAR(state.at("w.second").at(0) / v, 1, 2e-6) << step;
  }
}

TEST(Optimizer, state_of_endless_steps_is_refused) {
  Vector model = vector_of({0.5});
  Adam adam;
  store::Record record;
  record.add("w.step", HostData({}, std::initializer_list<std::int64_t>{INT64_MAX}));
  record.add("w.first", HostData(Shape{1}, DType::f32));
  record.add("w.second", HostData(Shape{1}, DType::f32));
  EXPECT_THROW(adam.load_state(model, record), FormatError);
}

TEST(Cases, OPT_02_adam_corrects_both_biases) {
  Vector m = vector_of({0, 0});
  Adam adam;
  adam.step(0.1, m, given(m.w, tensor({1, -2}, {2})));
  expect_near(m.w.tensor(), {-0.1, 0.1}, 1e-6);
  adam.step(0.1, m, given(m.w, tensor({1, -2}, {2})));
  expect_near(m.w.tensor(), {-0.2, 0.2}, 1e-6);

  Vector n = vector_of({0});
  Adam other;
  other.step(0.1, n, given(n.w, tensor({1}, {1})));
  other.step(0.1, n, given(n.w, tensor({3}, {1})));
  expect_near(n.w.tensor(), {-0.191778}, 1e-5);
}

TEST(Cases, OPT_04_momentum_and_nesterov) {
  for (const bool nesterov : {false, true}) {
    Vector m = vector_of({0});
    Sgd sgd({.momentum = 0.9, .nesterov = nesterov});
    sgd.step(0.1, m, given(m.w, tensor({1}, {1})));
    sgd.step(0.1, m, given(m.w, tensor({1}, {1})));
    expect_near(m.w.tensor(), {nesterov ? -0.461 : -0.29}, 1e-6);
  }
  EXPECT_THROW(Sgd({.nesterov = true}), ArgumentError);
}

TEST(Cases, SER_01_state_survives_a_reload) {
  Vector m = vector_of({0});
  AdamW adam({.weight_decay = 0});
  adam.step(0.1, m, given(m.w, tensor({1}, {1})));
  const store::Record weights = store::Record::from_bytes(nn::state(m).to_bytes());
  const store::Record moments = store::Record::from_bytes(adam.state(m).to_bytes());

  Vector again = vector_of({7});
  AdamW restored({.weight_decay = 0});
  nn::load_state(again, weights);
  restored.load_state(again, moments);
  restored.step(0.1, again, given(again.w, tensor({3}, {1})));
  expect_near(again.w.tensor(), {-0.191778}, 1e-5);

  // Loading the weights alone into the module that an optimizer knows keeps its state.
  nn::load_state(m, weights);
  adam.step(0.1, m, given(m.w, tensor({3}, {1})));
  expect_near(m.w.tensor(), {-0.191778}, 1e-5);

  Sgd sgd({.momentum = 0.9});
  EXPECT_THROW(sgd.load_state(again, moments), FormatError);
}

TEST(Cases, OPT_13_the_norm_is_over_all_parameters) {
  struct Pair {
    nn::Param<1> a, b;
  };
  Pair m{vector_of({0}).w, vector_of({0}).w};
  Sgd sgd({.clipping = {.norm = 1}});
  const auto gradients = (m.a.tensor() * 3 + m.b.tensor() * 4).sum().backward();
  nn::ModuleGradients large = nn::gradients_of(m, gradients);
  clip_by_value(large, 3.5);
  expect_near(sinter::detail::read(large.get("b")), {3.5}, 0);
  sgd.step(1, m, gradients);
  expect_near(m.a.tensor(), {-0.6}, 1e-6);
  expect_near(m.b.tensor(), {-0.8}, 1e-6);

  nn::ModuleGradients zeros = nn::gradients_of(m, (m.a.tensor() * 0).sum().backward());
  EXPECT_EQ(clip_by_global_norm(zeros, 1), 0);
  expect_near(sinter::detail::read(zeros.get("a")), {0}, 0);
  nn::ModuleGradients endless = nn::gradients_of(
      m, (m.a.tensor() * std::numeric_limits<double>::infinity() + m.b.tensor()).sum().backward());
  EXPECT_TRUE(std::isinf(clip_by_global_norm(endless, 1)));
  expect_near(sinter::detail::read(endless.get("a")), {std::nan("")});
}

TEST(Cases, ATT_13_a_norm_of_zero_is_a_limit) {
  Vector m = vector_of({1});
  Sgd sgd({.clipping = {.norm = 0}});
  sgd.step(1, m, given(m.w, tensor({5}, {1})));
  expect_near(m.w.tensor(), {1}, 0);
}

TEST(Cases, OPT_14_groups_skip_weight_decay) {
  nn::Linear layer{{.in = 2, .out = 2, .init = nn::Initializer::ones()}, train_device()};
  AdamW adam({.weight_decay = 0.5});
  adam.add_group(rank_at_most(1), {.weight_decay = 0});
  const auto zeros = (layer.weight.tensor().sum() * 0 + layer.bias.tensor().sum() * 0).backward();
  adam.step(0.1, layer, zeros);
  expect_near(layer.bias.tensor(), {1, 1}, 0);
  expect_near(layer.weight.tensor(), {0.95, 0.95, 0.95, 0.95}, 1e-6);
  Sgd by_name;
  by_name.add_group(name_contains("bias"), {.lr_scale = 0});
  by_name.step(1, layer, (layer.weight.tensor().sum() + layer.bias.tensor().sum()).backward());
  expect_near(layer.bias.tensor(), {1, 1}, 0);
  expect_near(layer.weight.tensor(), {-0.05, -0.05, -0.05, -0.05}, 1e-6);
}

// The loss of a small network after 30 steps.
template <class Net>
double trained(Net& net, Adam& adam, DType dtype) {
  const auto x = Tensor<2>(wave({8, 2}, 0.1)).cast(dtype);
  const auto y = Tensor<2>(wave({8, 1}, 0.9)).cast(dtype);
  for (int step = 0; step < 30; ++step) {
    adam.step(0.02, net, nn::mse_loss(net.forward(x), y).backward());
  }
  return nn::mse_loss(net.forward(x), y).item();
}

TEST(Cases, OPT_16_half_precision_trains_with_f32_state) {
  train_device().seed(2);
  nn::Sequential net{nn::Linear{{.in = 2, .out = 8}, train_device()}, nn::Tanh{},
                     nn::Linear{{.in = 8, .out = 1}, train_device()}};
  nn::Sequential half = nn::to_dtype(net, DType::f16);
  Adam adam({.epsilon = 1e-8});
  Adam half_adam({.epsilon = 1e-8});
  const double single_loss = trained(net, adam, DType::f32);
  EXPECT_NEAR(trained(half, half_adam, DType::f16), single_loss, 0.02);
  EXPECT_EQ(half.get<0>().weight.value().dtype(), DType::f16);
  EXPECT_EQ(half_adam.state(half).at("0.weight.second").dtype(), DType::f32);
}

TEST(Cases, DTY_12_bf16_stays_bf16) {
  Vector m = nn::to_dtype(vector_of({1, 2}), DType::bf16);
  const std::size_t before = nn::state(m).to_bytes().size();
  Adam adam;
  adam.step(0.1, m, m.w.tensor().sum().backward());
  EXPECT_EQ(m.w.value().dtype(), DType::bf16);
  EXPECT_EQ(nn::state(m).to_bytes().size(), before);
  EXPECT_NEAR(values(m.w)[0], 0.9, 0.005);
}

TEST(Cases, OPT_18_four_micro_batches_are_one_batch) {
  const auto x = Tensor<2>(wave({8, 3}, 0.1));
  const auto y = Tensor<2>(wave({8, 2}, 0.7, 5));
  const nn::Linear start{{.in = 3, .out = 2}, train_device()};
  nn::Linear whole = nn::fork(start);
  nn::Linear pieces = nn::fork(start);
  AdamW a({.clipping = {.norm = 0.5}});
  AdamW b({.clipping = {.norm = 0.5}});
  for (int step = 0; step < 3; ++step) {
    a.step(0.1, whole, nn::mse_loss(whole.forward(x), y).backward());
    nn::ModuleGradients sum;
    for (int i = 0; i < 4; ++i) {
      const auto loss = nn::mse_loss(pieces.forward(x.narrow(0, 2 * i, 2)), y.narrow(0, 2 * i, 2));
      sum.accumulate(nn::gradients_of(pieces, loss.backward()));
    }
    sum.scale(0.25);
    b.step(0.1, pieces, sum);
  }
  expect_near(pieces.weight.tensor(), values(whole.weight), 1e-5);
}

TEST(Optimizer, tied_frozen_and_absent_parameters) {
  struct Mixed {
    nn::Param<1> a, same, frozen, unused;
    nn::Buffer<1> buffer;
  };
  Mixed m{vector_of({1}).w, {}, vector_of({1}).w, vector_of({1}).w, {}};
  m.same = m.a;
  m.buffer = nn::Buffer<1>(tensor({1}, {1}));
  m.frozen.set_require_grad(false);
  Sgd sgd;
  sgd.step(0.5, m, (m.a.tensor() + m.same.tensor() + m.frozen.tensor()).sum().backward());
  expect_near(m.same.tensor(), {0}, 1e-6);  // one step with the sum of both uses
  expect_near(m.frozen.tensor(), {1}, 0);
  expect_near(m.unused.tensor(), {1}, 0);
  expect_near(m.buffer.tensor(), {1}, 0);
}

TEST(Optimizer, steps_in_place_unless_somebody_looks) {
  Vector m = vector_of(std::vector<double>(64, 1));
  Adam adam;
  const auto step = [&] { adam.step(0.1, m, given(m.w, Tensor<1>::ones({64}, train_device()))); };
  step();
  const std::size_t before = train_device().memory().in_use;
  step();
  EXPECT_EQ(train_device().memory().in_use, before);
  const Tensor<1> kept = m.w.tensor();
  const std::vector<double> old = kept.to_vector<double>();
  step();
  EXPECT_EQ(kept.to_vector<double>(), old);
  EXPECT_NE(values(m.w), old);
}

TEST(Training, a_small_network_learns_xor) {
  train_device().seed(1);
  nn::Sequential net{nn::Linear{{.in = 2, .out = 16}, train_device()}, nn::Tanh{},
                     nn::Linear{{.in = 16, .out = 2}, train_device()}};
  const auto x = tensor<2>({0, 0, 0, 1, 1, 0, 1, 1}, {4, 2});
  const auto y = integers({0, 1, 1, 0}, {4});
  AdamW optim{{.weight_decay = 0.01}};
  for (int step = 0; step < 150; ++step) {
    optim.step(0.05, net, nn::cross_entropy(net.forward(x), y).backward());
  }
  EXPECT_LT(nn::cross_entropy(nn::valid(net).forward(x.inner()),
                              integers({0, 1, 1, 0}, {4}, plain_device()))
                .item(),
            0.05);
}

}  // namespace
}  // namespace sinter::optim
