// SPDX-License-Identifier: MIT OR Apache-2.0
// Pages of memory straight from the operating system.
#pragma once

#include <cstddef>

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

/// Bytes of physical memory of the machine; 0 if unknown.
std::size_t physical_memory() noexcept;

}  // namespace sinter::os
