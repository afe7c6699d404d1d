// SPDX-License-Identifier: MIT OR Apache-2.0
// The learner: it learns, resumes exactly, stops when told, and leaves nothing half done.
#include "sinter/train/learner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <thread>

#include "sinter/base/os/clock.hpp"
#include "sinter/train/checkpoint.hpp"
#include "sinter/train/learner_fixture_test.hpp"

namespace sinter::train {
namespace {

using fixture::Recorder;
using fixture::TemporaryFolder;
using fixture::Trial;

/// Asks for an end after a step of training, or a batch of validation.
class StopAt final : public Renderer {
 public:
  StopAt(Trial& setup, Split split, std::int64_t at) : setup_(setup), split_(split), at_(at) {}
  void step(const StepInfo& info) override {
    if (info.split == split_ && (split_ == Split::train ? info.step : info.epoch) == at_) {
      setup_.learner.interrupt();
    }
  }

 private:
  Trial& setup_;
  Split split_;
  std::int64_t at_;
};

std::vector<double> weights_of(const fixture::Mlp& model) {
  return model.first.weight.tensor().to_data().to_doubles();
}

TEST(Learner, learns) {
  Trial setup({.epochs = 15});
  const FitResult result = setup.fit();
  EXPECT_EQ(result.reason, StopReason::finished);
  EXPECT_EQ(result.step, 15 * 12);
  const auto accuracy = result.history.values(Split::valid, "accuracy");
  ASSERT_EQ(accuracy.size(), 15u);
  EXPECT_GE(accuracy.back(), 85) << "chance is 25 %";
  const auto loss = result.history.values(Split::train, "loss");
  EXPECT_LT(loss.back(), loss.front() / 2);
}

TEST(Learner, events_come_in_order) {
  TemporaryFolder folder("order");
  Trial setup({.epochs = 2, .checkpoints = folder.path("run")});
  setup.fit();
  EXPECT_EQ(setup.recorder->events,
            (std::vector<std::string>{"begin", "train 1", "valid 1", "train 2", "valid 2", "end"}));
  EXPECT_EQ(setup.recorder->losses.size(), 24u);
  EXPECT_EQ(setup.recorder->checkpoints.size(), 2u);
}

TEST(Learner, same_seed_gives_the_same_run) {
  Trial a({.epochs = 2, .seed = 3}, 7, 0);
  Trial b({.epochs = 2, .seed = 3}, 7, 2);
  Trial c({.epochs = 2, .seed = 4});
  a.fit();
  b.fit();
  c.fit();
  EXPECT_EQ(a.recorder->losses, b.recorder->losses);
  EXPECT_NE(a.recorder->losses, c.recorder->losses) << "the seed draws dropout";
}

/// Interrupts a run, and resumes it by a learner with other weights: both together must tell what
/// the run without interruption told.
void expect_exact_resume(LearnerConfig config, Split split, std::int64_t at) {
  TemporaryFolder folder("resume");
  config.epochs = 4;
  config.seed = 9;
  Trial whole(config);
  const FitResult expected = whole.fit();

  config.checkpoints = folder.path("run");
  Trial first(config);
  first.learner.attach(std::make_shared<StopAt>(first, split, at));
  const FitResult half = first.fit();
  ASSERT_EQ(half.reason, StopReason::interrupted);
  ASSERT_LT(half.step, expected.step);
  for (const auto& [step, loss] : first.recorder->losses) {
    EXPECT_EQ(loss, whole.recorder->losses.at(step)) << "step " << step;
  }
  EXPECT_EQ(static_cast<std::int64_t>(first.recorder->losses.size()), half.step);

  config.resume = config.checkpoints;
  Trial second(config, 1234);
  const FitResult rest = second.fit();
  EXPECT_EQ(rest.reason, StopReason::finished);
  EXPECT_EQ(rest.step, expected.step);
  for (const auto& [step, loss] : second.recorder->losses) {
    EXPECT_GT(step, half.step);
    EXPECT_EQ(loss, whole.recorder->losses.at(step)) << "step " << step;
  }
  EXPECT_EQ(static_cast<std::int64_t>(second.recorder->losses.size()), expected.step - half.step);
  EXPECT_EQ(weights_of(second.learner.module()), weights_of(whole.learner.module()));
  for (const Split each : {Split::train, Split::valid}) {
    for (const char* metric : {"loss", "accuracy"}) {
      EXPECT_EQ(rest.history.values(each, metric), expected.history.values(each, metric))
          << split_name(each) << " " << metric;
    }
  }
}

TEST(Learner, resumes_exactly_within_an_epoch) { expect_exact_resume({}, Split::train, 5); }
TEST(Learner, resumes_exactly_in_a_later_epoch) { expect_exact_resume({}, Split::train, 20); }
TEST(Learner, resumes_exactly_from_the_end_of_training) {
  expect_exact_resume({}, Split::train, 12);
}
TEST(Learner, resumes_exactly_from_validation) { expect_exact_resume({}, Split::valid, 2); }
TEST(Learner, resumes_exactly_with_accumulation) {
  expect_exact_resume({.accumulate = 5}, Split::train, 4);
}

TEST(Learner, accumulation_is_one_large_batch) {
  // 10 items in batches of 4, 4, 2: the last, smaller one counts less.
  const auto run = [](std::int64_t batch_size, int accumulate) {
    const Device device = Device::portable().autodiff();
    device.seed(3);
    data::DataLoader loader(fixture::quadrants(10, 1), {.batch_size = batch_size});
    fixture::Mlp model = fixture::Mlp::make(device);
    model.dropout = {{.prob = 0}};
    Learner learner(model, optim::Sgd(),
                    {.device = device, .epochs = 3, .schedule = 0.5, .accumulate = accumulate});
    const FitResult result = learner.fit(loader, fixture::Classify());
    EXPECT_EQ(result.step, 3);
    return weights_of(learner.module());
  };
  const auto small = run(4, 3), large = run(10, 1);
  ASSERT_EQ(small.size(), large.size());
  for (std::size_t i = 0; i < small.size(); ++i) {
    EXPECT_NEAR(small[i], large[i], 1e-6);
  }
}

TEST(Learner, keeps_the_latest_and_the_best_checkpoints) {
  TemporaryFolder folder("keep");
  // After the first epoch the rate is so high that the loss only gets worse.
  const Device device = Device::portable().autodiff();
  Trial setup({.epochs = 5, .checkpoints = folder.path("run"), .keep_last = 2});
  (void)setup;
  data::DataLoader train(fixture::quadrants(64, 1), {.batch_size = 16});
  data::DataLoader valid(fixture::quadrants(64, 2), {.batch_size = 64});
  device.seed(1);
  Learner learner(fixture::Mlp::make(device), optim::Sgd(),
                  {.device = device,
                   .epochs = 5,
                   .schedule = optim::Scheduler::sequential({0.5, optim::LinearLr{-2, -2, 1}}, {4}),
                   .checkpoints = folder.path("run"),
                   .keep_last = 2});
  const FitResult result = learner.fit(train, valid, fixture::Classify());
  EXPECT_EQ(result.best_epoch, 0u);
  EXPECT_EQ(CheckpointFolder(folder.path("run")).steps(), (std::vector<std::int64_t>{4, 16, 20}));
  EXPECT_TRUE(os::path_exists(result.best_checkpoint));
  EXPECT_EQ(os::list_directory(folder.path("run")).size(), 3u) << "nothing temporary is left";
}

/// A metric of fixed values, one for each epoch, that takes its time.
class Scripted final : public Metric {
 public:
  Scripted(std::vector<double> values, double delay) : values_(std::move(values)), delay_(delay) {}
  MetricInfo info() const override { return {.name = "score", .higher_is_better = true}; }
  // The learner starts each split anew: shared, so that each fresh one knows how many there were.
  std::unique_ptr<Metric> fresh() const override {
    auto copy = std::make_unique<Scripted>(*this);
    copy->updates_ = 0;
    return copy;
  }
  double update(const Observation&) override {
    os::sleep_seconds(delay_);
    if (updates_++ == 0) {
      now_ = values_.at((*split_)++ / 2);
    }
    return now_;
  }
  double value() const override { return now_; }
  std::vector<double> state() const override { return {}; }
  void restore(std::span<const double>) override {}

