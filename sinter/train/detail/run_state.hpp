// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a run stands, and its form in a checkpoint.
#pragma once

#include <cstdint>

#include "sinter/graph/generator.hpp"
#include "sinter/store/record.hpp"
#include "sinter/train/history.hpp"

namespace sinter::train::detail {

/// All that changes during a run, save for what the task keeps (module, optimizer, loader).
struct RunState {
  std::int64_t epoch = 0;  ///< finished epochs
  std::int64_t step = 0;
  bool train_done = false;   ///< of the current epoch, only validation is left
  std::int64_t batches = 0;  ///< of the current epoch's training
  std::int64_t items = 0;
  RandomKey random;
  std::vector<double> train_metrics;  ///< MetricSet::state of the current epoch's training
  History history;
};

void save_state(const RunState& state, store::Record& record);

/// Reads what `save_state` wrote; `origin` is the file's name in messages. Throws FormatError for a
/// record that is no checkpoint, ArgumentError when its metrics aren't `metrics`.
RunState load_state(const store::Record& record, std::span<const MetricInfo> metrics,
                    std::string_view origin);

}  // namespace sinter::train::detail
