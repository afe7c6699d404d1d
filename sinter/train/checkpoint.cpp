// SPDX-License-Identifier: MIT OR Apache-2.0
// Checkpoint files of a run.
#include "sinter/train/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"

namespace sinter::train {

namespace {

constexpr std::string_view prefix = "step-";
constexpr std::string_view suffix = ".safetensors";

std::optional<std::int64_t> step_of(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() <= prefix.size() + suffix.size()) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size() || step < 0) {
    return std::nullopt;
  }
  return step;
}

/// A name that an interrupted atomic write of a checkpoint leaves behind.
bool is_leftover(std::string_view name) {
  return name.find(prefix) != std::string_view::npos &&
         name.find(suffix) != std::string_view::npos && !name.ends_with(suffix);
}

}  // namespace

std::string CheckpointFolder::path(std::int64_t step) const {
  return os::join_path(folder_, fmt::format("{}{:08}{}", prefix, step, suffix));
}

std::vector<std::int64_t> CheckpointFolder::steps() const {
  std::vector<std::int64_t> steps;
  if (os::is_directory(folder_)) {
    for (const std::string& name : os::list_directory(folder_)) {
      if (const auto step = step_of(name)) {
        steps.push_back(*step);
      }
    }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::optional<std::int64_t> CheckpointFolder::latest() const {
  const std::vector<std::int64_t> all = steps();
  return all.empty() ? std::nullopt : std::optional(all.back());
}

void CheckpointFolder::prepare() {
  try {
    os::create_directories(folder_);
    const std::string probe = os::join_path(folder_, "writable");
    os::write_file_atomic(probe, "");
    os::remove_path(probe);
  } catch (const IoError& error) {
    throw IoError(
        fmt::format("train: checkpoints can't be written to `{}`: {}; give another folder", folder_,
                    error.what()));
  }
}

std::string CheckpointFolder::save(std::int64_t step, const store::Record& record) {
  os::create_directories(folder_);
  std::string to = path(step);
  record.save(to);
  return to;
}

void CheckpointFolder::prune(std::int64_t current, int last, std::optional<std::int64_t> best) {
  std::vector<std::int64_t> all = steps();
  std::erase_if(all, [&](std::int64_t step) { return step > current; });
  const std::size_t keep = static_cast<std::size_t>(std::max(last, 1));
  for (std::size_t i = 0; i + keep < all.size(); ++i) {
    if (all[i] != best) {
      os::remove_path(path(all[i]));
    }
  }
  for (const std::string& name : os::list_directory(folder_)) {
    if (is_leftover(name)) {
      os::remove_path(os::join_path(folder_, name));
    }
  }
}

std::string find_checkpoint(const std::string& path) {
  if (!os::is_directory(path)) {
    if (!os::path_exists(path)) {
      throw IoError(fmt::format(
          "train: there is no checkpoint `{}`; give a checkpoint file or a folder of them", path));
    }
    return path;
  }
  const CheckpointFolder folder(path);
  const auto latest = folder.latest();
  if (!latest) {
    throw IoError(fmt::format(
        "train: the folder `{}` holds no checkpoint (step-*.safetensors) to go on from", path));
  }
  return folder.path(*latest);
}

}  // namespace sinter::train
