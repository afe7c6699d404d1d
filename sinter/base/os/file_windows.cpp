// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading, mapping and atomic writing of files on Windows.
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <algorithm>

#include "sinter/base/os/file.hpp"
#include "sinter/base/os/file_error.hpp"

namespace sinter::os {

namespace {

[[noreturn]] void raise_last(const char* doing, const std::string& path) {
  raise_io(doing, path, std::error_code(static_cast<int>(GetLastError()), std::system_category()));
}

std::wstring wide(const std::string& text) {
  const int length = static_cast<int>(text.size());
  std::wstring result(
      static_cast<std::size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), length, nullptr, 0)),
      L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), length, result.data(),
                      static_cast<int>(result.size()));
  return result;
}

class Handle {
 public:
  Handle(const std::string& path, DWORD access, DWORD creation, const char* doing)
      : value(CreateFileW(wide(path).c_str(), access, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                          creation, FILE_ATTRIBUTE_NORMAL, nullptr)) {
    if (value == INVALID_HANDLE_VALUE) {
      raise_last(doing, path);
    }
  }
  Handle(const Handle&) = delete;
  ~Handle() { CloseHandle(value); }
  HANDLE value;
};

std::size_t size_of(const Handle& file, const std::string& path) {
  LARGE_INTEGER size;
  if (!GetFileSizeEx(file.value, &size)) {
    raise_last("read", path);
  }
  return static_cast<std::size_t>(size.QuadPart);
}

void write_all(HANDLE file, const void* data, std::size_t bytes, const std::string& path) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    DWORD written = 0;
    const DWORD part = static_cast<DWORD>(std::min(bytes, std::size_t{1} << 30));
    if (!WriteFile(file, next, part, &written, nullptr)) {
      raise_last("write", path);
    }
    next += written;
    bytes -= written;
  }
}

}  // namespace

std::string read_file(const std::string& path, std::size_t limit) {
  const Handle file(path, GENERIC_READ, OPEN_EXISTING, "open");
  const std::size_t size = size_of(file, path);
  if (size > limit) {
    raise_too_large(path, limit);
  }
  std::string content(size, '\0');
  std::size_t used = 0;
  while (used < size) {
    DWORD got = 0;
    const DWORD part = static_cast<DWORD>(std::min(size - used, std::size_t{1} << 30));
    if (!ReadFile(file.value, content.data() + used, part, &got, nullptr)) {
      raise_last("read", path);
    }
    if (got == 0) {
      break;
    }
    used += got;
  }
  content.resize(used);
  return content;
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), temporary_(temporary_name(path)) {
  handle_ = reinterpret_cast<std::intptr_t>(CreateFileW(wide(temporary_).c_str(), GENERIC_WRITE, 0,
                                                        nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL,
                                                        nullptr));
  if (handle_ == -1) {
    raise_last("create", temporary_);
  }
}

AtomicFile::~AtomicFile() {
  if (handle_ != -1) {
    close();
    DeleteFileW(wide(temporary_).c_str());
  }
}

void AtomicFile::close() noexcept {
  CloseHandle(reinterpret_cast<HANDLE>(handle_));
  handle_ = -1;
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  write_all(reinterpret_cast<HANDLE>(handle_), data, bytes, path_);
}

void AtomicFile::commit() {
  if (!FlushFileBuffers(reinterpret_cast<HANDLE>(handle_))) {
    raise_last("flush", path_);
  }
  close();
  if (!MoveFileExW(wide(temporary_).c_str(), wide(path_).c_str(),
                   MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) {
    const DWORD error = GetLastError();
    DeleteFileW(wide(temporary_).c_str());
    SetLastError(error);
    raise_last("replace", path_);
  }
}

MappedFile::MappedFile(const std::string& path) {
  const Handle file(path, GENERIC_READ, OPEN_EXISTING, "open");
  const std::size_t size = size_of(file, path);
  if (size == 0) {
    return;
  }
  HANDLE mapping = CreateFileMappingW(file.value, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (mapping == nullptr) {
    raise_last("map", path);
  }
  const void* start = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
  const DWORD error = GetLastError();
  CloseHandle(mapping);
  if (start == nullptr) {
    SetLastError(error);
    raise_last("map", path);
  }
  data_ = static_cast<const std::byte*>(start);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    UnmapViewOfFile(data_);
  }
}

void append_file(const std::string& path, std::string_view content) {
  const Handle file(path, FILE_APPEND_DATA, OPEN_ALWAYS, "open");
  write_all(file.value, content.data(), content.size(), path);
}

}  // namespace sinter::os
#endif
