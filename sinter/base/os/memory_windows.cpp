// SPDX-License-Identifier: MIT OR Apache-2.0
// Pages of memory: VirtualAlloc.
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include "sinter/base/os/memory.hpp"

namespace sinter::os {

std::size_t page_size() noexcept {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

void* map_pages(std::size_t bytes, std::size_t) noexcept {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void unmap_pages(void* pages, std::size_t) noexcept { VirtualFree(pages, 0, MEM_RELEASE); }

void advise_huge(void*, std::size_t) noexcept {}

std::size_t physical_memory() noexcept {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof(status);
  return GlobalMemoryStatusEx(&status) ? static_cast<std::size_t>(status.ullTotalPhys) : 0;
}

}  // namespace sinter::os
#endif
