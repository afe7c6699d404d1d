// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading, mapping and atomic writing of files on POSIX systems.
#ifndef _WIN32
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "sinter/base/os/file.hpp"
#include "sinter/base/os/file_error.hpp"

namespace sinter::os {

namespace {

[[noreturn]] void raise_errno(const char* doing, const std::string& path) {
  raise_io(doing, path, std::error_code(errno, std::generic_category()));
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, const char* doing)
      : value(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (value < 0) {
      raise_errno(doing, path);
    }
  }
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() { ::close(value); }
  int value;
};

void write_all(int descriptor, const void* data, std::size_t bytes, const std::string& path) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, next, std::min(bytes, std::size_t{1} << 30));
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      raise_errno("write", path);
    }
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

}  // namespace

std::string read_file(const std::string& path, std::size_t limit) {
  const Descriptor file(path, O_RDONLY, "open");
  struct stat info;
  if (fstat(file.value, &info) != 0) {
    raise_errno("read", path);
  }
  const std::size_t expected = S_ISREG(info.st_mode) ? static_cast<std::size_t>(info.st_size) : 0;
  if (expected > limit) {
    raise_too_large(path, limit);
  }
  std::string content;
  std::size_t used = 0;
  // One byte more than expected, so that the end is seen without growing.
  content.resize(expected + 1);
  for (;;) {
    if (used == content.size()) {
      content.resize(content.size() * 2 + 4096);
    }
    const ssize_t got = ::read(file.value, content.data() + used,
                               std::min(content.size() - used, std::size_t{1} << 30));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      raise_errno("read", path);
    }
    if (got == 0) {
      break;
    }
    used += static_cast<std::size_t>(got);
    if (used > limit) {
      raise_too_large(path, limit);
    }
  }
  content.resize(used);
  return content;
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), temporary_(temporary_name(path)) {
  handle_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (handle_ < 0) {
    raise_errno("create", temporary_);
  }
}

AtomicFile::~AtomicFile() {
  if (handle_ >= 0) {
    close();
    ::unlink(temporary_.c_str());
  }
}

void AtomicFile::close() noexcept {
  ::close(static_cast<int>(handle_));
  handle_ = -1;
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  write_all(static_cast<int>(handle_), data, bytes, path_);
}

void AtomicFile::commit() {
  if (fsync(static_cast<int>(handle_)) != 0 && errno != EINVAL) {
    raise_errno("flush", path_);
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    raise_errno("replace", path_);
  }
  close();
  // The rename itself must reach the disk too; a folder that can't be opened is no failure.
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const int directory = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (directory >= 0) {
    fsync(directory);
    ::close(directory);
  }
}

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file(path, O_RDONLY, "open");
  struct stat info;
  if (fstat(file.value, &info) != 0) {
    raise_errno("map", path);
  }
  if (!S_ISREG(info.st_mode)) {
    errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    raise_errno("map", path);
  }
  const std::size_t size = static_cast<std::size_t>(info.st_size);
  if (size == 0) {
    return;
  }
  void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (start == MAP_FAILED) {
    raise_errno("map", path);
  }
  data_ = static_cast<const std::byte*>(start);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    munmap(const_cast<std::byte*>(data_), size_);
  }
}

void append_file(const std::string& path, std::string_view content) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_APPEND, "open");
  write_all(file.value, content.data(), content.size(), path);
}

}  // namespace sinter::os
#endif
