// SPDX-License-Identifier: MIT OR Apache-2.0
// What owners of memory do alike on every system.
#include "sinter/base/os/memory.hpp"

#include <utility>

namespace sinter::os {

ExecutableMemory::ExecutableMemory(ExecutableMemory&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ExecutableMemory& ExecutableMemory::operator=(ExecutableMemory&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

ExecutableMemory::~ExecutableMemory() {
  if (pages_ != nullptr) {
    unmap_pages(pages_, bytes_);
  }
}

}  // namespace sinter::os
