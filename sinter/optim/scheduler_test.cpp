// SPDX-License-Identifier: MIT OR Apache-2.0
// Learning-rate schedules against values worked out by hand.
#include "sinter/optim/scheduler.hpp"

#include <gtest/gtest.h>

#include "sinter/base/error.hpp"

namespace sinter::optim {
namespace {

void expect_rates(Scheduler scheduler, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(scheduler.next(), expected[i], 1e-6) << "step " << i;
  }
}

TEST(Cases, OPT_01_cosine_restarts_only_if_asked) {
  expect_rates(CosineLr{1, 0, 4}, {1, 0.853553, 0.5, 0.146447, 0, 0, 0, 0, 0});
  expect_rates(CosineLr{.initial = 1, .steps = 4, .restarts = true},
               {1, 0.853553, 0.5, 0.146447, 0, 0.146447, 0.5, 0.853553, 1});
}

TEST(Scheduler, simple_kinds) {
  expect_rates(0.5, {0.5, 0.5});
  expect_rates(LinearLr{0, 1, 4}, {0, 0.25, 0.5, 0.75, 1, 1});
  expect_rates(StepLr{1, 2, 0.1}, {1, 1, 0.1, 0.1, 0.01});
  expect_rates(ExponentialLr{1, 0.5}, {1, 0.5, 0.25});
  expect_rates(NoamLr{2, 4, 16}, {0.0625, 0.125, 0.1875, 0.25, 0.2236068});
}

TEST(Scheduler, several_together) {
  const Scheduler warm =
      Scheduler::sequential({LinearLr{0, 1, 2}, CosineLr{1, 0, 2}, ConstantLr{0.125}}, {2, 5});
  expect_rates(warm, {0, 0.5, 1, 0.5, 0, 0.125, 0.125});
  expect_rates(Scheduler::composed({LinearLr{0, 1, 2}, ExponentialLr{1, 0.5}}),
               {0, 0.25, 0.25, 0.125});
  expect_rates(Scheduler::composed({ConstantLr{1}, ConstantLr{3}}, Scheduler::Fold::average), {2});
  EXPECT_THROW((void)Scheduler::sequential({ConstantLr{1}, ConstantLr{2}}, {}), ArgumentError);
  EXPECT_THROW((void)Scheduler::composed({}), ArgumentError);
  EXPECT_THROW(Scheduler(LinearLr{1, 0, 0}), ArgumentError);
}

TEST(Scheduler, resumes_where_it_was) {
  Scheduler first = CosineLr{1, 0, 10};
  for (int i = 0; i < 7; ++i) {
    (void)first.next();
  }
  Scheduler second = CosineLr{1, 0, 10};
  second.load_state(first.state());
  EXPECT_EQ(second.next(), first.next());
}

}  // namespace
}  // namespace sinter::optim
