// SPDX-License-Identifier: MIT OR Apache-2.0
// Checkpoint files: one safetensors record for each saved step of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sinter/store/record.hpp"

namespace sinter::train {

/// The checkpoints of one run in a folder, as step-00000123.safetensors.
///
/// A file is written under a temporary name and renamed: a crash or kill at any moment leaves the
/// ones before it whole.
class CheckpointFolder {
 public:
  /// The folder is made by `prepare`, or by the first `save`.
  explicit CheckpointFolder(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  std::string path(std::int64_t step) const;
  /// Steps that have a checkpoint, rising.
  std::vector<std::int64_t> steps() const;
  std::optional<std::int64_t> latest() const;

  /// Makes the folder and sees whether files can be written there; throws IoError.
  void prepare();
  /// Writes a checkpoint and returns its path; throws IoError.
  std::string save(std::int64_t step, const store::Record& record);
  /// Of the checkpoints up to `current`, removes all but the `last` latest and that of step `best`;
  /// also what killed writers left.
  void prune(std::int64_t current, int last, std::optional<std::int64_t> best);

 private:
  std::string folder_;
};

/// The file that a run goes on from: `path` itself, or the latest checkpoint when it is a folder.
/// Throws IoError when there is none.
std::string find_checkpoint(const std::string& path);

}  // namespace sinter::train
