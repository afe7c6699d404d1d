// SPDX-License-Identifier: MIT OR Apache-2.0
// Progress as text.
#include "sinter/train/plain_renderer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sinter/base/os/terminal.hpp"

namespace sinter::train {

namespace {

constexpr double redraw_seconds = 0.1;
constexpr int bar_width = 24;

std::string values_text(std::span<const MetricInfo> metrics, std::span<const double> values) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", metrics[i].name, metrics[i].str(values[i]));
  }
  return out;
}

/// 12345 as "12 345".
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) {
    digits.insert(i - 3, 1, ' ');
  }
  return digits;
}

std::string speed_text(double items_per_second) {
  return fmt::format("{:.{}f} items/s", items_per_second, items_per_second < 10 ? 1 : 0);
}

std::string tail_text(const StepInfo& info) {
  std::string out;
  if (info.split == Split::train) {
    out += fmt::format("lr {:.3g}, ", info.learning_rate);
  }
  out += speed_text(info.items_per_second);
  if (info.seconds_left >= 0) {
    out += fmt::format(", {} left", clock_text(info.seconds_left));
  }
  return out;
}

std::string bar(double share) {
  const int filled = std::clamp(static_cast<int>(share * bar_width), 0, bar_width);
  std::string out(static_cast<std::size_t>(filled), '=');
  if (filled < bar_width) {
    out += '>';
    out.append(static_cast<std::size_t>(bar_width - filled - 1), ' ');
  }
  return out;
}

}  // namespace

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(seconds, 0.0)));
  if (whole < 3600) {
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
  }
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

PlainRenderer::PlainRenderer(std::FILE* out, const PlainOptions& options)
    : out_(out), options_(options) {
  using Style = PlainOptions::Style;
  const os::Stream stream =
      out == stderr ? os::Stream::standard_error : os::Stream::standard_output;
  const bool standard = out == stdout || out == stderr;
  redrawn_ = options.style == Style::redrawn ||
             (options.style == Style::automatic && standard && os::is_terminal(stream));
  if (redrawn_ && options_.width <= 0) {
    options_.width = standard ? os::terminal_width(stream) : 80;
  }
}

PlainRenderer::~PlainRenderer() { end_redrawn(); }

void PlainRenderer::run_begin(const RunInfo& info) {
  std::string text =
      fmt::format("training on {}: {} epoch{} of {} step{}, {} training", info.device, info.epochs,
                  info.epochs == 1 ? "" : "s", info.steps_per_epoch,
                  info.steps_per_epoch == 1 ? "" : "s", grouped(info.train_items));
  if (info.valid_items > 0) {
    text += fmt::format(" and {} validation", grouped(info.valid_items));
  }
  line(text + fmt::format(" items, {} parameters", grouped(info.num_params)));
  if (info.resumed_step > 0) {
    line(fmt::format("resumed after step {}", info.resumed_step));
  }
}

void PlainRenderer::step(const StepInfo& info) {
  const bool last = info.items >= info.total_items;
  if (redrawn_) {
    if (last || last_drawn_ < 0 || info.seconds - last_drawn_ >= redraw_seconds) {
      last_drawn_ = info.seconds;
      redraw(info);
    }
    return;
  }
  const std::int64_t every =
      options_.every > 0 ? options_.every : std::max<std::int64_t>(info.batches / 10, 1);
  // Without a wish, only training is shown in steps.
  if ((info.split == Split::valid && options_.every == 0) || (info.batch % every != 0 && !last)) {
    return;
  }
  line(fmt::format("epoch {}/{}, {} {}/{}: {}, {}", info.epoch, info.epochs,
                   info.split == Split::train ? "step" : "validation", info.batch, info.batches,
                   values_text(info.metrics, info.values), tail_text(info)));
}

void PlainRenderer::redraw(const StepInfo& info) {
  const double share = info.total_items > 0
                           ? static_cast<double>(info.items) / static_cast<double>(info.total_items)
                           : 1;
  std::string text = fmt::format("epoch {}/{} {} [{}] {:3.0f} %  {}, {}", info.epoch, info.epochs,
                                 split_name(info.split), bar(share), 100 * share,
                                 values_text(info.metrics, info.values), tail_text(info));
  // A line that wraps can't be redrawn.
  text.resize(std::min(text.size(), static_cast<std::size_t>(std::max(options_.width - 1, 1))));
  fmt::print(out_, "\r{}\x1b[K", text);
  std::fflush(out_);
  open_ = true;
}

void PlainRenderer::split_end(const SplitInfo& info) {
  line(fmt::format("epoch {}/{}, {}: {}, {}, {}", info.epoch, info.epochs, split_name(info.split),
                   values_text(info.metrics, info.values), clock_text(info.seconds),
                   speed_text(info.items_per_second)));
  last_drawn_ = -1;
}

void PlainRenderer::checkpoint(std::string_view path, std::int64_t) {
  line(fmt::format("saved {}", path));
}

void PlainRenderer::message(std::string_view text) { line(text); }

void PlainRenderer::run_end(const RunEnd& info) {
  const char* how = info.reason == StopReason::finished        ? "finished"
                    : info.reason == StopReason::early_stopped ? "stopped early"
                                                               : "interrupted";
  line(fmt::format("{} after {} epoch{} and {} step{}, {}", how, info.epochs,
                   info.epochs == 1 ? "" : "s", info.step, info.step == 1 ? "" : "s",
                   clock_text(info.seconds)));
  if (!info.history->epochs.empty()) {
    fmt::print(out_, "\n{}", summary_table(*info.history));
  }
  std::fflush(out_);
}

void PlainRenderer::run_failed() noexcept { end_redrawn(); }

void PlainRenderer::line(std::string_view text) {
  fmt::print(out_, "{}{}\n", open_ ? "\r\x1b[K" : "", text);
  open_ = false;
  std::fflush(out_);
}

void PlainRenderer::end_redrawn() noexcept {
  if (open_) {
    std::fputc('\n', out_);
    std::fflush(out_);
    open_ = false;
  }
}

}  // namespace sinter::train
