// SPDX-License-Identifier: MIT OR Apache-2.0
// What a run tells while it goes on. Loggers, progress lines and dashboards are renderers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sinter/train/history.hpp"

namespace sinter::train {

/// Known when a run begins.
struct RunInfo {
  std::string device;
  std::uint64_t seed = 0;
  int epochs = 0;
  std::int64_t steps_per_epoch = 0;
  std::int64_t train_items = 0;
  std::int64_t valid_items = 0;
  std::int64_t num_params = 0;
  std::int64_t resumed_step = 0;  ///< steps taken before; 0 for a new run
  std::span<const MetricInfo> metrics;
};

/// After a step of training, or a batch of validation. Epochs and batches count from 1.
struct StepInfo {
  Split split = Split::train;
  int epoch = 0;
  int epochs = 0;
  std::int64_t step = 0;  ///< steps of training so far, over all epochs
  std::int64_t batch = 0;
  std::int64_t batches = 0;
  std::int64_t items = 0;  ///< of this split, so far
  std::int64_t total_items = 0;
  double learning_rate = 0;
  double items_per_second = 0;  ///< over this split
  double seconds = 0;           ///< since the run began
  double seconds_left = -1;     ///< until the run ends; negative: not known yet
  std::span<const MetricInfo> metrics;
  std::span<const double> batch_values;  ///< of the step's last batch
  std::span<const double> values;        ///< of all samples of the split so far
};

/// After the last batch of a split.
struct SplitInfo {
  Split split = Split::train;
  int epoch = 0;
  int epochs = 0;
  std::int64_t step = 0;
  std::int64_t items = 0;
  double seconds = 0;  ///< spent in the split by this process
  double items_per_second = 0;
  std::span<const MetricInfo> metrics;
  std::span<const double> values;
};

enum class StopReason : std::uint8_t { finished, early_stopped, interrupted };
std::string_view stop_reason_name(StopReason reason);

struct RunEnd {
  StopReason reason = StopReason::finished;
  int epochs = 0;  ///< finished ones
  std::int64_t step = 0;
  double seconds = 0;
  const History* history = nullptr;
  /// Position in the history; -1 when no epoch has a number to be judged by.
  int best_epoch = -1;
};

/// Gets the events of a run, one at a time and in order, on a thread of the learner. An exception
/// ends the run and comes out of `Learner::fit`. The infos live only during the call.
class Renderer {
 public:
  virtual ~Renderer() = default;

  virtual void run_begin(const RunInfo&) {}
  virtual void step(const StepInfo&) {}
  virtual void split_end(const SplitInfo&) {}
  virtual void checkpoint(std::string_view /*path*/, std::int64_t /*step*/) {}
  /// A remark for the reader, in one sentence.
  virtual void message(std::string_view) {}
  virtual void run_end(const RunEnd&) {}
  /// The run ends by an exception: time to leave the screen as it was.
  virtual void run_failed() noexcept {}
};

}  // namespace sinter::train
