// SPDX-License-Identifier: MIT OR Apache-2.0
// A small network, data that it can learn, for the learner's tests.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/data/dataset.hpp"
#include "sinter/data/loader.hpp"
#include "sinter/nn/activation.hpp"
#include "sinter/nn/linear.hpp"
#include "sinter/nn/loss.hpp"
#include "sinter/optim/optim.hpp"
#include "sinter/train/learner.hpp"

namespace sinter::train::fixture {

/// Points in the plane; the class is the quadrant they lie in.
inline data::ColumnDataset quadrants(std::int64_t count, std::uint64_t seed) {
  HostData points(Shape{count, 2}, DType::f32);
  HostData labels(Shape{count}, DType::i64);
  std::uint64_t state = seed * 2654435761u + 12345;
  const auto draw = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<double>(state >> 11) * 0x1p-53 * 2 - 1);
  };
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = draw(), y = draw();
    points.as<float>()[std::size_t(2 * i)] = x;
    points.as<float>()[std::size_t(2 * i + 1)] = y;
    labels.as<std::int64_t>()[std::size_t(i)] = (x > 0 ? 1 : 0) + (y > 0 ? 2 : 0);
  }
  return data::ColumnDataset({points, labels});
}

struct Mlp {
  nn::Linear first;
  nn::Linear second;
  nn::Relu relu = {};
  nn::Dropout dropout{{.prob = 0.1}};

  static Mlp make(const Device& device) {
    return {.first = nn::Linear{{.in = 2, .out = 16}, device},
            .second = nn::Linear{{.in = 16, .out = 4}, device}};
  }
  Tensor<2> forward(const Tensor<2>& x) const {
    return second.forward(dropout.forward(relu.forward(first.forward(x))));
  }
};

/// The step function of the tests.
struct Classify {
  template <class M>
  StepOutput operator()(const M& model, const std::vector<HostData>& batch,
                        const Device& device) const {
    const auto labels = Tensor<1, Int>::from_data(batch[1], device);
    const auto logits = model.forward(Tensor<2>::from_data(batch[0], device));
    return {.loss = nn::CrossEntropyLoss().forward(logits, labels),
            .output = logits,
            .targets = labels,
            .items = batch[1].num_elements()};
  }
};

/// Keeps the loss of every step, and all that was told.
class Recorder : public Renderer {
 public:
  std::map<std::int64_t, double> losses;  ///< of training, by step
  std::map<int, double> valid;            ///< of validation, by epoch
  std::vector<std::string> checkpoints;
  std::vector<std::string> events;
  RunEnd end;

  void run_begin(const RunInfo&) override { events.push_back("begin"); }
  void step(const StepInfo& info) override {
    if (info.split == Split::train) {
      losses[info.step] = info.batch_values[0];
    }
  }
  void split_end(const SplitInfo& info) override {
    events.push_back(std::string(split_name(info.split)) + " " + std::to_string(info.epoch));
    if (info.split == Split::valid) {
      valid[info.epoch] = info.values[0];
    }
  }
  void checkpoint(std::string_view path, std::int64_t) override { checkpoints.emplace_back(path); }
  void run_end(const RunEnd& info) override {
    events.push_back("end");
    end = info;
  }
  void run_failed() noexcept override { events.push_back("failed"); }
};

/// A folder that goes with the test.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name)
      : path_(os::join_path(os::temporary_directory(),
                            "sinter_train_" + name + "_" + std::to_string(os::process_id()))) {
    os::remove_tree(path_);
    os::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { os::remove_tree(path_); }
  std::string path(const std::string& name) const { return os::join_path(path_, name); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A learner of the small network on quadrants with its loaders.
struct Trial {
  Device device;
  data::DataLoader<data::ColumnDataset> train;
  data::DataLoader<data::ColumnDataset> valid;
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  Learner<Mlp, optim::AdamW> learner;

  explicit Trial(LearnerConfig config, std::uint64_t weights = 7, int workers = 2,
                 const Device& on = Device::portable().autodiff())
      : device(on),
        train(quadrants(90, 1),
              {.batch_size = 8, .order = data::Order::shuffled, .seed = 5, .num_workers = workers}),
        valid(quadrants(40, 2), {.batch_size = 16}),
        learner(model(device, weights), optim::AdamW(), with(std::move(config), device)) {
    learner.add_metric<Accuracy>();
    learner.attach(recorder);
  }
  FitResult fit() { return learner.fit(train, valid, Classify()); }

 private:
  static Mlp model(const Device& device, std::uint64_t seed) {
    device.seed(seed);
    return Mlp::make(device);
  }
  static LearnerConfig with(LearnerConfig config, const Device& device) {
    config.device = device;
    config.schedule = optim::ExponentialLr{.initial = 0.03, .gamma = 0.99};
    return config;
  }
};

}  // namespace sinter::train::fixture
