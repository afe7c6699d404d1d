// SPDX-License-Identifier: MIT OR Apache-2.0
// Pages of memory: mmap.
#ifndef _WIN32
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "sinter/base/error.hpp"
#include "sinter/base/os/memory.hpp"

namespace sinter::os {

namespace {
std::size_t round_to_pages(std::size_t bytes) {
  const std::size_t mask = page_size() - 1;
  return (bytes + mask) & ~mask;
}
}  // namespace

std::size_t page_size() noexcept {
  static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void* map_pages(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t wanted = round_to_pages(bytes);
  const std::size_t extra = alignment > page_size() ? alignment : 0;
  if (wanted < bytes || wanted + extra < wanted) {
    return nullptr;
  }
  void* start =
      mmap(nullptr, wanted + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    return nullptr;
  }
  if (extra == 0) {
    return start;
  }
  char* base = static_cast<char*>(start);
  const std::size_t head = (0 - reinterpret_cast<std::uintptr_t>(base)) & (alignment - 1);
  if (head != 0) {
    munmap(base, head);
  }
  if (extra != head) {
    munmap(base + head + wanted, extra - head);
  }
  return base + head;
}

void unmap_pages(void* pages, std::size_t bytes) noexcept { munmap(pages, round_to_pages(bytes)); }

void advise_huge([[maybe_unused]] void* pages, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  madvise(pages, bytes, MADV_HUGEPAGE);
#endif
}

ExecutableMemory::ExecutableMemory(std::span<const std::byte> code)
    : pages_(map_pages(code.size())), bytes_(code.size()) {
  if (pages_ == nullptr) {
    throw OutOfMemoryError("machine code: the system gave no pages for " + std::to_string(bytes_) +
                           " bytes");
  }
  std::memcpy(pages_, code.data(), bytes_);
  char* const first = static_cast<char*>(pages_);
  __builtin___clear_cache(first, first + bytes_);
  if (mprotect(pages_, round_to_pages(bytes_), PROT_READ | PROT_EXEC) != 0) {
    const std::string why = std::strerror(errno);
    unmap_pages(pages_, bytes_);
    throw DeviceError("machine code: the system allows no memory to be executed (" + why + ")");
  }
}

std::size_t physical_memory() noexcept {
#ifdef _SC_PHYS_PAGES
  const long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? static_cast<std::size_t>(pages) * page_size() : 0;
#else
  return 0;
#endif
}

}  // namespace sinter::os
#endif
