// SPDX-License-Identifier: MIT OR Apache-2.0
// Losses against PyTorch's numbers, and the inputs that break them.
#include "sinter/base/error.hpp"
#include "sinter/nn/golden_test.hpp"
#include "tests/golden/nn_golden.hpp"

namespace sinter::nn {
namespace {

using namespace sinter::testing;

TEST(Golden, cross_entropy) {
  const auto x = wave_leaf<2>({4, 3}, 0.1);
  const auto targets = integers({0, 2, -100, 1}, {4});
  const CrossEntropyLoss loss({.label_smoothing = 0.1}, tensor({0.5, 1, 2}, {3}));
  const auto y = loss.forward(x, targets);
  expect_near(y, golden::cross_entropy);
  expect_near(x.grad(y.backward()), golden::cross_entropy_gx);
  expect_near(CrossEntropyLoss({.reduction = Reduction::sum}).forward(x, targets),
              golden::cross_entropy_sum);
}

TEST(Golden, losses) {
  const auto b = Tensor<2>(wave({3, 4}, 1.7, 2));
  const auto check = [&](const auto& loss, const std::vector<double>& value,
                         const std::vector<double>& gradient) {
    const auto a = wave_leaf<2>({3, 4}, 0.1);
    const auto y = loss.forward(a, b);
    expect_near(y, value);
    expect_near(a.grad(y.backward()), gradient);
    EXPECT_EQ(loss.forward_no_reduction(a, b).shape(), a.shape());
  };
  check(MseLoss{}, golden::mse, golden::mse_gx);
  check(L1Loss{}, golden::l1, golden::l1_gx);
  check(HuberLoss{.delta = 0.7}, golden::huber, golden::huber_gx);
  check(SmoothL1Loss{.beta = 0.7}, golden::smooth_l1, golden::smooth_l1_gx);
  const auto a = Tensor<2>(wave({3, 4}, 0.1));
  const auto target = Tensor<2>(wave({3, 4}, 2.0, 0.5, 0.5));
  expect_near(BceWithLogitsLoss{}.forward(a, target), golden::bce_logits);
  expect_near(BceLoss{}.forward((a + 1) / 2, target), golden::bce);
  expect_near(KlDivLoss{}.forward(LogSoftmax{1}.forward(a), Softmax{1}.forward(b)), golden::kl_div);
}

TEST(Cases, OPT_05_binary_cross_entropy_at_the_ends) {
  const BceLoss loss{};
  const auto p = tensor({0, 1}, {2}).require_grad();
  expect_near(loss.forward_no_reduction(p, tensor({1, 1}, {2})), {100, 0}, 1e-6);
  const auto gradient = p.grad(loss.forward(p, tensor({1, 1}, {2})).backward());
  ASSERT_TRUE(gradient);
  EXPECT_FALSE(gradient->is_nan().any().item<bool>());
  const auto logits = tensor({1000, -1000}, {2});
  expect_near(BceWithLogitsLoss{}.forward_no_reduction(logits, tensor({0, 0}, {2})), {1000, 0}, 0);
}

TEST(Cases, OPT_06_probabilities_are_not_normalised_again) {
  const CrossEntropyLoss loss({.logits = false});
  expect_near(loss.forward(tensor<2>({0.7, 0.2, 0.1}, {1, 3}), integers({0}, {1})), {0.356675},
              1e-6);
}

TEST(Cases, OPT_08_all_targets_ignored) {
  const auto targets = integers({-100, -100}, {2});
  const auto x = wave_leaf<2>({2, 3}, 0.1);
  const auto y = cross_entropy(x, targets);
  expect_near(y, {std::nan("")});
  expect_near(x.grad(y.backward()), {0, 0, 0, 0, 0, 0}, 0);
  expect_near(cross_entropy(x, targets, {.zero_if_empty = true}), {0}, 0);
  expect_near(cross_entropy(x, targets, {.reduction = Reduction::sum}), {0}, 0);
}

TEST(Cases, OPT_09_targets_outside_the_classes) {
  const auto x = Tensor<2>(wave({2, 3}, 0.1));
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    const CrossEntropyLoss loss({.ignore_index = 255, .reduction = reduction});
    EXPECT_THROW((void)loss.forward(x, integers({0, 3}, {2})).item(), IndexError);
    EXPECT_THROW((void)loss.forward(x, integers({-4, 0}, {2})).item(), IndexError);
    EXPECT_THROW((void)loss.forward_no_reduction(x, integers({-4, 0}, {2})).to_data(), IndexError);
    const auto alone = loss.forward(x.narrow(0, 0, 1), integers({1}, {1}));
    expect_near(loss.forward(x, integers({1, 255}, {2})), alone.to_vector<double>());
  }
}

TEST(Cases, OPT_10_large_logits) {
  const auto x = tensor<2>({1000, 0}, {1, 2}).require_grad();
  const auto y = cross_entropy(x, integers({1}, {1}));
  expect_near(y, {1000}, 0);
  expect_near(x.grad(y.backward()), {1, -1}, 1e-6);
}

TEST(Cases, OPT_12_classes_are_dim_1) {
  const auto images = Tensor<4>(wave({2, 3, 2, 2}, 0.1));
  const auto targets = integers<3>({0, 1, 2, 0, 1, 1, 0, 2}, {2, 2, 2});
  expect_near(cross_entropy(images, targets), golden::cross_entropy_2d);
}

TEST(Losses, a_target_of_another_shape_is_refused) {
  EXPECT_THROW((void)mse_loss(Tensor<2>(wave({3, 1}, 0)), Tensor<2>(wave({1, 3}, 0))), ShapeError);
}

}  // namespace
}  // namespace sinter::nn
