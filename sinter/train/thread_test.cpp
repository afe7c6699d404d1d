// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs of the learner beside other threads: its own, loaders' workers, and those that interrupt it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "sinter/train/learner_fixture_test.hpp"

namespace sinter::train {
namespace {

using fixture::Trial;

TEST(Thread_Learner, learns_the_same_with_workers_and_without) {
  Trial without({.epochs = 3}, 7, 0);
  without.fit();
  Trial with({.epochs = 3}, 7, 2);
  with.fit();
  EXPECT_EQ(with.recorder->losses, without.recorder->losses);
  EXPECT_EQ(with.recorder->losses.size(), 36u);
  EXPECT_LT(with.recorder->valid.at(3), with.recorder->valid.at(1));
}

/// Says when the first step has been told of.
struct Begun : Renderer {
  std::atomic<bool> any = false;
  void step(const StepInfo&) override { any = true; }
};

TEST(Thread_Learner, another_thread_interrupts) {
  Trial run({.epochs = 100000});
  const auto begun = std::make_shared<Begun>();
  run.learner.attach(begun);
  std::thread other([&] {
    while (!begun->any) {
      std::this_thread::yield();
    }
    run.learner.interrupt();
  });
  const FitResult result = run.fit();
  other.join();
  EXPECT_EQ(result.reason, StopReason::interrupted);
  EXPECT_GE(result.step, 1);
}

TEST(Thread_Learner, two_runs_at_once) {
  Trial alone({.epochs = 2});
  alone.fit();
  Trial first({.epochs = 2}), second({.epochs = 2});
  std::thread other([&] { second.fit(); });
  first.fit();
  other.join();
  EXPECT_EQ(first.recorder->valid.size(), 2u);
  EXPECT_EQ(second.recorder->valid.size(), 2u);
}

}  // namespace
}  // namespace sinter::train
