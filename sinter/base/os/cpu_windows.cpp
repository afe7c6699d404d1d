// SPDX-License-Identifier: MIT OR Apache-2.0
// Processor counts on Windows.
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sinter/base/os/cpu.hpp"

namespace sinter::os {

int usable_cpus() {
  DWORD_PTR process = 0;
  DWORD_PTR system = 0;
  int count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &process, &system)) {
    count = std::popcount(static_cast<std::uint64_t>(process));
  }
  if (count == 0) {
    count = static_cast<int>(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
  }
  return std::max(count, 1);
}

CacheSizes cache_sizes() {
  CacheSizes sizes;
  DWORD bytes = 0;
  GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> entries(
      bytes / sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION));
  if (entries.empty() || !GetLogicalProcessorInformation(entries.data(), &bytes)) {
    return sizes;
  }
  for (const auto& entry : entries) {
    if (entry.Relationship == RelationCache && entry.Cache.Type != CacheInstruction) {
      long& size = entry.Cache.Level == 1 ? sizes.l1 : entry.Cache.Level == 2 ? sizes.l2 : sizes.l3;
      size = std::max(size, static_cast<long>(entry.Cache.Size));
    }
  }
  return sizes;
}

}  // namespace sinter::os
#endif
