// SPDX-License-Identifier: MIT OR Apache-2.0
// The learner's loop.
#include "sinter/train/detail/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sinter/base/os/clock.hpp"
#include "sinter/base/os/signal.hpp"
#include "sinter/train/checkpoint.hpp"
#include "sinter/train/detail/run_state.hpp"
#include "sinter/train/detail/worker.hpp"

namespace sinter::train {

std::string_view stop_reason_name(StopReason reason) {
  constexpr std::string_view names[] = {"finished", "early_stopped", "interrupted"};
  return names[static_cast<std::size_t>(reason)];
}

namespace detail {

namespace {

// Steps whose metrics may be outstanding: enough to hide a slow reading, few enough to hold little
// memory.
constexpr std::size_t waiting_steps = 16;

void check(const LearnerConfig& config) {
  const auto require = [](bool holds, std::string_view what, std::int64_t got) {
    if (!holds) {
      throw ArgumentError(fmt::format("Learner: {}, got {}", what, got));
    }
  };
  require(config.epochs >= 0, "epochs must be at least 0", config.epochs);
  require(config.accumulate >= 1, "accumulate must be at least 1", config.accumulate);
  require(config.keep_last >= 1, "keep_last must be at least 1", config.keep_last);
  require(config.log_every >= 1, "log_every must be at least 1", config.log_every);
  require(config.checkpoint_every >= 0, "checkpoint_every must be at least 0",
          config.checkpoint_every);
  if (!config.device.is_autodiff()) {
    throw ArgumentError(fmt::format(
        "Learner: training needs a device with gradients, got `{}`; use device.autodiff()",
        config.device.name()));
  }
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

Gradients back_propagate(StepOutput& output, double weight) {
  if (!output.loss.is_set() || output.loss.num_elements() != 1) {
    throw ShapeError(
        fmt::format("Learner: the step function's loss must be one element, got {}; take its mean",
                    output.loss.is_set() ? output.loss.shape().str() : std::string("none")));
  }
  Gradients gradients = weight == 1 ? output.loss.backward() : (output.loss * weight).backward();
  output.loss = output.loss.inner();
  output.output = output.output.is_set() ? output.output.inner() : output.output;
  output.targets = output.targets.is_set() ? output.targets.inner() : output.targets;
  return gradients;
}

double relative_items(const std::vector<StepOutput>& outputs) {
  const auto first = static_cast<double>(std::max<std::int64_t>(outputs.front().items, 1));
  return static_cast<double>(outputs.back().items) / first;
}

const std::string& metadata(const store::Record& record, const std::string& key) {
  const auto found = record.metadata().find(key);
  if (found == record.metadata().end()) {
    throw FormatError(fmt::format("checkpoint: expected metadata `{}`, but there is none", key));
  }
  return found->second;
}

struct Loop::Settings {
  LearnerConfig config;
  MetricSet metrics;
  std::vector<std::shared_ptr<Renderer>> renderers;
  std::atomic<bool> stop{false};
};

namespace {

/// One call of `Loop::run`.
class Run {
 public:
  Run(const LearnerConfig& config, const MetricSet& metrics,
      std::span<const std::shared_ptr<Renderer>> renderers, std::atomic<bool>& stop,
      LoopTask& task);
  FitResult run();

 private:
  void resume();
  StopReason epochs();
  void check_rules() const;
  /// False when the run was interrupted.
  bool train_epoch();
  bool valid_epoch();
  void after_step(double rate, std::vector<StepOutput>& outputs);
  void finish_epoch();
  bool stopped_early() const;
  void save_checkpoint();
  std::optional<std::size_t> best_epoch() const;
  bool interrupted() const { return stop_ || (guard_ && guard_->requested()); }
  double now() const { return (config_.clock ? config_.clock : os::monotonic_seconds)() - start_; }
  void begin_split(Split split);
  void end_split();
  StepInfo step_info() const;
  double seconds_left() const;

  /// Lets each renderer see an event, on the worker.
  template <class F>
  void tell(F event) {
    worker_->post([this, event = std::move(event)] {
      for (const auto& renderer : renderers_) {
        event(*renderer);
      }
    });
  }
  RunInfo run_info() const;

  const LearnerConfig& config_;
  std::span<const std::shared_ptr<Renderer>> renderers_;
  std::atomic<bool>& stop_;
  LoopTask& task_;
  const Counts train_, valid_;

  std::optional<os::InterruptGuard> guard_;
  Generator generator_;
  RunState state_;
  MetricSet metrics_;  // of the split under way; used by the worker while it has jobs
  std::vector<double> train_values_;
  std::string last_checkpoint_;

  // The split under way, as this process sees it.
  Split split_ = Split::train;
  std::int64_t split_items_ = 0;  // all
  std::int64_t split_batches_ = 0;
  std::int64_t timed_items_ = 0;  // those taken by this process
  double split_start_ = 0;
  double start_ = 0;
  // Seconds per item, for the time left; the first step is left out: it warms up.
  double train_seconds_ = 0;
  std::int64_t train_timed_ = 0;
  double last_step_ = -1;
  double valid_per_item_ = -1;

  std::optional<Worker> worker_;  // last: its jobs use all the others
};

Run::Run(const LearnerConfig& config, const MetricSet& metrics,
         std::span<const std::shared_ptr<Renderer>> renderers, std::atomic<bool>& stop,
         LoopTask& task)
    : config_(config),
      renderers_(renderers),
      stop_(stop),
      task_(task),
      train_(task.train_counts()),
      valid_(task.valid_counts()),
      generator_(config.seed),
      metrics_(metrics.fresh()) {
  state_.history.metrics.assign(metrics_.infos().begin(), metrics_.infos().end());
}

FitResult Run::run() {
  check_rules();
  start_ = now();
  if (config_.resume.empty()) {
    task_.begin_train(0);
  } else {
    resume();
  }
  if (config_.handle_interrupt) {
    guard_.emplace();
  }
  const GeneratorScope scope(generator_);
  worker_.emplace(waiting_steps);
  try {
    tell([info = run_info()](Renderer& renderer) { renderer.run_begin(info); });
    const StopReason reason = epochs();
    FitResult result{.reason = reason,
                     .history = state_.history,
                     .step = state_.step,
                     .seconds = now(),
                     .best_epoch = best_epoch(),
                     .last_checkpoint = last_checkpoint_,
                     .best_checkpoint = {}};
    if (result.best_epoch && !config_.checkpoints.empty()) {
      const std::int64_t best = state_.history.epochs[*result.best_epoch].step;
      result.best_checkpoint = CheckpointFolder(config_.checkpoints).path(best);
    }
    const RunEnd end{.reason = reason,
                     .epochs = static_cast<int>(state_.epoch),
                     .step = state_.step,
                     .seconds = result.seconds,
                     .history = &state_.history,
                     .best_epoch = result.best_epoch ? static_cast<int>(*result.best_epoch) : -1};
    tell([end](Renderer& renderer) { renderer.run_end(end); });
    worker_->drain();
    return result;
  } catch (...) {
    // The steps that were made are still told.
    try {
      worker_->drain();
    } catch (...) {
    }
    worker_.reset();
    for (const auto& renderer : renderers_) {
      renderer->run_failed();
    }
    throw;
  }
}

StopReason Run::epochs() {
  while (!stopped_early()) {
    if (state_.epoch >= config_.epochs) {
      return StopReason::finished;
    }
    if (!train_epoch() || !valid_epoch()) {
      save_checkpoint();
      return StopReason::interrupted;
    }
    finish_epoch();
  }
  return StopReason::early_stopped;
}

void Run::check_rules() const {
  if (config_.resume.empty() && !config_.checkpoints.empty() &&
      CheckpointFolder(config_.checkpoints).latest()) {
    throw ArgumentError(fmt::format(
        "Learner: the folder `{}` holds the checkpoints of another run; resume that one, or give "
        "this one another folder",
        config_.checkpoints));
  }
  // A misspelt name is told before the first epoch, not after it.
  (void)state_.history.values(config_.best.split, config_.best.metric);
  if (config_.early_stopping) {
    (void)state_.history.values(config_.early_stopping->split, config_.early_stopping->metric);
  }
  // So is a folder that can't be written to.
  if (!config_.checkpoints.empty()) {
    CheckpointFolder(config_.checkpoints).prepare();
  }
}

void Run::resume() {
  const std::string path = find_checkpoint(config_.resume);
  const store::Record record = store::Record::load(path);
  RunState loaded = load_state(record, metrics_.infos(), path);
  MetricSet metrics = metrics_.fresh();
  metrics.restore(loaded.train_metrics);
  task_.load(record);
  metrics_ = std::move(metrics);
  generator_.restore(loaded.random);
  state_ = std::move(loaded);
}

RunInfo Run::run_info() const {
  return {.device = config_.device.name(),
          .seed = config_.seed,
          .epochs = config_.epochs,
          .steps_per_epoch = divide_up(train_.batches, config_.accumulate),
          .train_items = train_.items,
          .valid_items = valid_.items,
          .num_params = task_.num_params(),
          .resumed_step = state_.step,
          .metrics = metrics_.infos()};
}

void Run::begin_split(Split split) {
  split_ = split;
  split_start_ = now();
  timed_items_ = 0;
  last_step_ = -1;
  split_items_ = split == Split::train ? state_.items : 0;
  split_batches_ = split == Split::train ? state_.batches : 0;
}

StepInfo Run::step_info() const {
  const bool train = split_ == Split::train;
  const double seconds = now();
  const double spent = seconds - split_start_;
  return {.split = split_,
          .epoch = static_cast<int>(state_.epoch) + 1,
          .epochs = config_.epochs,
          .step = state_.step,
          .batch = train ? divide_up(split_batches_, config_.accumulate) : split_batches_,
          .batches = train ? divide_up(train_.batches, config_.accumulate) : valid_.batches,
          .items = split_items_,
          .total_items = train ? train_.items : valid_.items,
          .learning_rate = 0,
          .items_per_second = spent > 0 ? static_cast<double>(timed_items_) / spent : 0,
          .seconds = seconds,
          .seconds_left = seconds_left(),
          .metrics = metrics_.infos(),
          .batch_values = {},
          .values = {}};
}

double Run::seconds_left() const {
  if (train_timed_ == 0) {
    return -1;
  }
  const double per_item = train_seconds_ / static_cast<double>(train_timed_);
  // Before the first validation is measured: a forward pass is about a third of a step.
  const double per_valid = valid_per_item_ >= 0 ? valid_per_item_ : per_item / 3;
  const auto epochs = static_cast<double>(config_.epochs - state_.epoch);
  double train_items = epochs * static_cast<double>(train_.items);
  double valid_items = epochs * static_cast<double>(valid_.items);
  if (split_ == Split::train) {
    train_items -= static_cast<double>(split_items_);
  } else {
    train_items -= static_cast<double>(train_.items);
    valid_items -= static_cast<double>(split_items_);
  }
  return train_items * per_item + valid_items * per_valid;
}

bool Run::train_epoch() {
  if (state_.train_done) {
    begin_split(Split::train);
    worker_->drain();
    train_values_ = metrics_.values();
    return true;
  }
  begin_split(Split::train);
  std::vector<StepOutput> outputs;
  while (!interrupted()) {
    outputs.clear();
    const double rate = config_.schedule.at(state_.step);
    // Never over the end of the epoch, which the loader tells once, in place of a batch.
    const std::int64_t left = std::max<std::int64_t>(train_.batches - state_.batches, 1);
    const int count = static_cast<int>(std::min<std::int64_t>(config_.accumulate, left));
    task_.train_step(count, rate, config_.device, outputs);
    if (outputs.empty()) {
      state_.train_done = true;
      break;
    }
    after_step(rate, outputs);
    if (config_.checkpoint_every > 0 && state_.step % config_.checkpoint_every == 0 &&
        state_.batches < train_.batches) {
      save_checkpoint();
    }
  }
  if (!state_.train_done) {
    return false;
  }
  end_split();
  worker_->drain();
  train_values_ = metrics_.values();
  return true;
}

void Run::after_step(double rate, std::vector<StepOutput>& outputs) {
  ++state_.step;
  std::int64_t items = 0;
  for (const StepOutput& output : outputs) {
    items += output.items;
  }
  split_batches_ += static_cast<std::int64_t>(outputs.size());
  split_items_ += items;
  timed_items_ += items;
  state_.batches = split_batches_;
  state_.items = split_items_;
  StepInfo info = step_info();
  info.learning_rate = rate;
  if (last_step_ >= 0) {
    train_seconds_ += info.seconds - last_step_;
    train_timed_ += items;
    info.seconds_left = seconds_left();
  }
  last_step_ = info.seconds;
  const bool last = state_.batches >= train_.batches;
  const bool shown = last || info.batch % config_.log_every == 0;
  worker_->post([this, info, shown, outputs = std::move(outputs)]() mutable {
    std::vector<double> batch_values;
    for (StepOutput& output : outputs) {
      batch_values = metrics_.update(Observation(std::move(output)));
    }
    if (shown) {
      const std::vector<double> values = metrics_.values();
      info.batch_values = batch_values;
      info.values = values;
      for (const auto& renderer : renderers_) {
        renderer->step(info);
      }
    }
  });
}

void Run::end_split() {
  const double seconds = now() - split_start_;
  SplitInfo info{.split = split_,
                 .epoch = static_cast<int>(state_.epoch) + 1,
                 .epochs = config_.epochs,
                 .step = state_.step,
                 .items = split_items_,
                 .seconds = seconds,
                 .items_per_second = seconds > 0 ? static_cast<double>(timed_items_) / seconds : 0,
                 .metrics = metrics_.infos(),
                 .values = {}};
  if (split_ == Split::valid && timed_items_ > 0) {
    valid_per_item_ = seconds / static_cast<double>(timed_items_);
  }
  worker_->post([this, info]() mutable {
    const std::vector<double> values = metrics_.values();
    info.values = values;
    for (const auto& renderer : renderers_) {
      renderer->split_end(info);
    }
  });
}

bool Run::valid_epoch() {
  if (!task_.has_valid()) {
    return true;
  }
  // An interrupted validation is done anew by the run that resumes, from training's metrics.
  state_.train_metrics = metrics_.state();
  metrics_ = metrics_.fresh();
  begin_split(Split::valid);
  task_.begin_valid();
  const Device device = config_.device.inner();
  while (!interrupted()) {
    StepOutput output;
    if (!task_.valid_step(device, output)) {
      end_split();
      worker_->drain();
      return true;
    }
    split_items_ += output.items;
    timed_items_ += output.items;
    ++split_batches_;
    StepInfo info = step_info();
    const bool shown = split_batches_ >= valid_.batches || split_batches_ % config_.log_every == 0;
    worker_->post([this, info, shown, output = std::move(output)]() mutable {
      const std::vector<double> batch_values = metrics_.update(Observation(std::move(output)));
      if (shown) {
        const std::vector<double> values = metrics_.values();
        info.batch_values = batch_values;
        info.values = values;
        for (const auto& renderer : renderers_) {
          renderer->step(info);
        }
      }
    });
  }
  worker_->drain();
  return false;
}

void Run::finish_epoch() {
  // All metrics of the epoch have arrived: both splits were drained.
  state_.history.epochs.push_back(
      {.step = state_.step,
       .train = train_values_,
       .valid = task_.has_valid() ? metrics_.values() : std::vector<double>()});
  metrics_ = metrics_.fresh();
  split_ = Split::train;
  ++state_.epoch;
  state_.train_done = false;
  state_.batches = state_.items = 0;
  save_checkpoint();
}

bool Run::stopped_early() const {
  if (!config_.early_stopping || state_.history.epochs.empty()) {
    return false;
  }
  EarlyStopping rule = *config_.early_stopping;
  rule.split = task_.has_valid() ? rule.split : Split::train;
  return should_stop(rule, state_.history);
}

std::optional<std::size_t> Run::best_epoch() const {
  const Split split = task_.has_valid() ? config_.best.split : Split::train;
  const auto at = static_cast<std::size_t>(state_.history.find(config_.best.metric));
  return best_of(state_.history.values(split, config_.best.metric),
                 state_.history.metrics[at].higher_is_better);
}

void Run::save_checkpoint() {
  worker_->drain();
  if (config_.checkpoints.empty()) {
    return;
  }
  // During validation the metrics of training stand aside already.
  if (split_ == Split::train) {
    state_.train_metrics = metrics_.state();
  }
  state_.random = generator_.state();
  store::Record record;
  task_.save(record);
  save_state(state_, record);
  CheckpointFolder folder(config_.checkpoints);
  last_checkpoint_ = folder.save(state_.step, record);
  const auto best = best_epoch();
  folder.prune(state_.step, config_.keep_last,
               best ? std::optional(state_.history.epochs[*best].step) : std::nullopt);
  tell([path = last_checkpoint_, step = state_.step](Renderer& renderer) {
    renderer.checkpoint(path, step);
  });
}

}  // namespace

Loop::Loop(LearnerConfig config) : settings_(std::make_unique<Settings>()) {
  check(config);
  settings_->config = std::move(config);
  settings_->metrics.add(std::make_unique<LossMetric>());
}

Loop::Loop(Loop&&) noexcept = default;
Loop::~Loop() = default;

void Loop::add_metric(std::unique_ptr<Metric> metric) { settings_->metrics.add(std::move(metric)); }

void Loop::attach(std::shared_ptr<Renderer> renderer) {
  settings_->renderers.push_back(std::move(renderer));
}

void Loop::interrupt() { settings_->stop = true; }

FitResult Loop::run(LoopTask& task) {
  settings_->stop = false;
  Run run(settings_->config, settings_->metrics, settings_->renderers, settings_->stop, task);
  return run.run();
}

}  // namespace detail
}  // namespace sinter::train
