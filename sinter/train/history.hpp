// SPDX-License-Identifier: MIT OR Apache-2.0
// What a run has measured, epoch by epoch, and the decisions drawn from it: best epoch, early stop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sinter/train/metric.hpp"

namespace sinter::train {

enum class Split : std::uint8_t { train, valid };
std::string_view split_name(Split split);

/// One finished epoch; the values stand in the order of the learner's metrics.
struct EpochRecord {
  std::int64_t step = 0;  ///< steps taken when it ended
  std::vector<double> train;
  std::vector<double> valid;  ///< empty without a validation split
};

/// The metrics and their values of all finished epochs.
struct History {
  std::vector<MetricInfo> metrics;
  std::vector<EpochRecord> epochs;

  /// Values of one metric over the epochs; throws ArgumentError for a name that there isn't.
  std::vector<double> values(Split split, std::string_view metric) const;
  int find(std::string_view metric) const;
};

/// `a` is better than `b`. NaN is better than nothing at all: never than a number, nor than NaN.
bool better(double a, double b, bool higher_is_better);

/// Position of the first of the best values; nullopt when all are NaN.
std::optional<std::size_t> best_of(std::span<const double> values, bool higher_is_better);

/// What the best epoch is judged by.
struct BestRule {
  std::string metric = "loss";
  Split split = Split::valid;
};

/// Ends a run whose metric gets no better.
struct EarlyStopping {
  std::string metric = "loss";
  Split split = Split::valid;
  int patience = 3;      ///< epochs without improvement after which the run ends
  double min_delta = 0;  ///< an improvement is larger than this
  int warmup = 0;        ///< epochs at the start that never end the run
};

/// Whether the run ends after the last epoch of `history`.
bool should_stop(const EarlyStopping& rule, const History& history);

/// A table of each split's metrics: first, last and best value, and the best one's epoch.
std::string summary_table(const History& history);

}  // namespace sinter::train
