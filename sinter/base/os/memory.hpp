// SPDX-License-Identifier: MIT OR Apache-2.0
// Pages of memory straight from the operating system.
#pragma once

#include <cstddef>
#include <span>

namespace sinter::os {

/// Bytes of one page.
std::size_t page_size() noexcept;

/// Maps `bytes` (rounded up to pages) of zeroed, private memory; nullptr when there is none.
/// `alignment` is a power of two. On Windows an alignment above 64 KiB is a wish, not a promise.
void* map_pages(std::size_t bytes, std::size_t alignment = 4096) noexcept;

/// Gives back what `map_pages(bytes)` returned.
void unmap_pages(void* pages, std::size_t bytes) noexcept;

/// Asks for huge pages behind a mapped range; no effect where there are none.
void advise_huge(void* pages, std::size_t bytes) noexcept;

/// Machine code that can be run: a copy of bytes, mapped for reading and execution, never writable
/// again. It starts at a page; code in it must not depend on where it lies.
class ExecutableMemory {
 public:
  ExecutableMemory() = default;
  /// Throws OutOfMemoryError when there is no memory, and DeviceError when the system allows none
  /// to be executed.
  explicit ExecutableMemory(std::span<const std::byte> code);
  ExecutableMemory(ExecutableMemory&& other) noexcept;
  ExecutableMemory& operator=(ExecutableMemory&& other) noexcept;
  ~ExecutableMemory();

  [[nodiscard]] const std::byte* data() const noexcept { return static_cast<std::byte*>(pages_); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  /// The function that starts at `offset`: `at<void(int)>(64)(7)`.
  template <class Function>
  [[nodiscard]] Function* at(std::size_t offset) const noexcept {
    return reinterpret_cast<Function*>(static_cast<std::byte*>(pages_) + offset);
  }

 private:
  void* pages_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Bytes of physical memory of the machine; 0 if unknown.
std::size_t physical_memory() noexcept;

}  // namespace sinter::os
