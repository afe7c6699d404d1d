// SPDX-License-Identifier: MIT OR Apache-2.0
// Learning-rate schedules: values that count their steps.
#pragma once

#include <cstdint>
#include <vector>

namespace sinter::optim {

struct ConstantLr {
  double lr = 1e-3;
};
/// From `initial` to `final` in `steps` steps, then constant. As `initial < final` it is a warm-up.
struct LinearLr {
  double initial = 1e-3;
  double final = 0;
  std::int64_t steps = 1;
};
/// Half a cosine from `initial` to `min` in `steps` steps; then it stays at `min`, or with
/// `restarts` swings back and forth.
struct CosineLr {
  double initial = 1e-3;
  double min = 0;
  std::int64_t steps = 1;
  bool restarts = false;
};
/// Times `gamma` each `step_size` steps.
struct StepLr {
  double initial = 1e-3;
  std::int64_t step_size = 1;
  double gamma = 0.1;
};
/// Times `gamma` each step.
struct ExponentialLr {
  double initial = 1e-3;
  double gamma = 0.99;
};
/// factor * d_model^-0.5 * min(n^-0.5, n * warmup_steps^-1.5) (Vaswani et al. 2017).
struct NoamLr {
  double factor = 1;
  std::int64_t warmup_steps = 4000;
  std::int64_t d_model = 512;
};

/// A schedule of any of these kinds, or of several together. A value: copies count apart.
///
///     auto lr = Scheduler::sequential({LinearLr{0, 1e-3, 100}, CosineLr{1e-3, 0, 900}}, {100});
///     optim.step(lr.next(), model, gradients);
class Scheduler {
 public:
  enum class Fold : std::uint8_t { sequential, product, sum, average };

  Scheduler(ConstantLr config);
  Scheduler(LinearLr config);
  Scheduler(CosineLr config);
  Scheduler(StepLr config);
  Scheduler(ExponentialLr config);
  Scheduler(NoamLr config);
  /// A bare number is constant.
  Scheduler(double lr) : Scheduler(ConstantLr{lr}) {}
  /// One after another: part i + 1 starts, at its own step 0, at step `milestones[i]`.
  /// ArgumentError unless there is one milestone less than parts, and they rise.
  static Scheduler sequential(std::vector<Scheduler> parts, std::vector<std::int64_t> milestones);
  /// The product (sum, average) of parts that run side by side.
  static Scheduler composed(std::vector<Scheduler> parts, Fold fold = Fold::product);

  /// The rate of step `step`, counted from 0.
  [[nodiscard]] double at(std::int64_t step) const;
  /// The rate of the current step, and moves on.
  double next() { return at(step_++); }
  /// For resume: how many steps were taken.
  [[nodiscard]] std::int64_t state() const { return step_; }
  void load_state(std::int64_t steps) { step_ = steps; }

 private:
  enum class Kind : std::uint8_t { constant, linear, cosine, stair, exponential, noam, several };
  Scheduler(Kind kind, double a, double b, double c, bool flag = false)
      : kind_(kind), flag_(flag), a_(a), b_(b), c_(c) {}

  Kind kind_;
  bool flag_ = false;
  Fold fold_ = Fold::sequential;
  double a_ = 0;
  double b_ = 0;
  double c_ = 0;
  std::int64_t step_ = 0;
  std::vector<Scheduler> parts_;
  std::vector<std::int64_t> milestones_;
};

}  // namespace sinter::optim