 private:
  std::vector<double> values_;
  double delay_;
  std::shared_ptr<std::size_t> split_ = std::make_shared<std::size_t>(0);
  int updates_ = 0;
  double now_ = 0;
};

TEST(Cases, TRN_02_decisions_wait_for_late_metrics) {
  for (const double delay : {0.0, 0.004}) {
    Trial setup({.epochs = 9,
                 .best = {.metric = "score"},
                 .early_stopping = EarlyStopping{.metric = "score", .patience = 2}});
    setup.learner.add_metric(std::make_unique<Scripted>(
        std::vector<double>{1, 3, std::nan(""), 2, 9, 9, 9, 9, 9}, delay));
    const FitResult result = setup.fit();
    EXPECT_EQ(result.reason, StopReason::early_stopped);
    EXPECT_EQ(result.history.epochs.size(), 4u);
    EXPECT_EQ(result.best_epoch, 1u);
  }
}

TEST(Learner, early_stop_is_seen_again_after_a_resume) {
  TemporaryFolder folder("early");
  LearnerConfig config{.epochs = 9,
                       .checkpoints = folder.path("run"),
                       .early_stopping = EarlyStopping{.patience = 1, .min_delta = 1e9}};
  Trial first(config);
  EXPECT_EQ(first.fit().history.epochs.size(), 2u);
  config.resume = config.checkpoints;
  Trial second(config);
  const FitResult result = second.fit();
  EXPECT_EQ(result.reason, StopReason::early_stopped);
  EXPECT_EQ(result.history.epochs.size(), 2u);
}

TEST(Learner, ctrl_c_finishes_the_step_and_saves) {
  TemporaryFolder folder("interrupt");
  Trial setup({.epochs = 50, .checkpoints = folder.path("run")});
  int calls = 0;
  const FitResult result = setup.learner.fit(
      setup.train, setup.valid,
      [&](const fixture::Mlp& model, const std::vector<HostData>& batch, const Device& device) {
        if (++calls == 5) {
          std::raise(SIGINT);
        }
        return fixture::Classify()(model, batch, device);
      });
  EXPECT_EQ(result.reason, StopReason::interrupted);
  EXPECT_EQ(result.step, 5);
  EXPECT_EQ(CheckpointFolder(folder.path("run")).latest(), 5);
}

TEST(Learner, no_checkpoint_folder_no_files) {
  Trial setup({.epochs = 1});
  EXPECT_EQ(setup.fit().last_checkpoint, "");
}

TEST(Learner, failures_come_out_and_renderers_hear_of_them) {
  Trial setup({.epochs = 2});
  int calls = 0;
  const auto step = [&](const fixture::Mlp& model, const std::vector<HostData>& batch,
                        const Device& device) {
    if (++calls == 4) {
      throw std::runtime_error("no more data");
    }
    return fixture::Classify()(model, batch, device);
  };
  EXPECT_THROW(setup.learner.fit(setup.train, setup.valid, step), std::runtime_error);
  EXPECT_EQ(setup.recorder->events.back(), "failed");

  class Full final : public Renderer {
    void step(const StepInfo& info) override {
      if (info.step == 3) {
        throw IoError("the disk is full");
      }
    }
  };
  Trial other({.epochs = 2});
  other.learner.attach(std::make_shared<Full>());
  EXPECT_THROW(other.fit(), IoError);
}

template <class E>
std::string message_of(LearnerConfig config) {
  try {
    Trial setup(std::move(config));
    setup.fit();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Learner, wrong_settings_are_told) {
  EXPECT_EQ(message_of<ArgumentError>({.accumulate = 0}),
            "Learner: accumulate must be at least 1, got 0");
  EXPECT_EQ(message_of<ArgumentError>({.best = {.metric = "f1"}}),
            "train: there is no metric `f1`; this learner has loss, accuracy");
  EXPECT_THROW(Learner(fixture::Mlp(), optim::Sgd(), {.device = Device::portable()}),
               ArgumentError);
}

TEST(Learner, another_runs_folder_is_left_alone) {
  TemporaryFolder folder("other");
  Trial first({.epochs = 1, .checkpoints = folder.path("run")});
  first.fit();
  EXPECT_NE(message_of<ArgumentError>({.epochs = 1, .checkpoints = folder.path("run")})
                .find("holds the checkpoints of another run"),
            std::string::npos);
}

// A file where the folder should be stops everyone, also those who may write anywhere.
TEST(Learner, a_folder_that_cannot_be_written_is_told_before_the_first_step) {
  TemporaryFolder folder("unwritable");
  os::write_file_atomic(folder.path("file"), "");
  for (const std::string& checkpoints : {folder.path("file"), folder.path("file/run")}) {
    Trial setup({.epochs = 1, .checkpoints = checkpoints});
    const std::vector<double> before = weights_of(setup.learner.module());
    try {
      setup.fit();
      ADD_FAILURE() << checkpoints;
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find(checkpoints), std::string::npos) << error.what();
    }
    EXPECT_TRUE(setup.recorder->events.empty());
    EXPECT_EQ(weights_of(setup.learner.module()), before);
  }
}

TEST(Learner, a_folder_that_goes_during_the_run_ends_it_cleanly) {
  TemporaryFolder folder("gone");
  struct Breaker : Renderer {
    std::string path;
    void split_end(const SplitInfo& info) override {
      if (info.epoch == 2 && info.split == Split::valid) {
        os::remove_tree(path);
        os::write_file_atomic(path, "");
      }
    }
  };
  const auto breaker = std::make_shared<Breaker>();
  breaker->path = folder.path("run");
  Trial setup({.epochs = 3, .checkpoints = folder.path("run")});
  setup.learner.attach(breaker);
  EXPECT_THROW(setup.fit(), IoError);
  EXPECT_EQ(setup.recorder->events.back(), "failed");
  EXPECT_EQ(setup.recorder->valid.size(), 2u);
  // What was learned is still there, and goes on elsewhere.
  for (const double weight : weights_of(setup.learner.module())) {
    EXPECT_TRUE(std::isfinite(weight));
  }
}

// Every epoch's loss is NaN: none is the best, all are written, and the last one can be resumed.
TEST(Learner, a_run_of_nan_has_no_best_epoch) {
  TemporaryFolder folder("nan");
  const auto run = [&](LearnerConfig config) {
    Trial setup(std::move(config));
    return setup.learner.fit(
        setup.train, setup.valid,
        [](const fixture::Mlp& model, const std::vector<HostData>& batch, const Device& device) {
          StepOutput output = fixture::Classify()(model, batch, device);
          output.loss = output.loss * std::nan("");
          return output;
        });
  };
  const FitResult first = run({.epochs = 2, .checkpoints = folder.path("run")});
  EXPECT_EQ(first.history.epochs.size(), 2u);
  EXPECT_FALSE(first.best_epoch.has_value());
  EXPECT_EQ(first.best_checkpoint, "");
  EXPECT_TRUE(os::path_exists(first.last_checkpoint));
  const FitResult second =
      run({.epochs = 3, .checkpoints = folder.path("run"), .resume = folder.path("run")});
  EXPECT_EQ(second.history.epochs.size(), 3u);
  EXPECT_TRUE(std::isnan(second.history.epochs[0].valid[0]));
  EXPECT_FALSE(second.best_epoch.has_value());
}

TEST(Learner, bad_checkpoints_are_refused_and_nothing_is_loaded) {
  TemporaryFolder folder("bad");
  Trial first({.epochs = 1, .checkpoints = folder.path("run")});
  const std::string good = first.fit().last_checkpoint;
  EXPECT_NE(message_of<IoError>({.epochs = 1, .resume = folder.path("none")}).find("no checkpoint"),
            std::string::npos);
  os::create_directories(folder.path("empty"));
  EXPECT_NE(
      message_of<IoError>({.epochs = 1, .resume = folder.path("empty")}).find("no checkpoint"),
      std::string::npos);

  const std::string bytes = os::read_file(good);
  os::write_file_atomic(folder.path("cut"), std::string_view(bytes).substr(0, bytes.size() / 2));
  os::write_file_atomic(folder.path("noise"), "not a record at all");
  store::Record strange;
  strange.add("x", HostData(Shape{1}, DType::f32));
  strange.save(folder.path("strange"));
  store::Record other = store::Record::load(good);
  other.metadata()["train.epoch"] = "7";
  other.save(folder.path("counts"));
  other = store::Record::load(good);
  other.metadata()["train.step"] = "one";
  other.save(folder.path("text"));
  for (const char* name : {"cut", "noise", "strange", "counts", "text"}) {
    Trial setup({.epochs = 2, .resume = folder.path(name)});
    const std::vector<double> before = weights_of(setup.learner.module());
    EXPECT_THROW(setup.fit(), FormatError) << name;
    EXPECT_EQ(weights_of(setup.learner.module()), before) << name;
  }
}

// A copy of `record` with one entry replaced.
store::Record with_entry(const store::Record& record, const std::string& name, HostData data) {
  store::Record out;
  out.metadata() = record.metadata();
  for (const store::Record::Entry& entry : record.entries()) {
    out.add(entry.name, entry.name == name ? data : *entry.data);
  }
  return out;
}

TEST(Learner, a_bad_part_of_a_checkpoint_leaves_all_parts_alone) {
  TemporaryFolder folder("parts");
  Trial first({.epochs = 1, .checkpoints = folder.path("run")});
  const std::string good = first.fit().last_checkpoint;
  const store::Record whole = store::Record::load(good);
  const std::string moment = "optimizer.second.weight.second";
  ASSERT_TRUE(whole.contains(moment));
  with_entry(whole, moment, HostData(Shape{3}, DType::f32)).save(folder.path("moment"));
  with_entry(whole, "optimizer.second.bias.step", HostData(Shape{}, DType::f32))
      .save(folder.path("steps"));
  with_entry(whole, "model.second.bias", HostData(Shape{5}, DType::f32)).save(folder.path("model"));
  store::Record loader = whole;
  loader.metadata()["train.loader"] =
      "seed 1 epoch 0 position 0 items 3 batch_size 1 draws 0 order 0 drop_last 0";
  loader.save(folder.path("loader"));

  for (const char* name : {"moment", "steps", "model", "loader"}) {
    SCOPED_TRACE(name);
    Trial setup({.epochs = 1}, 1234);  // other weights
    setup.fit();
    // The same module, optimizer and loader, and a checkpoint that doesn't fit them.
    Learner<fixture::Mlp, optim::AdamW> again(
        setup.learner.module(), optim::AdamW(),
        {.device = setup.device, .epochs = 2, .resume = folder.path(name)});
    again.add_metric<Accuracy>();
    const std::vector<double> weights = weights_of(again.module());
    const data::LoaderState position = setup.train.state();
    EXPECT_THROW(again.fit(setup.train, setup.valid, fixture::Classify()), UserError);
    EXPECT_EQ(weights_of(again.module()), weights);
    EXPECT_EQ(again.optimizer().state(again.module()).size(), 0u);
    EXPECT_TRUE(setup.train.state() == position);
  }
}

TEST(Cases, THR_08_the_default_device_is_another) {
  const DefaultDeviceScope elsewhere(Device::null());
  TemporaryFolder folder("elsewhere");
  Trial setup({.epochs = 2, .checkpoints = folder.path("run")});
  const FitResult result = setup.fit();
  EXPECT_EQ(setup.learner.module().first.weight.device(), setup.device);
  const auto loss = result.history.values(Split::valid, "loss");
  EXPECT_LT(loss.back(), loss.front()) << "the null device computes nothing";
  Trial resumed({.epochs = 3, .resume = folder.path("run")});
  EXPECT_EQ(resumed.fit().reason, StopReason::finished);
}

// A long run on every device; SINTER_TEST_FULL asks for it.
TEST(Cases, TRN_10_soak_of_fifty_epochs) {
  if (!os::environment("SINTER_TEST_FULL")) {
    GTEST_SKIP() << "set SINTER_TEST_FULL to run it";
  }
  for (const Device& device : {Device::portable(), Device::reference()}) {
    SCOPED_TRACE(device.name());
    Trial setup({.epochs = 50}, 7, 2, device.autodiff());
    const FitResult result = setup.fit();
    EXPECT_EQ(result.history.epochs.size(), 50u);
    EXPECT_GE(result.history.values(Split::valid, "accuracy").back(), 85);
  }
}

TEST(Learner, empty_data_makes_empty_epochs) {
  const Device device = Device::portable().autodiff();
  data::DataLoader loader(fixture::quadrants(0, 1), {.batch_size = 4});
  Learner learner(fixture::Mlp::make(device), optim::Sgd(), {.device = device, .epochs = 2});
  const FitResult result = learner.fit(loader, loader, fixture::Classify());
  EXPECT_EQ(result.step, 0);
  EXPECT_EQ(result.history.epochs.size(), 2u);
  EXPECT_FALSE(result.best_epoch);
}

TEST(Memory, training_steps_dont_grow) {
  Trial setup({.epochs = 10});
  setup.fit();
  const std::size_t before = setup.device.memory().in_use;
  Trial longer({.epochs = 80});
  longer.fit();
  const std::size_t after = setup.device.memory().in_use;
  EXPECT_LT(after, before + (512 << 10)) << "960 steps of at least 1 KiB each";
}

}  // namespace
}  // namespace sinter::train
