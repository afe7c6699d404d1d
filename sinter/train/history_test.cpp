// SPDX-License-Identifier: MIT OR Apache-2.0
// Best epochs, early stops, and the table at the end.
#include "sinter/train/history.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sinter::train {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

History losses(const std::vector<double>& valid) {
  History history;
  history.metrics = {{.name = "loss"}};
  for (const double value : valid) {
    history.epochs.push_back({.step = 0, .train = {1}, .valid = {value}});
  }
  return history;
}

TEST(Cases, TRN_08_nan_is_never_the_best) {
  EXPECT_EQ(best_of(std::vector<double>{nan, 3, 1, nan, 2}, false), 2u);
  EXPECT_EQ(best_of(std::vector<double>{nan, 3, 1, nan, 2}, true), 1u);
  EXPECT_EQ(best_of(std::vector<double>{nan, nan}, true), std::nullopt);
  EXPECT_EQ(best_of(std::vector<double>{2, 2}, false), 0u);
  const EarlyStopping rule{.patience = 2};
  // NaN is no improvement: two of them end the run.
  EXPECT_FALSE(should_stop(rule, losses({1, nan})));
  EXPECT_TRUE(should_stop(rule, losses({1, nan, nan})));
  EXPECT_FALSE(should_stop(rule, losses({1, nan, 0.5})));
  // And a number after NaN is one.
  EXPECT_FALSE(should_stop(rule, losses({nan, 5, 6})));
  EXPECT_TRUE(should_stop(rule, losses({nan, nan})));
}

TEST(EarlyStopping, counts_epochs_without_improvement) {
  const EarlyStopping rule{.patience = 2};
  EXPECT_FALSE(should_stop(rule, losses({})));
  EXPECT_FALSE(should_stop(rule, losses({3, 2, 2})));
  EXPECT_TRUE(should_stop(rule, losses({3, 2, 2, 2})));
  EXPECT_FALSE(should_stop(rule, losses({3, 2, 2, 1, 1})));
  const EarlyStopping delta{.patience = 1, .min_delta = 0.5};
  EXPECT_TRUE(should_stop(delta, losses({3, 2.6})));
  EXPECT_FALSE(should_stop(delta, losses({3, 2.4})));
  const EarlyStopping warm{.patience = 1, .warmup = 3};
  EXPECT_FALSE(should_stop(warm, losses({1, 2, 3})));
  EXPECT_TRUE(should_stop(warm, losses({1, 2, 3, 4})));
}

TEST(EarlyStopping, unknown_metric_is_told) {
  try {
    (void)should_stop({.metric = "f1"}, losses({1}));
    FAIL() << "expected an ArgumentError";
  } catch (const ArgumentError& error) {
    EXPECT_STREQ(error.what(), "train: there is no metric `f1`; this learner has loss");
  }
}

TEST(Summary, table) {
  History history;
  history.metrics = {{.name = "loss"},
                     {.name = "accuracy", .unit = "%", .decimals = 2, .higher_is_better = true}};
  history.epochs = {{.step = 3, .train = {2, 10}, .valid = {2.5, nan}},
                    {.step = 6, .train = {1, 50}, .valid = {1.5, 40}},
                    {.step = 9, .train = {0.5, 100}, .valid = {1.75, 30}}};
  EXPECT_EQ(summary_table(history),
            "split  metric      first      last      best  epoch\n"
            "train  loss       2.0000    0.5000    0.5000      3\n"
            "train  accuracy  10.00 %  100.00 %  100.00 %      3\n"
            "valid  loss       2.5000    1.7500    1.5000      2\n"
            "valid  accuracy    nan %   30.00 %   40.00 %      2\n");
}

}  // namespace
}  // namespace sinter::train
