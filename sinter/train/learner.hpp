// SPDX-License-Identifier: MIT OR Apache-2.0
// Learner: trains a module over epochs, with metrics, checkpoints, early stopping and exact resume.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sinter/data/loader.hpp"
#include "sinter/nn/module.hpp"
#include "sinter/nn/record.hpp"
#include "sinter/train/detail/loop.hpp"

namespace sinter::train {

/// Trains a module. The module is any struct that reflection reads; the loop is told how to handle
/// a batch by one function, which is called with the module and its device in training, and with
/// `nn::valid(module)` and the device under autodiff in validation:
///
///     train::Learner learner(Model(device), optim::AdamW(),
///                            {.device = device,
///                             .epochs = 3,
///                             .schedule = optim::CosineLr{.initial = 1e-3, .steps = 1000},
///                             .checkpoints = "checkpoints"});
///     learner.add_metric<train::Accuracy>();
///     learner.attach(std::make_shared<train::PlainRenderer>(stdout));
///     learner.fit(train_loader, test_loader,
///                 [](const Model& model, const data::ImageBatch& batch, const Device& device) {
///                   auto labels = Tensor<1, Int>::from_data(batch.labels, device);
///                   auto logits = model.forward(Tensor<4>::from_data(batch.images, device));
///                   return train::StepOutput{.loss = nn::CrossEntropyLoss().forward(logits,
///                   labels),
///                                            .output = logits,
///                                            .targets = labels,
///                                            .items = batch.size()};
///                 });
///
/// A run that is resumed from a checkpoint continues as if it had never ended: same batches, same
/// random numbers, same losses to the last bit. For that, random ops of the step function draw from
/// a generator of the learner's, seeded with `LearnerConfig::seed`.
///
/// `Optimizer` is one of `sinter::optim`, or has its `step`, `state` and `load_state`. Gradients
/// are clipped as its configuration says.
template <class Module, class Optimizer>
class Learner {
 public:
  /// Throws ArgumentError for settings that make no sense.
  Learner(Module module, Optimizer optimizer, LearnerConfig config)
      : module_(std::move(module)), optimizer_(std::move(optimizer)), loop_(std::move(config)) {}

  /// Metrics are shown in the order they are added; the loss comes first by itself.
  void add_metric(std::unique_ptr<Metric> metric) { loop_.add_metric(std::move(metric)); }
  template <class M, class... Arguments>
  void add_metric(Arguments&&... arguments) {
    add_metric(std::make_unique<M>(std::forward<Arguments>(arguments)...));
  }
  void attach(std::shared_ptr<Renderer> renderer) { loop_.attach(std::move(renderer)); }

  /// Runs from the start, or from `LearnerConfig::resume`, to the end. Throws what the step
  /// function, the loaders, a metric or a renderer throws; checkpoints written before stay.
  template <class TrainLoader, class ValidLoader, class Step>
  FitResult fit(TrainLoader& train, ValidLoader& valid, Step&& step) {
    Task<TrainLoader, ValidLoader, Step> task(*this, train, &valid, step);
    return loop_.run(task);
  }
  /// Without a validation split.
  template <class TrainLoader, class Step>
  FitResult fit(TrainLoader& train, Step&& step) {
    Task<TrainLoader, TrainLoader, Step> task(*this, train, nullptr, step);
    return loop_.run(task);
  }

  /// Asks the run to save and end after the step under way; from any thread or a renderer.
  void interrupt() { loop_.interrupt(); }

  const Module& module() const { return module_; }
  Module& module() { return module_; }
  const Optimizer& optimizer() const { return optimizer_; }

 private:
  template <class TrainLoader, class ValidLoader, class Step>
  class Task;

  Module module_;
  Optimizer optimizer_;
  detail::Loop loop_;
};

/// What the loop needs done with the types it doesn't know.
template <class Module, class Optimizer>
template <class TrainLoader, class ValidLoader, class Step>
class Learner<Module, Optimizer>::Task final : public detail::LoopTask {
 public:
  Task(Learner& learner, TrainLoader& train, ValidLoader* valid, Step& step)
      : learner_(learner), train_(train), valid_(valid), step_(step) {}

  detail::Counts train_counts() const override { return counts(train_); }
  detail::Counts valid_counts() const override {
    return valid_ ? counts(*valid_) : detail::Counts{};
  }
  bool has_valid() const override { return valid_ != nullptr; }
  std::int64_t num_params() const override { return nn::num_params(learner_.module_); }

  void begin_train(std::int64_t epoch) override { train_.start_epoch(epoch); }
  void train_step(int count, double rate, const Device& device,
                  std::vector<StepOutput>& outputs) override {
    std::vector<typename TrainLoader::Batch> batches;
    while (static_cast<int>(batches.size()) < count) {
      auto batch = train_.next();
      if (!batch) {
        break;
      }
      batches.push_back(std::move(*batch));
    }
    if (batches.size() == 1) {
      outputs.push_back(forward(batches[0], device));
      const Gradients gradients = detail::back_propagate(outputs[0], 1);
      learner_.optimizer_.step(rate, learner_.module_, gradients);
    } else if (!batches.empty()) {
      learner_.optimizer_.step(rate, learner_.module_, accumulate(batches, device, outputs));
    }
  }

  void begin_valid() override {
    valid_->start_epoch(0);
    frozen_.emplace(nn::valid(learner_.module_));
  }
  bool valid_step(const Device& device, StepOutput& output) override {
    auto batch = valid_->next();
    if (!batch) {
      frozen_.reset();
      return false;
    }
    output = step_(std::as_const(*frozen_), *batch, device);
    return true;
  }

  void save(store::Record& record) const override {
    record.add_all("model.", nn::state(learner_.module_));
    record.add_all("optimizer.", learner_.optimizer_.state(learner_.module_));
    record.metadata()["train.loader"] = train_.state().str();
  }
  void load(const store::Record& record) override {
    const auto loader = data::LoaderState::from_str(detail::metadata(record, "train.loader"));
    const store::Record model = record.part("model.");
    (void)nn::check_state(learner_.module_, model);
    const data::LoaderState before = train_.state();
    train_.restore(loader);
    try {
      learner_.optimizer_.load_state(learner_.module_, record.part("optimizer."));
    } catch (...) {
      train_.restore(before);
      throw;
    }
    nn::load_state(learner_.module_, model);
  }

 private:
  template <class Loader>
  static detail::Counts counts(const Loader& loader) {
    return {loader.num_batches(), loader.num_items()};
  }

  template <class Batch>
  StepOutput forward(Batch& batch, const Device& device) {
    return step_(std::as_const(learner_.module_), batch, device);
  }
  /// Gradients of the mean over all items. Each batch's graph is gone before the next one's begins.
  template <class Batch>
  nn::ModuleGradients accumulate(std::vector<Batch>& batches, const Device& device,
                                 std::vector<StepOutput>& outputs) {
    nn::ModuleGradients sum;
    double weights = 0;
    for (Batch& batch : batches) {
      outputs.push_back(forward(batch, device));
      const double weight = detail::relative_items(outputs);
      const Gradients gradients = detail::back_propagate(outputs.back(), weight);
      sum.accumulate(nn::gradients_of(learner_.module_, gradients));
      weights += weight;
    }
    sum.scale(1 / weights);
    return sum;
  }

  Learner& learner_;
  TrainLoader& train_;
  ValidLoader* valid_;
  Step& step_;
  std::optional<Module> frozen_;
};

}  // namespace sinter::train
