// SPDX-License-Identifier: MIT OR Apache-2.0
// The allocator behind tensor buffers in host memory.
#pragma once

#include <cstddef>

namespace sinter {

/// Bytes and counts of a MemoryPool. `in_use` counts what callers asked for; `cached` is what the
/// pool holds beyond that: free blocks and rounding.
struct MemoryStats {
  std::size_t in_use = 0;
  std::size_t cached = 0;
  /// Highest `in_use`. Small blocks are counted in steps, so it is exact to 64 KiB per thread.
  std::size_t peak = 0;
  std::size_t allocations = 0;
};

/// A pool of uninitialised blocks in size classes; every function may be called from any thread.
/// Freed blocks keep their pages for the next request of their class. Above 1 KiB a class wastes at
/// most 12.5 %. The memory held stays below twice the highest use plus 64 MiB.
///
/// 64 bytes past the end of a block may be read (never written), so that vector loops may load a
/// whole register at the tail; what they hold is unspecified.
class MemoryPool {
 public:
  MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  /// Gives all memory back to the system, blocks in use included.
  ~MemoryPool();

  /// The pool of the process, with a cache in each thread; it outlives every static object. Its
  /// limit starts at the setting `memory_limit`.
  static MemoryPool& host();

  /// A block of at least `bytes`; never null, also for 0. `alignment` is a power of two up to 4096.
  /// OutOfMemoryError naming the size asked, the use and the limit; cached memory is given back and
  /// the request tried again before that.
  void* allocate(std::size_t bytes, std::size_t alignment = 64);
  /// Takes back a block with the `bytes` and `alignment` it was asked with, from any thread.
  void free(void* block, std::size_t bytes, std::size_t alignment = 64) noexcept;

  /// Returns cached memory to the system, except what other threads cache; bytes given back.
  std::size_t trim() noexcept;

  MemoryStats stats() const noexcept;
  /// Starts `peak` anew from the present use.
  void reset_peak() noexcept;

  /// The most memory held from the system, in bytes; 0 for no limit.
  void set_limit(std::size_t bytes) noexcept;
  std::size_t limit() const noexcept;

  /// The size of the block that a request of `bytes` is given.
  static std::size_t block_size(std::size_t bytes) noexcept;

 private:
  struct State;
  struct ThreadCache;
  State* const state_;
};

}  // namespace sinter
