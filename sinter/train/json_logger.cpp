// SPDX-License-Identifier: MIT OR Apache-2.0
// What a run tells, as one JSON object a line.
#include "sinter/train/json_logger.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sinter/base/os/file.hpp"

namespace sinter::train {

namespace {

/// An object under construction, its members in the order they are added.
class Object {
 public:
  explicit Object(std::string_view event) { text("event", event); }

  Object& text(std::string_view key, std::string_view value) {
    start(key);
    quote(value);
    return *this;
  }
  Object& integer(std::string_view key, std::int64_t value) {
    start(key);
    out_ += fmt::format("{}", value);
    return *this;
  }
  /// With just enough digits to be read back as the same number.
  Object& number(std::string_view key, double value) {
    start(key);
    out_ += std::isfinite(value) ? fmt::format("{}", value) : "null";
    return *this;
  }
  Object& metrics(std::span<const MetricInfo> metrics, std::span<const double> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      number(metrics[i].name, values[i]);
    }
    return *this;
  }
  void write(const std::string& path) const { os::append_file(path, "{" + out_ + "}\n"); }

 private:
  void start(std::string_view key) {
    if (!out_.empty()) {
      out_ += ',';
    }
    quote(key);
    out_ += ':';
  }
  void quote(std::string_view value) {
    out_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        out_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }
  std::string out_;
};

}  // namespace

JsonLogger::JsonLogger(std::string path) : path_(std::move(path)) { os::append_file(path_, ""); }

void JsonLogger::run_begin(const RunInfo& info) {
  Object("run")
      .text("device", info.device)
      .integer("seed", static_cast<std::int64_t>(info.seed))
      .integer("epochs", info.epochs)
      .integer("steps_per_epoch", info.steps_per_epoch)
      .integer("train_items", info.train_items)
      .integer("valid_items", info.valid_items)
      .integer("num_params", info.num_params)
      .integer("resumed_step", info.resumed_step)
      .write(path_);
}

void JsonLogger::step(const StepInfo& info) {
  Object object("step");
  object.text("split", split_name(info.split))
      .integer("epoch", info.epoch)
      .integer("step", info.step)
      .integer("batch", info.batch)
      .integer("items", info.items)
      .metrics(info.metrics, info.batch_values);
  if (info.split == Split::train) {
    object.number("lr", info.learning_rate);
  }
  object.number("items_per_second", info.items_per_second)
      .number("seconds", info.seconds)
      .write(path_);
}

void JsonLogger::split_end(const SplitInfo& info) {
  Object("split")
      .text("split", split_name(info.split))
      .integer("epoch", info.epoch)
      .integer("step", info.step)
      .integer("items", info.items)
      .metrics(info.metrics, info.values)
      .number("items_per_second", info.items_per_second)
      .number("seconds", info.seconds)
      .write(path_);
}

void JsonLogger::checkpoint(std::string_view path, std::int64_t step) {
  Object("checkpoint").integer("step", step).text("path", path).write(path_);
}

void JsonLogger::message(std::string_view text) {
  Object("message").text("text", text).write(path_);
}

void JsonLogger::run_end(const RunEnd& info) {
  Object("end")
      .text("reason", stop_reason_name(info.reason))
      .integer("epochs", info.epochs)
      .integer("step", info.step)
      .integer("best_epoch", info.best_epoch + 1)
      .number("seconds", info.seconds)
      .write(path_);
}

}  // namespace sinter::train
