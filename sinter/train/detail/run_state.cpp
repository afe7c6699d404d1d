// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a run stands, and its form in a checkpoint.
#include "sinter/train/detail/run_state.hpp"

#include <fmt/format.h>

#include <charconv>

#include "sinter/train/detail/loop.hpp"

namespace sinter::train::detail {

namespace {

std::string names_of(std::span<const MetricInfo> metrics) {
  std::string names;
  for (const MetricInfo& info : metrics) {
    names += (names.empty() ? "" : ",") + info.name;
  }
  return names;
}

template <class T>
T number(const store::Record& record, const std::string& key, std::string_view origin) {
  const std::string& text = metadata(record, key);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw FormatError(fmt::format("{}: expected a whole number in the metadata `{}`, got `{}`",
                                  origin, key, text));
  }
  return value;
}

HostData vector_data(const std::vector<double>& values) {
  return HostData(Shape{static_cast<std::int64_t>(values.size())}, std::span<const double>(values));
}

std::vector<double> vector_at(const store::Record& record, const std::string& name,
                              std::string_view origin) {
  if (!record.contains(name) || record.at(name).dtype() != DType::f64) {
    throw FormatError(fmt::format("{}: expected a tensor `{}` of f64", origin, name));
  }
  return record.at(name).to_doubles();
}

/// The epochs' values of one split, epoch by epoch.
std::vector<double> flat(const History& history, Split split) {
  std::vector<double> out;
  for (const EpochRecord& epoch : history.epochs) {
    const auto& row = split == Split::train ? epoch.train : epoch.valid;
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

}  // namespace

void save_state(const RunState& state, store::Record& record) {
  auto& metadata = record.metadata();
  metadata["train.format"] = "1";
  metadata["train.epoch"] = std::to_string(state.epoch);
  metadata["train.step"] = std::to_string(state.step);
  metadata["train.done"] = state.train_done ? "1" : "0";
  metadata["train.batches"] = std::to_string(state.batches);
  metadata["train.items"] = std::to_string(state.items);
  metadata["train.seed"] = std::to_string(state.random.seed);
  metadata["train.offset"] = std::to_string(state.random.offset);
  metadata["train.metrics"] = names_of(state.history.metrics);
  record.add("train.current", vector_data(state.train_metrics));
  std::vector<double> steps;
  for (const EpochRecord& epoch : state.history.epochs) {
    steps.push_back(static_cast<double>(epoch.step));
  }
  record.add("train.history.steps", vector_data(steps));
  record.add("train.history.train", vector_data(flat(state.history, Split::train)));
  record.add("train.history.valid", vector_data(flat(state.history, Split::valid)));
}

RunState load_state(const store::Record& record, std::span<const MetricInfo> metrics,
                    std::string_view origin) {
  if (!record.metadata().contains("train.format")) {
    throw FormatError(fmt::format(
        "{}: this record is no checkpoint of a training run; give a step-*.safetensors file",
        origin));
  }
  if (metadata(record, "train.metrics") != names_of(metrics)) {
    throw ArgumentError(fmt::format("{}: the checkpoint's run had the metrics {}, this one has {}",
                                    origin, metadata(record, "train.metrics"), names_of(metrics)));
  }
  RunState state;
  state.epoch = number<std::int64_t>(record, "train.epoch", origin);
  state.step = number<std::int64_t>(record, "train.step", origin);
  state.train_done = number<int>(record, "train.done", origin) != 0;
  state.batches = number<std::int64_t>(record, "train.batches", origin);
  state.items = number<std::int64_t>(record, "train.items", origin);
  state.random.seed = number<std::uint64_t>(record, "train.seed", origin);
  state.random.offset = number<std::uint64_t>(record, "train.offset", origin);
  state.train_metrics = vector_at(record, "train.current", origin);
  state.history.metrics.assign(metrics.begin(), metrics.end());

  const std::vector<double> steps = vector_at(record, "train.history.steps", origin);
  const std::vector<double> train = vector_at(record, "train.history.train", origin);
  const std::vector<double> valid = vector_at(record, "train.history.valid", origin);
  const std::size_t epochs = steps.size();
  const std::size_t width = metrics.size();
  if (state.epoch != static_cast<std::int64_t>(epochs) || train.size() != epochs * width ||
      (!valid.empty() && valid.size() != train.size()) || state.step < 0 || state.batches < 0 ||
      state.items < 0) {
    throw FormatError(fmt::format("{}: the checkpoint's counts contradict each other", origin));
  }
  for (std::size_t i = 0; i < epochs; ++i) {
    const auto row = [&](const std::vector<double>& values) {
      return values.empty() ? std::vector<double>()
                            : std::vector<double>(values.begin() + std::ptrdiff_t(i * width),
                                                  values.begin() + std::ptrdiff_t((i + 1) * width));
    };
    state.history.epochs.push_back(
        {.step = static_cast<std::int64_t>(steps[i]), .train = row(train), .valid = row(valid)});
  }
  return state;
}

}  // namespace sinter::train::detail
