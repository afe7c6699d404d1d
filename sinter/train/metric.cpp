// SPDX-License-Identifier: MIT OR Apache-2.0
// Metrics: numbers that tell how well a model does.
#include "sinter/train/metric.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace sinter::train {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// How many of `scores` are ranked before the one at `target`.
std::int64_t rank_of(std::span<const float> scores, std::int64_t target) {
  const float own = scores[static_cast<std::size_t>(target)];
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(scores.size()); ++i) {
    const float score = scores[static_cast<std::size_t>(i)];
    before += std::isnan(score) || score > own || (score == own && i < target);
  }
  return before;
}

}  // namespace

double Observation::loss() const {
  if (!read_.loss) {
    loss_ = step_.loss.is_set() ? step_.loss.item<double>() : nan;
    read_.loss = true;
  }
  return loss_;
}

const HostData& Observation::output() const {
  if (!read_.output) {
    if (!step_.output.is_set()) {
      throw ArgumentError(
          "train: a metric needs the model's output, but the step function left "
          "StepOutput::output empty; set it, or drop the metric");
    }
    output_ = step_.output.to_data();
    read_.output = true;
  }
  return output_;
}

const HostData& Observation::targets() const {
  if (!read_.targets) {
    if (!step_.targets.is_set()) {
      throw ArgumentError(
          "train: a metric needs the targets, but the step function left "
          "StepOutput::targets empty; set it, or drop the metric");
    }
    targets_ = step_.targets.to_data();
    read_.targets = true;
  }
  return targets_;
}

std::string MetricInfo::str(double value) const {
  return fmt::format("{:.{}f}{}{}", value, decimals, unit.empty() ? "" : " ", unit);
}

double MeanMetric::update(const Observation& batch) {
  const Part part = measure(batch);
  sum_ += part.sum;
  count_ += part.count;
  return part.sum / part.count;
}

double MeanMetric::value() const { return sum_ / count_; }

std::vector<double> MeanMetric::state() const { return {sum_, count_}; }

void MeanMetric::restore(std::span<const double> state) {
  if (state.size() != 2) {
    throw ArgumentError(
        fmt::format("{}: expected a state of 2 numbers, got {}", info().name, state.size()));
  }
  sum_ = state[0];
  count_ = state[1];
}

MeanMetric::Part LossMetric::measure(const Observation& batch) const {
  const double items = static_cast<double>(batch.items());
  return {batch.items() == 0 ? 0 : batch.loss() * items, items};
}

TopKAccuracy::TopKAccuracy(Config config) : config_(config) {
  if (config.k < 1) {
    throw ArgumentError(fmt::format("TopKAccuracy: k must be at least 1, got {}", config.k));
  }
}

MetricInfo TopKAccuracy::info() const {
  return {.name = config_.k == 1 ? "accuracy" : fmt::format("top-{} accuracy", config_.k),
          .unit = "%",
          .decimals = 2,
          .higher_is_better = true};
}

MeanMetric::Part TopKAccuracy::measure(const Observation& batch) const {
  const HostData& output = batch.output();
  const HostData& targets = batch.targets();
  const std::int64_t classes =
      output.shape().rank() > 0 ? output.shape()[output.shape().rank() - 1] : 0;
  if (output.num_elements() != classes * targets.num_elements() ||
      (classes == 0 && targets.num_elements() > 0)) {
    throw ShapeError(
        fmt::format("{}: expected an output [items, classes] and targets [items], got {} and {}",
                    info().name, output.shape().str(), targets.shape().str()));
  }
  const HostData converted = output.dtype() == DType::f32 ? HostData() : output.cast(DType::f32);
  const std::span<const float> scores =
      output.dtype() == DType::f32 ? output.as<float>() : converted.as<float>();
  Part part;
  for (std::int64_t i = 0; i < targets.num_elements(); ++i) {
    const std::int64_t target = targets.int_at(i);
    if (target == config_.ignore) {
      continue;
    }
    if (target < 0 || target >= classes) {
      throw IndexError(fmt::format("{}: target {} of item {} is outside the {} classes",
                                   info().name, target, i, classes));
    }
    const auto row =
        scores.subspan(static_cast<std::size_t>(i * classes), static_cast<std::size_t>(classes));
    part.sum += rank_of(row, target) < config_.k ? 100 : 0;
    part.count += 1;
  }
  return part;
}

std::unique_ptr<Metric> LossMetric::fresh() const { return std::make_unique<LossMetric>(); }

std::unique_ptr<Metric> TopKAccuracy::fresh() const {
  return std::make_unique<TopKAccuracy>(config_);
}

MetricSet::MetricSet() = default;
MetricSet::MetricSet(MetricSet&&) noexcept = default;
MetricSet& MetricSet::operator=(MetricSet&&) noexcept = default;
MetricSet::~MetricSet() = default;

void MetricSet::add(std::unique_ptr<Metric> metric) {
  MetricInfo info = metric->info();
  if (find(info.name) >= 0) {
    throw ArgumentError(fmt::format("train: there is a metric `{}` already", info.name));
  }
  metrics_.push_back(std::move(metric));
  infos_.push_back(std::move(info));
}

MetricSet MetricSet::fresh() const {
  MetricSet set;
  for (const auto& metric : metrics_) {
    set.add(metric->fresh());
  }
  return set;
}

int MetricSet::find(std::string_view name) const {
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    if (infos_[i].name == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

std::vector<double> MetricSet::update(const Observation& batch) {
  std::vector<double> values;
  for (const auto& metric : metrics_) {
    values.push_back(metric->update(batch));
  }
  return values;
}

std::vector<double> MetricSet::values() const {
  std::vector<double> values;
  for (const auto& metric : metrics_) {
    values.push_back(metric->value());
  }
  return values;
}

std::vector<double> MetricSet::state() const {
  std::vector<double> all;
  for (const auto& metric : metrics_) {
    const std::vector<double> one = metric->state();
    all.push_back(static_cast<double>(one.size()));
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

void MetricSet::restore(std::span<const double> state) {
  std::size_t at = 0;
  const auto bad = [] {
    return ArgumentError("train: the saved state is of other metrics than this learner's");
  };
  for (const auto& metric : metrics_) {
    if (at >= state.size() || !(state[at] >= 0) ||
        state[at] > static_cast<double>(state.size() - at - 1)) {
      throw bad();
    }
    const auto size = static_cast<std::size_t>(state[at]);
    metric->restore(state.subspan(at + 1, size));
    at += 1 + size;
  }
  if (at != state.size()) {
    throw bad();
  }
}

}  // namespace sinter::train
