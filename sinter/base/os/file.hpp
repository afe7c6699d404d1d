// SPDX-License-Identifier: MIT OR Apache-2.0
// Files and folders. Paths are UTF-8. Every failure is an IoError naming the path and the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::os {

/// The bytes of a file; an IoError if it holds more than `limit`.
std::string read_file(const std::string& path, std::size_t limit = SIZE_MAX);

/// Replaces a file in one step: readers see the old content or the new one, also after a crash.
void write_file_atomic(const std::string& path, std::string_view content);

/// A file that appears under its name only at `commit`. Without a commit it leaves nothing behind.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* data, std::size_t bytes);
  /// Flushes to the disk and renames over the final path. Call once, last.
  void commit();

 private:
  void close() noexcept;
  std::string path_;
  std::string temporary_;
  std::intptr_t handle_ = -1;
};

/// A file mapped into memory for reading.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Appends bytes to a file, making it if missing.
void append_file(const std::string& path, std::string_view content);

bool path_exists(const std::string& path) noexcept;
bool is_directory(const std::string& path) noexcept;
std::uint64_t file_size(const std::string& path);
/// Names (not paths) in a folder, sorted.
std::vector<std::string> list_directory(const std::string& path);
/// Makes a folder and its parents; none of them needs to be new.
void create_directories(const std::string& path);
/// Removes a file or an empty folder; false if there was none.
bool remove_path(const std::string& path);
/// Removes a folder with all it holds; returns how many entries went.
std::uint64_t remove_tree(const std::string& path);
void rename_path(const std::string& from, const std::string& to);
/// The folder for temporary files.
std::string temporary_directory();
/// Joins with the separator, unless `name` is absolute.
std::string join_path(const std::string& folder, const std::string& name);

}  // namespace sinter::os
