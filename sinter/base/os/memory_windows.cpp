// SPDX-License-Identifier: MIT OR Apache-2.0
// Pages of memory: VirtualAlloc.
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <cstring>
#include <string>

#include "sinter/base/error.hpp"
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

ExecutableMemory::ExecutableMemory(std::span<const std::byte> code)
    : pages_(map_pages(code.size())), bytes_(code.size()) {
  if (pages_ == nullptr) {
    throw OutOfMemoryError("machine code: the system gave no pages for " + std::to_string(bytes_) +
                           " bytes");
  }
  std::memcpy(pages_, code.data(), bytes_);
  DWORD before = 0;
  if (!VirtualProtect(pages_, bytes_, PAGE_EXECUTE_READ, &before)) {
    const std::string why = std::to_string(GetLastError());
    unmap_pages(pages_, bytes_);
    throw DeviceError("machine code: the system allows no memory to be executed (error " + why +
                      ")");
  }
  FlushInstructionCache(GetCurrentProcess(), pages_, bytes_);
}

std::size_t physical_memory() noexcept {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof(status);
  return GlobalMemoryStatusEx(&status) ? static_cast<std::size_t>(status.ullTotalPhys) : 0;
}

}  // namespace sinter::os
#endif
