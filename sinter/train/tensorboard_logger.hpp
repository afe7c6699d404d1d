// SPDX-License-Identifier: MIT OR Apache-2.0
// A run's numbers as event files that TensorBoard shows.
#pragma once

#include <string>

#include "sinter/train/renderer.hpp"

namespace sinter::train {

/// Writes `folder/train/events.out.tfevents.*` and `folder/valid/events.out.tfevents.*`, which
/// `tensorboard --logdir folder` shows as two curves in each chart. Scalars are "step/<metric>" and
/// "step/learning_rate" for each told step of training, "epoch/<metric>" over all samples of a
/// split; both lie at the number of the step. A resumed run adds files. Throws IoError.
///
/// The format is TFRecord (length, masked CRC-32C, data, masked CRC-32C) around protobuf's `Event`.
class TensorBoardLogger final : public Renderer {
 public:
  explicit TensorBoardLogger(std::string folder);

  void step(const StepInfo& info) override;
  void split_end(const SplitInfo& info) override;

 private:
  void write(Split split, std::int64_t step, std::string_view values);

  std::string folder_;
  std::string paths_[2];  // of train and valid; empty until there is something to write
};

}  // namespace sinter::train
