// SPDX-License-Identifier: MIT OR Apache-2.0
// What a run tells, as one JSON object a line in a file.
#pragma once

#include <string>
#include <string_view>

#include "sinter/train/renderer.hpp"

namespace sinter::train {

/// Appends to `path`: a resumed run continues its file. Each line has "event" ("run", "step",
/// "split", "checkpoint", "message" or "end"); metrics stand under their names, NaN and infinity
/// are null. Throws IoError.
///
///     {"event":"step","split":"train","epoch":1,"step":1,"items":4,"loss":0.69,"lr":0.01, …}
class JsonLogger final : public Renderer {
 public:
  explicit JsonLogger(std::string path);

  void run_begin(const RunInfo& info) override;
  void step(const StepInfo& info) override;
  void split_end(const SplitInfo& info) override;
  void checkpoint(std::string_view path, std::int64_t step) override;
  void message(std::string_view text) override;
  void run_end(const RunEnd& info) override;

 private:
  std::string path_;
};

}  // namespace sinter::train
