// SPDX-License-Identifier: MIT OR Apache-2.0
// What a run has measured, and the decisions drawn from it.
#include "sinter/train/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sinter::train {

std::string_view split_name(Split split) { return split == Split::train ? "train" : "valid"; }

int History::find(std::string_view metric) const {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].name == metric) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

std::vector<double> History::values(Split split, std::string_view metric) const {
  const int at = find(metric);
  if (at < 0) {
    std::string known;
    for (const MetricInfo& info : metrics) {
      known += (known.empty() ? "" : ", ") + info.name;
    }
    throw ArgumentError(
        fmt::format("train: there is no metric `{}`; this learner has {}", metric, known));
  }
  std::vector<double> out;
  for (const EpochRecord& epoch : epochs) {
    const auto& row = split == Split::train ? epoch.train : epoch.valid;
    if (static_cast<std::size_t>(at) < row.size()) {
      out.push_back(row[static_cast<std::size_t>(at)]);
    }
  }
  return out;
}

bool better(double a, double b, bool higher_is_better) {
  if (std::isnan(a) || std::isnan(b)) {
    return !std::isnan(a);
  }
  return higher_is_better ? a > b : a < b;
}

std::optional<std::size_t> best_of(std::span<const double> values, bool higher_is_better) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i]) && (!best || better(values[i], values[*best], higher_is_better))) {
      best = i;
    }
  }
  return best;
}

bool should_stop(const EarlyStopping& rule, const History& history) {
  const std::vector<double> values = history.values(rule.split, rule.metric);
  const bool higher =
      history.metrics[static_cast<std::size_t>(history.find(rule.metric))].higher_is_better;
  double best = std::nan("");
  int waited = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double needed = higher ? best + rule.min_delta : best - rule.min_delta;
    if (better(values[i], needed, higher)) {
      best = values[i];
      waited = 0;
    } else if (static_cast<int>(i) >= rule.warmup) {
      ++waited;
    }
  }
  return waited >= std::max(rule.patience, 1);
}

std::string summary_table(const History& history) {
  using Row = std::array<std::string, 6>;
  std::vector<Row> rows = {{"split", "metric", "first", "last", "best", "epoch"}};
  for (const Split split : {Split::train, Split::valid}) {
    for (const MetricInfo& info : history.metrics) {
      const std::vector<double> values = history.values(split, info.name);
      if (values.empty()) {
        continue;
      }
      const auto best = best_of(values, info.higher_is_better);
      rows.push_back({std::string(split_name(split)), info.name, info.str(values.front()),
                      info.str(values.back()), best ? info.str(values[*best]) : "-",
                      best ? std::to_string(*best + 1) : "-"});
    }
  }
  std::array<std::size_t, 6> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const Row& row : rows) {
    out += fmt::format("{:<{}}  {:<{}}", row[0], widths[0], row[1], widths[1]);
    for (std::size_t i = 2; i < row.size(); ++i) {
      out += fmt::format("  {:>{}}", row[i], widths[i]);
    }
    out += '\n';
  }
  return out;
}

}  // namespace sinter::train
