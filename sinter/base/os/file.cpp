// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of the file functions that std::filesystem covers on every system.
#include "sinter/base/os/file.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <utility>

#include "sinter/base/os/file_error.hpp"
#include "sinter/base/os/process.hpp"

namespace sinter::os {

namespace fs = std::filesystem;

namespace {
fs::path native(const std::string& path) {
  return fs::path(std::u8string(path.begin(), path.end()));
}
std::string utf8(const fs::path& path) {
  const std::u8string text = path.u8string();
  return std::string(text.begin(), text.end());
}
}  // namespace

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return path + ".tmp-" + std::to_string(process_id()) + "-" + std::to_string(++counter);
}

void write_file_atomic(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content.data(), content.size());
  file.commit();
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

bool path_exists(const std::string& path) noexcept {
  std::error_code error;
  return fs::exists(native(path), error);
}

bool is_directory(const std::string& path) noexcept {
  std::error_code error;
  return fs::is_directory(native(path), error);
}

std::uint64_t file_size(const std::string& path) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(native(path), error);
  if (error) {
    raise_io("size of", path, error);
  }
  return size;
}

std::vector<std::string> list_directory(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(native(path), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(utf8(entry->path().filename()));
  }
  if (error) {
    raise_io("list", path, error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void create_directories(const std::string& path) {
  std::error_code error;
  fs::create_directories(native(path), error);
  if (error) {
    raise_io("create folder", path, error);
  }
}

bool remove_path(const std::string& path) {
  std::error_code error;
  const bool removed = fs::remove(native(path), error);
  if (error) {
    raise_io("remove", path, error);
  }
  return removed;
}

std::uint64_t remove_tree(const std::string& path) {
  std::error_code error;
  const std::uint64_t removed = fs::remove_all(native(path), error);
  if (error) {
    raise_io("remove", path, error);
  }
  return removed;
}

void rename_path(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(native(from), native(to), error);
  if (error) {
    raise_io("rename to", to, error);
  }
}

std::string temporary_directory() {
  std::error_code error;
  const fs::path path = fs::temp_directory_path(error);
  return error ? "." : utf8(path);
}

std::string join_path(const std::string& folder, const std::string& name) {
  return utf8(native(folder) / native(name));
}

}  // namespace sinter::os
