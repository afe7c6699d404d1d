// SPDX-License-Identifier: MIT OR Apache-2.0
// Softmax and losses against numbers worked out by hand.
#include "sinter/ops/loss/loss.hpp"

#include "sinter/backend/nn_test.hpp"
#include "sinter/ops/softmax/softmax.hpp"

namespace sinter {
namespace {

constexpr double inf = INFINITY;
constexpr double nan = NAN;

class LossCases : public testing::OnHostBackends {
 protected:
  Value targets(const Shape& shape, const std::vector<double>& values) {
    return tensor(shape, values, DType::i64);
  }
};
SINTER_ON_HOST_BACKENDS(LossCases);

TEST_P(LossCases, RED_10_logsumexp) {
  expect(ops::logsumexp(vector({1000, 1000})), {1000.693147}, 1e-7);
  expect(ops::logsumexp(vector({-1000, -1000})), {-999.306853}, 1e-7);
  expect(ops::logsumexp(vector({-inf, -inf})), {-inf});
  expect(ops::logsumexp(vector({inf, 1})), {inf});
  expect(ops::logsumexp(filled({2, 0}, 0), {1}), {-inf, -inf});
  EXPECT_EQ(ops::logsumexp(filled({0, 2}, 0), {1}).shape(), (Shape{0}));
  EXPECT_EQ(ops::logsumexp(filled({2, 3, 4}, 0), {1}, true).shape(), (Shape{2, 1, 4}));
  EXPECT_EQ(ops::logsumexp(filled({2, 3, 4}, 0), {0, 2}).shape(), (Shape{3}));
}

TEST_P(LossCases, RED_18_normalize) {
  expect(ops::normalize(tensor({2, 2}, {0, 0, 3, 4})), {0, 0, 0.6, 0.8});
}

TEST_P(LossCases, softmax_special_rows) {
  expect(ops::softmax(tensor({3, 2}, {-inf, -inf, 1000, 1000, -inf, 0})),
         {nan, nan, 0.5, 0.5, 0, 1});
  expect(ops::log_softmax(tensor({2, 2}, {1000, 0, -inf, 0})), {0, -1000, -inf, 0});
  expect(ops::softmax(tensor({1, 3}, {1, nan, 2})), {nan, nan, nan});
}

// Rows and columns of all widths around the vector's.
TEST_P(LossCases, softmax_dims_agree) {
  for (const std::int64_t n : {1, 3, 15, 16, 17, 65, 300}) {
    const Value x = ops::sin(counting({5, n}));
    const Value y = ops::softmax(x, 1);
    expect_equal(ops::transpose(ops::softmax(ops::contiguous(ops::transpose(x)), 0)), y);
    expect_equal(ops::transpose(ops::log_softmax(ops::contiguous(ops::transpose(x)), 0)),
                 ops::log_softmax(x, 1));
    expect(ops::sum(y, {1}), {1, 1, 1, 1, 1});
  }
}

TEST_P(LossCases, ATT_10_glu_and_quiet_softmax) {
  expect(ops::glu(vector({1, 2, 3, 4})), {0.952574, 1.964028});
  expect(ops::quiet_softmax(vector({0, 0})), {1.0 / 3, 1.0 / 3});
  expect(ops::quiet_softmax(vector({100, 100})), {0.5, 0.5});
  expect(ops::quiet_softmax(vector({1, 2})), {0.244728, 0.665241});
}

TEST_P(LossCases, OPT_05_bce_at_the_ends) {
  expect(ops::bce_loss(vector({0}), vector({1})), {100});
  expect(ops::bce_loss(vector({1}), vector({1})), {0});
  expect(ops::bce_with_logits_loss(vector({1000}), vector({0})), {1000});
  expect(ops::bce_with_logits_loss(vector({-1000}), vector({0})), {0});
  expect(ops::bce_with_logits_loss(vector({0.5}), vector({1})), {0.4740770});
}

TEST_P(LossCases, OPT_06_probabilities) {
  const Value p = tensor({1, 3}, {0.7, 0.2, 0.1});
  expect(ops::cross_entropy_of_probabilities(p, targets({1}, {0})), {0.356675});
}

TEST_P(LossCases, OPT_08_all_ignored) {
  const Value x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const Value t = targets({2}, {-100, -100});
  expect(ops::cross_entropy(x, t), {nan});
  expect(ops::cross_entropy(x, t, {.zero_if_empty = true}), {0});
  expect(ops::cross_entropy(x, t, {.reduction = ops::Reduction::sum}), {0});
  expect(gradients(ops::CrossEntropy{}, {x, t})[0], {0, 0, 0, 0, 0, 0});
}

TEST_P(LossCases, OPT_09_targets_outside) {
  const Value x = filled({2, 3}, 0);
  for (const auto reduction : {ops::Reduction::mean, ops::Reduction::sum, ops::Reduction::none}) {
    for (const double bad : {3.0, -4.0}) {
      EXPECT_THROW(ops::cross_entropy(x, targets({2}, {0, bad}), {.reduction = reduction}),
                   IndexError);
    }
    const Value y = ops::cross_entropy(x, targets({2}, {0, 255}),
                                       {.ignore_index = 255, .reduction = reduction});
    const double log3 = std::log(3.0);
    expect(y, reduction == ops::Reduction::none ? std::vector<double>{log3, 0}
                                                : std::vector<double>{log3});
  }
}

TEST_P(LossCases, OPT_10_large_logits) {
  const Value x = tensor({1, 2}, {1000, 0});
  const Value t = targets({1}, {1});
  expect(ops::cross_entropy(x, t), {1000});
  expect(gradients(ops::CrossEntropy{}, {x, t})[0], {1, -1});
}

// Class axis 1 of [b, c, h, w] is the same as moving it last.
TEST_P(LossCases, OPT_12_class_axis) {
  const Value x = ops::sin(counting({2, 3, 4, 5}));
  std::vector<double> classes;
  for (int i = 0; i < 40; ++i) {
    classes.push_back(i * 7 % 3);
  }
  const ops::CrossEntropyOptions options{.label_smoothing = 0.1, .reduction = ops::Reduction::none};
  const Value weights = vector({0.5, 1, 2});
  const Value y = ops::cross_entropy(x, targets({2, 4, 5}, classes), options, weights);
  const Value rows = ops::reshape(ops::contiguous(ops::permute(x, {0, 2, 3, 1})), {40, 3});
  const Value flat = ops::cross_entropy(rows, targets({40}, classes), options, weights);
  expect(y, read(flat));
  ops::CrossEntropy op;
  op.label_smoothing = 0.1;
  const Value dx = gradients(op, {x, targets({2, 4, 5}, classes), weights})[0];
  const Value drows = gradients(op, {rows, targets({40}, classes), weights})[0];
  expect_equal(ops::reshape(ops::contiguous(ops::permute(dx, {0, 2, 3, 1})), {40, 3}), drows);
}

TEST_P(LossCases, shapes_must_agree) {
  EXPECT_THROW(ops::mse_loss(filled({3, 1}, 0), filled({3}, 0)), ShapeError);
  EXPECT_THROW(ops::cross_entropy(filled({3, 4}, 0), targets({4}, {0, 0, 0, 0})), ShapeError);
  EXPECT_THROW(ops::cross_entropy(filled({2, 4}, 0), filled({2}, 0)), DTypeError);
}

TEST_P(LossCases, regression_losses) {
  const Value x = vector({0, 0.5, 3});
  const Value y = vector({0, 0, 0});
  expect(ops::mse_loss(x, y), {9.25 / 3});
  expect(ops::l1_loss(x, y, ops::Reduction::sum), {3.5});
  expect(ops::smooth_l1_loss(x, y, 1, ops::Reduction::none), {0, 0.125, 2.5});
  expect(ops::huber_loss(x, y, 2, ops::Reduction::none), {0, 0.125, 4});
  expect(ops::kl_div_loss(ops::log(vector({0.5, 0.5})), vector({1, 0}), ops::Reduction::sum),
         {std::log(2.0)});
}

}  // namespace
}  // namespace sinter
