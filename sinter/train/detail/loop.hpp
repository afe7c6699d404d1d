// SPDX-License-Identifier: MIT OR Apache-2.0
// The learner's loop, without the types of module, optimizer and data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/optim/scheduler.hpp"
#include "sinter/store/record.hpp"
#include "sinter/train/renderer.hpp"

namespace sinter::train {

struct LearnerConfig {
  /// Where training runs; it needs autodiff. Validation runs on the device under it.
  Device device = {};
  int epochs = 1;
  std::uint64_t seed = 0;
  /// The learning rate of each step, counted from 0 over all epochs.
  optim::Scheduler schedule = 1e-3;
  /// Batches whose gradients make one step: the gradient of the mean over all their items.
  int accumulate = 1;
  /// Folder of checkpoints; none are written when it is empty. One is written after every epoch and
  /// at an interrupt.
  std::string checkpoints = {};
  /// Also after every so many steps; 0: not.
  std::int64_t checkpoint_every = 0;
  /// Checkpoints that are kept: the latest ones, and that of the best epoch.
  int keep_last = 2;
  /// Judged in training when there is no validation split.
  BestRule best = {};
  std::optional<EarlyStopping> early_stopping = {};
  /// Renderers are told of each so many steps, and of the last of each split.
  std::int64_t log_every = 1;
  /// A checkpoint file, or a folder whose latest one is taken. Empty: a new run.
  std::string resume = {};
  /// The first Ctrl-C ends the run after the step under way, with a checkpoint; the second ends the
  /// program.
  bool handle_interrupt = true;
  /// Seconds of a clock that never goes back; null: the system's.
  double (*clock)() = nullptr;
};

/// How a run ended.
struct FitResult {
  StopReason reason = StopReason::finished;
  History history;
  std::int64_t step = 0;
  double seconds = 0;
  std::optional<std::size_t> best_epoch;  ///< position in the history
  std::string last_checkpoint;            ///< empty when this run wrote none
  std::string best_checkpoint;
};

namespace detail {

struct Counts {
  std::int64_t batches = 0;
  std::int64_t items = 0;
};

class LoopTask {
 public:
  virtual ~LoopTask() = default;
  virtual Counts train_counts() const = 0;
  virtual Counts valid_counts() const = 0;
  virtual bool has_valid() const = 0;
  virtual std::int64_t num_params() const = 0;

  virtual void begin_train(std::int64_t epoch) = 0;
  /// Takes up to `count` batches, learns from them and appends what the step function gave. No
  /// outputs: the epoch is over.
  virtual void train_step(int count, double rate, const Device& device,
                          std::vector<StepOutput>& outputs) = 0;
  virtual void begin_valid() = 0;
  /// False after the last batch.
  virtual bool valid_step(const Device& device, StepOutput& output) = 0;

  virtual void save(store::Record& record) const = 0;
  virtual void load(const store::Record& record) = 0;
};

/// Gradients of `weight` times the loss; leaves only numbers in `output`, and lets its graph go.
Gradients back_propagate(StepOutput& output, double weight);

/// The items of the last output as a multiple of the first one's.
double relative_items(const std::vector<StepOutput>& outputs);

/// Text of a checkpoint's metadata; throws FormatError when it has none of this name.
const std::string& metadata(const store::Record& record, const std::string& key);

/// Everything of a learner that has no type parameter.
class Loop {
 public:
  explicit Loop(LearnerConfig config);
  Loop(Loop&&) noexcept;
  ~Loop();

  void add_metric(std::unique_ptr<Metric> metric);
  void attach(std::shared_ptr<Renderer> renderer);
  void interrupt();
  FitResult run(LoopTask& task);

 private:
  struct Settings;
  std::unique_ptr<Settings> settings_;
};

}  // namespace detail
}  // namespace sinter::train
