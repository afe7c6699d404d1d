// SPDX-License-Identifier: MIT OR Apache-2.0
// Facts about this process on POSIX systems.
#ifndef _WIN32
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "sinter/base/os/memory.hpp"
#include "sinter/base/os/process.hpp"

namespace sinter::os {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

void set_environment(const char* name, const std::optional<std::string>& value) {
  if (value) {
    setenv(name, value->c_str(), 1);
  } else {
    unsetenv(name);
  }
}

long process_id() noexcept { return static_cast<long>(getpid()); }

std::string executable_path() {
#ifdef __linux__
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
#else
  return {};
#endif
}

std::size_t resident_bytes() noexcept {
#ifdef __linux__
  // The second number of statm; a stack buffer, because this is called while memory is measured.
  char text[128] = {};
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return 0;
  }
  const ssize_t got = ::read(file, text, sizeof(text) - 1);
  ::close(file);
  if (got <= 0) {
    return 0;
  }
  char* end = nullptr;
  std::strtoull(text, &end, 10);
  return std::strtoull(end, nullptr, 10) * page_size();
#else
  return peak_resident_bytes();
#endif
}

std::size_t peak_resident_bytes() noexcept {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) {
    return 0;
  }
#ifdef __APPLE__
  return static_cast<std::size_t>(usage.ru_maxrss);
#else
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
#endif
}

double load_average() noexcept {
  double load = -1;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

double process_cpu_seconds() noexcept {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) {
    return 0;
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace sinter::os
#endif
