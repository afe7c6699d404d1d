// SPDX-License-Identifier: MIT OR Apache-2.0
// Progress as text: one line that is redrawn on a terminal, plain lines elsewhere.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "sinter/train/renderer.hpp"

namespace sinter::train {

struct PlainOptions {
  enum class Style : std::uint8_t { automatic, lines, redrawn };
  /// automatic: redrawn when the sink is standard output or error and that is a terminal.
  Style style = Style::automatic;
  /// Lines: a step in this many is written, and the last of each split; 0 writes about ten in an
  /// epoch.
  std::int64_t every = 0;
  /// Columns of a redrawn line; 0 asks the terminal.
  int width = 0;
};

/// Writes what a run tells to `out`, which the caller keeps open. A redrawn line uses nothing but a
/// carriage return and "erase to the end of the line": the terminal's settings are never touched.
class PlainRenderer final : public Renderer {
 public:
  explicit PlainRenderer(std::FILE* out, const PlainOptions& options = {});
  ~PlainRenderer() override;
  PlainRenderer(const PlainRenderer&) = delete;
  PlainRenderer& operator=(const PlainRenderer&) = delete;

  void run_begin(const RunInfo& info) override;
  void step(const StepInfo& info) override;
  void split_end(const SplitInfo& info) override;
  void checkpoint(std::string_view path, std::int64_t step) override;
  void message(std::string_view text) override;
  void run_end(const RunEnd& info) override;
  void run_failed() noexcept override;

 private:
  void line(std::string_view text);
  void redraw(const StepInfo& info);
  void end_redrawn() noexcept;

  std::FILE* out_;
  PlainOptions options_;
  bool redrawn_ = false;
  bool open_ = false;  // a redrawn line is on the screen
  double last_drawn_ = -1;
};

/// "1:05" or "2:01:05".
std::string clock_text(double seconds);

}  // namespace sinter::train
