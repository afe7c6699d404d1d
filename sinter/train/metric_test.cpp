// SPDX-License-Identifier: MIT OR Apache-2.0
// Metrics against numbers counted by hand.
#include "sinter/train/metric.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sinter::train {
namespace {

Observation batch(std::vector<float> logits, std::vector<std::int64_t> targets, float loss = 0) {
  const auto n = static_cast<std::int64_t>(targets.size());
  const auto classes = n == 0 ? 2 : static_cast<std::int64_t>(logits.size()) / n;
  const Device device = Device::portable();
  return Observation({.loss = DynTensor::from_data(HostData(Shape{}, {loss}), device),
                      .output = DynTensor::from_data(
                          HostData(Shape{n, classes}, std::span<const float>(logits)), device),
                      .targets = DynTensor::from_data(
                          HostData(Shape{n}, std::span<const std::int64_t>(targets)), device),
                      .items = n});
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(Cases, TRN_01_epoch_metric_is_over_all_samples) {
  Accuracy accuracy;
  EXPECT_EQ(accuracy.update(batch({1, 0, 1, 0, 0, 1, 0, 1}, {0, 0, 1, 1})), 100);
  EXPECT_EQ(accuracy.update(batch({1, 0}, {1})), 0);
  EXPECT_EQ(accuracy.value(), 80);  // a mean of batches would be 50
  LossMetric loss;
  loss.update(batch({1, 0, 1, 0, 1, 0}, {0, 0, 0}, 1.0f));
  loss.update(batch({1, 0}, {0}, 5.0f));
  EXPECT_EQ(loss.value(), 2);
}

TEST(Metric, top_k) {
  // Ranks of the targets: 0, 1, 2.
  const std::vector<float> logits = {3, 2, 1, 3, 2, 1, 3, 2, 1};
  const std::vector<std::int64_t> targets = {0, 1, 2};
  for (int k = 1; k <= 3; ++k) {
    TopKAccuracy metric({.k = k});
    EXPECT_NEAR(metric.update(batch(logits, targets)), 100.0 * k / 3, 1e-12);
  }
  EXPECT_EQ(TopKAccuracy({.k = 5}).info().name, "top-5 accuracy");
  EXPECT_THROW(TopKAccuracy({.k = 0}), ArgumentError);
}

TEST(Metric, ties_and_nan_count_against_the_model) {
  Accuracy accuracy;
  EXPECT_EQ(accuracy.update(batch({1, 1}, {0})), 100);  // as an argmax that takes the first
  EXPECT_EQ(accuracy.update(batch({1, 1}, {1})), 0);
  EXPECT_EQ(accuracy.update(batch({nan, 1}, {1})), 0);
  EXPECT_EQ(accuracy.update(batch({nan, 1}, {0})), 0);
}

TEST(Metric, ignored_targets_dont_count) {
  Accuracy accuracy;
  EXPECT_EQ(accuracy.update(batch({1, 0, 0, 1, 1, 0}, {0, -100, 1})), 50);
  EXPECT_TRUE(std::isnan(accuracy.update(batch({1, 0}, {-100}))));
  EXPECT_EQ(accuracy.value(), 50);
}

TEST(Metric, nothing_seen_is_nan) {
  EXPECT_TRUE(std::isnan(Accuracy().value()));
  LossMetric loss;
  EXPECT_TRUE(std::isnan(loss.update(batch({}, {}, nan))));
  loss.update(batch({1, 0}, {0}, 3.0f));
  EXPECT_EQ(loss.value(), 3);  // the loss of an empty batch took no part
}

TEST(Metric, wrong_input_is_told) {
  Accuracy accuracy;
  try {
    accuracy.update(batch({1, 0}, {2}));
    FAIL() << "expected an IndexError";
  } catch (const IndexError& error) {
    EXPECT_STREQ(error.what(), "accuracy: target 2 of item 0 is outside the 2 classes");
  }
  EXPECT_THROW(accuracy.update(Observation({.items = 1})), ArgumentError);
  const Device device = Device::portable();
  EXPECT_THROW(accuracy.update(Observation(
                   {.output = DynTensor::from_data(HostData(Shape{3, 2}, DType::f32), device),
                    .targets = DynTensor::from_data(HostData(Shape{2}, DType::i64), device),
                    .items = 2})),
               ShapeError);
}

TEST(Metric, half_precision_outputs) {
  const HostData logits = HostData(Shape{1, 2}, {0.25f, 0.5f}).cast(DType::bf16);
  const Device device = Device::portable();
  Accuracy accuracy;
  EXPECT_EQ(accuracy.update(Observation(
                {.output = DynTensor::from_data(logits, device),
                 .targets = DynTensor::from_data(HostData(Shape{1}, {std::int64_t{1}}), device),
                 .items = 1})),
            100);
}

TEST(Metric, a_set_continues_from_its_state) {
  MetricSet set;
  set.add(std::make_unique<LossMetric>());
  set.add(std::make_unique<Accuracy>());
  EXPECT_THROW(set.add(std::make_unique<Accuracy>()), ArgumentError);
  set.update(batch({1, 0}, {0}, 2.0f));
  MetricSet copy = set.fresh();
  EXPECT_TRUE(std::isnan(copy.values()[1]));
  copy.restore(set.state());
  copy.update(batch({1, 0}, {1}, 4.0f));
  EXPECT_EQ(copy.values(), (std::vector<double>{3, 50}));
  EXPECT_THROW(copy.restore(std::vector<double>{2, 1, 1}), ArgumentError);
  EXPECT_THROW(copy.restore(std::vector<double>{1e9}), ArgumentError);
  EXPECT_EQ(copy.infos()[1].str(91.239), "91.24 %");
}

}  // namespace
}  // namespace sinter::train
