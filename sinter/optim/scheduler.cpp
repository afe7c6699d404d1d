// SPDX-License-Identifier: MIT OR Apache-2.0
// Formulas of learning-rate schedules.
#include "sinter/optim/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sinter/base/error.hpp"

namespace sinter::optim {
namespace {

double positive(std::string_view name, std::int64_t count) {
  if (count <= 0) {
    throw ArgumentError(fmt::format("schedule: `{}` must be 1 or more, got {}", name, count));
  }
  return static_cast<double>(count);
}

double cosine(double initial, double min, double progress) {
  return min + (initial - min) * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

}  // namespace

Scheduler::Scheduler(ConstantLr c) : Scheduler(Kind::constant, c.lr, 0, 0) {}
Scheduler::Scheduler(LinearLr c)
    : Scheduler(Kind::linear, c.initial, c.final, positive("steps", c.steps)) {}
Scheduler::Scheduler(CosineLr c)
    : Scheduler(Kind::cosine, c.initial, c.min, positive("steps", c.steps), c.restarts) {}
Scheduler::Scheduler(StepLr c)
    : Scheduler(Kind::stair, c.initial, c.gamma, positive("step_size", c.step_size)) {}
Scheduler::Scheduler(ExponentialLr c) : Scheduler(Kind::exponential, c.initial, c.gamma, 0) {}
Scheduler::Scheduler(NoamLr c)
    : Scheduler(Kind::noam, c.factor / std::sqrt(positive("d_model", c.d_model)),
                positive("warmup_steps", c.warmup_steps), 0) {}

Scheduler Scheduler::sequential(std::vector<Scheduler> parts,
                                std::vector<std::int64_t> milestones) {
  if (parts.empty() || milestones.size() + 1 != parts.size() ||
      !std::is_sorted(milestones.begin(), milestones.end())) {
    throw ArgumentError(
        fmt::format("Scheduler::sequential: {} parts need {} rising milestones, got {}",
                    parts.size(), parts.empty() ? 0 : parts.size() - 1, milestones.size()));
  }
  Scheduler scheduler(Kind::several, 0, 0, 0);
  scheduler.parts_ = std::move(parts);
  scheduler.milestones_ = std::move(milestones);
  return scheduler;
}

Scheduler Scheduler::composed(std::vector<Scheduler> parts, Fold fold) {
  if (parts.empty() || fold == Fold::sequential) {
    throw ArgumentError("Scheduler::composed: give at least one part, and product, sum or average");
  }
  Scheduler scheduler(Kind::several, 0, 0, 0);
  scheduler.fold_ = fold;
  scheduler.parts_ = std::move(parts);
  return scheduler;
}

double Scheduler::at(std::int64_t step) const {
  const double n = static_cast<double>(step);
  switch (kind_) {
    case Kind::constant:
      return a_;
    case Kind::linear:
      return a_ + (b_ - a_) * std::min(n / c_, 1.0);
    case Kind::cosine:
      return cosine(a_, b_, flag_ ? n / c_ : std::min(n / c_, 1.0));
    case Kind::stair:
      return a_ * std::pow(b_, std::floor(n / c_));
    case Kind::exponential:
      return a_ * std::pow(b_, n);
    case Kind::noam:
      // Steps count from 1 in the paper.
      return a_ * std::min(1 / std::sqrt(n + 1), (n + 1) * std::pow(b_, -1.5));
    case Kind::several:
      break;
  }
  if (fold_ == Fold::sequential) {
    const auto next = std::upper_bound(milestones_.begin(), milestones_.end(), step);
    const auto part = static_cast<std::size_t>(next - milestones_.begin());
    return parts_[part].at(part == 0 ? step : step - milestones_[part - 1]);
  }
  double product = 1;
  double sum = 0;
  for (const Scheduler& part : parts_) {
    const double rate = part.at(step);
    product *= rate;
    sum += rate;
  }
  return fold_ == Fold::product ? product
         : fold_ == Fold::sum   ? sum
                                : sum / static_cast<double>(parts_.size());
}

}  // namespace sinter::optim
