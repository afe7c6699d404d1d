// SPDX-License-Identifier: MIT OR Apache-2.0
// Facts about this process on Windows.
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#define PSAPI_VERSION 2
#include <windows.h>

#include <psapi.h>

#include <cstdint>

#include "sinter/base/os/process.hpp"

namespace sinter::os {

std::optional<std::string> environment(const char* name) {
  SetLastError(ERROR_SUCCESS);
  const DWORD needed = GetEnvironmentVariableA(name, nullptr, 0);
  if (needed == 0) {
    return GetLastError() == ERROR_ENVVAR_NOT_FOUND ? std::nullopt : std::optional<std::string>("");
  }
  std::string value(needed, '\0');
  value.resize(GetEnvironmentVariableA(name, value.data(), needed));
  return value;
}

void set_environment(const char* name, const std::optional<std::string>& value) {
  SetEnvironmentVariableA(name, value ? value->c_str() : nullptr);
}

long process_id() noexcept { return static_cast<long>(GetCurrentProcessId()); }

std::string executable_path() {
  char path[MAX_PATH];
  return std::string(path, GetModuleFileNameA(nullptr, path, MAX_PATH));
}

namespace {
PROCESS_MEMORY_COUNTERS memory_counters() noexcept {
  PROCESS_MEMORY_COUNTERS counters{};
  GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters));
  return counters;
}
}  // namespace

std::size_t resident_bytes() noexcept { return memory_counters().WorkingSetSize; }

std::size_t peak_resident_bytes() noexcept { return memory_counters().PeakWorkingSetSize; }

double load_average() noexcept { return -1; }

double process_cpu_seconds() noexcept {
  FILETIME created, ended, kernel, user;
  if (!GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user)) {
    return 0;
  }
  const auto seconds = [](const FILETIME& time) {
    return 1e-7 *
           static_cast<double>((std::uint64_t{time.dwHighDateTime} << 32) | time.dwLowDateTime);
  };
  return seconds(kernel) + seconds(user);
}

}  // namespace sinter::os
#endif
