// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs that are killed: what they saved is whole, and resuming gives the run that never ended.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "sinter/base/os/clock.hpp"
#include "sinter/train/checkpoint.hpp"
#include "sinter/train/learner_fixture_test.hpp"

extern char** environ;

namespace sinter::train {
namespace {

using fixture::TemporaryFolder;
using fixture::Trial;

constexpr const char* folder_variable = "SINTER_TEST_FOLDER";

/// This program, running one of its disabled tests in a process of its own.
class Child {
 public:
  Child(const std::string& test, const std::string& folder) {
    os::set_environment(folder_variable, folder);
    std::string program = "/proc/self/exe", filter = "--gtest_filter=" + test,
                disabled = "--gtest_also_run_disabled_tests", quiet = "--gtest_brief=1";
    char* arguments[] = {program.data(), filter.data(), disabled.data(), quiet.data(), nullptr};
    EXPECT_EQ(posix_spawn(&id_, program.c_str(), nullptr, nullptr, arguments, environ), 0);
    os::set_environment(folder_variable, std::nullopt);
  }
  void send(int signal) const { ::kill(id_, signal); }
  bool running() {
    if (!ended_) {
      ended_ = waitpid(id_, &status_, WNOHANG) == id_;
    }
    return !ended_;
  }
  /// The status, as of waitpid.
  int wait() {
    if (!ended_) {
      waitpid(id_, &status_, 0);
      ended_ = true;
    }
    return status_;
  }

 private:
  pid_t id_ = 0;
  bool ended_ = false;
  int status_ = 0;
};

LearnerConfig config_of(const std::string& folder) {
  return {.epochs = 6, .seed = 4, .checkpoints = folder, .checkpoint_every = 1};
}

std::vector<double> weights_of(Trial& trial) {
  return trial.learner.module().second.weight.tensor().to_data().to_doubles();
}

TEST(KillChild, DISABLED_train) {
  const std::string folder = os::environment(folder_variable).value();
  LearnerConfig config = config_of(folder);
  if (CheckpointFolder(folder).latest()) {
    config.resume = folder;
  }
  Trial trial(config, 99);
  trial.fit();
}

TEST(Learner, killed_at_any_moment_goes_on_exactly) {
  LearnerConfig whole_config = config_of("");
  whole_config.checkpoint_every = 0;
  Trial whole(whole_config, 99);
  const FitResult expected = whole.fit();

  TemporaryFolder folder("kill");
  const std::string run = folder.path("run");
  int kills = 0;
  for (int round = 0; round < 5; ++round) {
    const auto before = CheckpointFolder(run).latest().value_or(-1);
    Child child("KillChild.DISABLED_train", run);
    // Each child gets some steps further; then it ends at a moment of no one's choice.
    while (child.running() && CheckpointFolder(run).latest().value_or(-1) < before + 3) {
      os::sleep_seconds(0.0005);
    }
    os::sleep_seconds(0.0007 * round);
    child.send(SIGKILL);
    kills += WIFSIGNALED(child.wait());
    ASSERT_NO_THROW((void)store::Record::load(find_checkpoint(run))) << "round " << round;
  }
  EXPECT_GE(kills, 3);
  LearnerConfig config = config_of(run);
  config.resume = run;
  Trial last(config, 1);
  const FitResult result = last.fit();
  EXPECT_EQ(result.step, expected.step);
  EXPECT_EQ(weights_of(last), weights_of(whole));
  EXPECT_EQ(result.history.values(Split::valid, "loss"),
            expected.history.values(Split::valid, "loss"));
  EXPECT_EQ(result.history.values(Split::train, "accuracy"),
            expected.history.values(Split::train, "accuracy"));
  for (const std::string& name : os::list_directory(run)) {
    EXPECT_TRUE(name.ends_with(".safetensors")) << name << " was left behind";
  }
}

TEST(KillChild, DISABLED_stuck) {
  const std::string folder = os::environment(folder_variable).value();
  Trial trial({.epochs = 1});
  trial.learner.fit(
      trial.train,
      [&](const fixture::Mlp&, const std::vector<HostData>&, const Device&) -> StepOutput {
        os::append_file(os::join_path(folder, "ready"), "");
        os::sleep_seconds(60);
        std::abort();
      });
}

TEST(Learner, second_ctrl_c_ends_the_program_at_once) {
  TemporaryFolder folder("stuck");
  Child child("KillChild.DISABLED_stuck", folder.path());
  while (child.running() && !os::path_exists(folder.path("ready"))) {
    os::sleep_seconds(0.001);
  }
  const double start = os::monotonic_seconds();
  child.send(SIGINT);
  os::sleep_seconds(0.05);
  EXPECT_TRUE(child.running()) << "the first one waits for the step";
  child.send(SIGINT);
  const int status = child.wait();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_LT(os::monotonic_seconds() - start, 20);
}

}  // namespace
}  // namespace sinter::train
