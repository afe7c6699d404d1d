// SPDX-License-Identifier: MIT OR Apache-2.0
// Size classes of the host pool, and the lists of free blocks that go with them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace sinter::pool {

inline constexpr std::size_t readable_tail = 64;
inline constexpr std::size_t page = 4096;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;
inline constexpr std::size_t small_limit = 1024;
/// Blocks up to this size are cut from chunks; larger ones are mapped one by one.
inline constexpr std::size_t slab_limit = 32 * 1024;
inline constexpr std::size_t chunk_bytes = 256 * 1024;
inline constexpr int small_classes = 16;
inline constexpr int slab_classes = small_classes + 5 * 8;
inline constexpr int class_count = small_classes + 37 * 8;
inline constexpr std::size_t largest_block = std::size_t{1} << 47;
inline constexpr std::size_t slack_bytes = std::size_t{64} << 20;
inline constexpr std::int64_t report_bytes = 64 * 1024;

struct SizeClass {
  int index;
  std::size_t block;
};

/// Up to 1 KiB in steps of 64 bytes, above in eight steps per doubling.
inline SizeClass size_class(std::size_t bytes) {
  if (bytes <= small_limit) {
    const std::size_t step = bytes == 0 ? 0 : (bytes - 1) / 64;
    return {static_cast<int>(step), (step + 1) * 64};
  }
  const int log = std::bit_width(bytes - 1) - 1;
  const std::size_t steps = ((bytes - 1) >> (log - 3)) + 1;
  return {small_classes + (log - 10) * 8 + static_cast<int>(steps) - 9, steps << (log - 3)};
}

/// Blocks above 64 bytes of alignment start at a page of their own.
inline std::size_t effective_bytes(std::size_t bytes, std::size_t alignment) {
  return alignment <= 64 ? bytes : std::max(bytes, slab_limit + 1);
}

/// The page after the block makes its tail readable; it costs addresses, not memory.
inline std::size_t mapped_bytes(std::size_t block) { return block + page; }

struct FreeBlock {
  FreeBlock* next;
};

struct FreeList {
  std::mutex mutex;
  FreeBlock* head = nullptr;
  std::size_t block = 0;
  std::size_t count = 0;
  std::uint64_t last_use = 0;
};

/// Blocks of one class that a thread may cache: 64, or for the larger ones 64 KiB, at least 4.
inline unsigned cache_capacity(int index) {
  const std::size_t block = index < small_classes
                                ? static_cast<std::size_t>(index + 1) * 64
                                : static_cast<std::size_t>((index - small_classes) % 8 + 9)
                                      << ((index - small_classes) / 8 + 7);
  return static_cast<unsigned>(std::clamp<std::size_t>(64 * 1024 / block, 4, 64));
}

}  // namespace sinter::pool
