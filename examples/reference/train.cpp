// SPDX-License-Identifier: MIT OR Apache-2.0
// sinter/train: the learner with its checkpoints, metrics, history and what it tells renderers.
#include "expect.hpp"

#include <filesystem>
#include <sinter/train.hpp>

using namespace sinter;

static data::ColumnDataset points() {
  const auto x = Tensor<2>::random({64, 2}, Distribution::uniform(-1, 1));
  return data::ColumnDataset({x.to_data(), (x.slice(all, 0) > 0).to_int().to_data()});
}
static train::StepOutput step(const nn::Linear& model, const std::vector<HostData>& batch,
                              const Device& device) {
  const auto labels = Tensor<1, Int>::from_data(batch[1], device);
  const auto logits = model.forward(Tensor<2>::from_data(batch[0], device));
  return {.loss = nn::cross_entropy(logits, labels),
          .output = logits,
          .targets = labels,
          .items = batch[1].num_elements()};
}

// Counts what it is told.
class Counter final : public train::Renderer {
 public:
  int runs = 0, steps = 0, splits = 0, checkpoints = 0, ends = 0;
  void run_begin(const train::RunInfo& info) override { runs += info.num_params == 6; }
  void step(const train::StepInfo&) override { ++steps; }
  void split_end(const train::SplitInfo&) override { ++splits; }
  void checkpoint(std::string_view, std::int64_t) override { ++checkpoints; }
  void run_end(const train::RunEnd&) override { ++ends; }
};

static void learners(const std::string& folder) {
  const Device device = Device().autodiff();
  data::DataLoader train_data(points(), {.batch_size = 16});
  data::DataLoader valid_data(points(), {.batch_size = 32});
  const auto run = [&](train::LearnerConfig config, std::shared_ptr<train::Renderer> renderer) {
    config.device = device;
    config.checkpoints = folder + "/run";
    train::Learner learner(nn::Linear{{.in = 2, .out = 2}, device}, optim::Sgd(), config);
    learner.add_metric<train::Accuracy>();
    learner.add_metric(std::make_unique<train::TopKAccuracy>(train::TopKAccuracy::Config{.k = 2}));
    learner.attach(renderer);
    learner.attach(std::make_shared<train::JsonLogger>(folder + "/log.jsonl"));
    learner.attach(std::make_shared<train::TensorBoardLogger>(folder + "/board"));
    const train::FitResult result = learner.fit(train_data, valid_data, step);
    EXPECT(learner.module().weight.shape() == Shape{2, 2} &&
           learner.optimizer().config().momentum == 0);
    return result;
  };
  const auto counter = std::make_shared<Counter>();
  const train::FitResult first = run({.epochs = 2, .schedule = 0.5}, counter);
  EXPECT(first.reason == train::StopReason::finished && first.step == 8);
  EXPECT(train::stop_reason_name(first.reason) == "finished");
  EXPECT(counter->runs == 1 && counter->steps == 12 && counter->splits == 4);
  EXPECT(counter->checkpoints == 2 && counter->ends == 1);
  EXPECT(!train::summary_table(first.history).empty() && first.history.find("accuracy") == 1);

  const train::CheckpointFolder checkpoints(folder + "/run");
  EXPECT(checkpoints.latest() == 8 && checkpoints.steps().size() == 2);
  EXPECT(checkpoints.path(8) == first.last_checkpoint && !checkpoints.folder().empty());
  EXPECT(train::find_checkpoint(folder + "/run") == first.last_checkpoint);
  std::FILE* text = std::fopen((folder + "/log.txt").c_str(), "w");
  const auto plain = std::make_shared<train::PlainRenderer>(text);
  const train::FitResult rest =
      run({.epochs = 3, .schedule = 0.5, .resume = folder + "/run"}, plain);
  std::fclose(text);
  EXPECT(rest.step == 12 && rest.history.values(train::Split::valid, "loss").size() == 3);
  train::CheckpointFolder(folder + "/run").prune(12, 1, std::nullopt);
  EXPECT(checkpoints.steps().size() == 1 && train::clock_text(65) == "1:05");

  train::Learner unseen(nn::Linear{{.in = 2, .out = 2}, device}, optim::Sgd(), {.device = device});
  const auto only_one = [&](const nn::Linear& model, const std::vector<HostData>& batch,
                            const Device& on) {
    unseen.interrupt();
    return step(model, batch, on);
  };
  EXPECT(unseen.fit(train_data, only_one).reason == train::StopReason::interrupted);
}

static void metrics_and_history() {
  train::Accuracy accuracy;
  const train::Observation batch({.loss = Tensor<0>::from(1),
                                  .output = Tensor<2>::from({{0, 1}, {1, 0}}),
                                  .targets = Tensor<1, Int>::from({1, 1}),
                                  .items = 2});
  EXPECT(accuracy.update(batch) == 50 && accuracy.value() == 50 && accuracy.info().unit == "%");
  EXPECT(batch.items() == 2 && batch.loss() == 1 && batch.targets().num_elements() == 2);
  EXPECT(batch.output().num_elements() == 4);
  const auto same = accuracy.fresh();
  same->restore(accuracy.state());
  EXPECT(same->value() == 50);
  train::LossMetric loss;
  EXPECT(loss.update(batch) == 1 && loss.info().str(1).starts_with("1.0"));

  EXPECT(train::better(1, 2, false) && !train::better(1, 2, true));
  const double values[] = {3, 1, 2};
  EXPECT(train::best_of(values, false) == 1u && train::split_name(train::Split::valid) == "valid");
  train::History history{.metrics = {{.name = "loss"}}, .epochs = {}};
  for (const double value : {1.0, 2.0, 2.0, 2.0}) {
    history.epochs.push_back({.step = 1, .train = {value}, .valid = {value}});
  }
  EXPECT(train::should_stop({.patience = 3}, history));
}

int main() {
  const std::string folder = std::filesystem::temp_directory_path() / "sinter_example_train";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  learners(folder);
  metrics_and_history();
  std::filesystem::remove_all(folder);
  return wrong == 0 ? 0 : 1;
}
