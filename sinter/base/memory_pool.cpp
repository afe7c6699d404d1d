// SPDX-License-Identifier: MIT OR Apache-2.0
// The host pool: what goes through a thread's cache, what to the central lists, what to the system.
#include "sinter/base/memory_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "sinter/base/config.hpp"
#include "sinter/base/detail/pool_thread_cache.hpp"
#include "sinter/base/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define SINTER_CHECKED_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SINTER_CHECKED_MEMORY 1
#endif
#endif
#ifndef SINTER_CHECKED_MEMORY
#define SINTER_CHECKED_MEMORY 0
#endif

namespace sinter {

using namespace pool;

namespace {
/// Ends the cache of its thread. What is freed after that goes to the central lists.
struct CacheEnd {
  void (*end)() = nullptr;
  ~CacheEnd() {
    if (end != nullptr) {
      end();
    }
  }
};
}  // namespace

MemoryPool::ThreadCache& MemoryPool::ThreadCache::own() noexcept {
  // All zero and without a destructor: usable from the first to the last moment of the thread.
  static constinit thread_local ThreadCache cache{};
  return cache;
}

void MemoryPool::ThreadCache::begin(State& state) {
  static thread_local CacheEnd last_act;
  for (int i = 0; i < slab_classes; ++i) {
    bins[static_cast<std::size_t>(i)].capacity = cache_capacity(i);
  }
  {
    const std::lock_guard lock(state.caches_mutex);
    state.caches.push_back(this);
  }
  owner = &state;
  last_act.end = [] { own().end(*own().owner); };
}

void MemoryPool::ThreadCache::end(State& state) noexcept {
  owner = nullptr;
  dead = true;
  const std::lock_guard lock(state.caches_mutex);
  flush(state);
  state.allocations.fetch_add(allocations.exchange(0), std::memory_order_relaxed);
  std::erase(state.caches, this);
}

void MemoryPool::State::flush_own_cache() noexcept {
  ThreadCache& cache = ThreadCache::own();
  if (cache.owner == this) {
    cache.flush(*this);
  }
}

MemoryPool::MemoryPool() : state_(new State()) {}

MemoryPool::~MemoryPool() { delete state_; }

MemoryPool& MemoryPool::host() {
  // Leaked, so that static objects may free their buffers whenever they end.
  static MemoryPool* const pool = [] {
    const std::int64_t limit = config::integer(config::Setting::memory_limit);
    MemoryPool* const made = new MemoryPool();
    made->state_->thread_cached = true;
    made->state_->limit = static_cast<std::size_t>(limit);
    return made;
  }();
  return *pool;
}

std::size_t MemoryPool::block_size(std::size_t bytes) noexcept { return size_class(bytes).block; }

#if SINTER_CHECKED_MEMORY

// Every block comes from the sanitizer's own allocator, so that it sees overflow, use after free
// and leaks. The readable tail holds a pattern; a write into it is reported when the block is
// freed.
namespace {
constexpr unsigned char tail_pattern = 0xa5;
}

void* MemoryPool::allocate(std::size_t bytes, std::size_t alignment) {
  if (!std::has_single_bit(alignment) || alignment > page) {
    throw ArgumentError("memory pool: expected an alignment of a power of two up to 4096, got " +
                        std::to_string(alignment));
  }
  if (bytes > largest_block || !state_->reserve(bytes)) {
    state_->raise(bytes);
  }
  const std::align_val_t align{std::max<std::size_t>(alignment, 64)};
  char* block = static_cast<char*>(::operator new(bytes + readable_tail, align, std::nothrow));
  if (block == nullptr) {
    state_->held.fetch_sub(bytes);
    state_->raise(bytes);
  }
  std::memset(block + bytes, tail_pattern, readable_tail);
  state_->allocations.fetch_add(1);
  state_->count(static_cast<std::int64_t>(bytes));
  return block;
}

void MemoryPool::free(void* block, std::size_t bytes, std::size_t alignment) noexcept {
  const unsigned char* tail = static_cast<unsigned char*>(block) + bytes;
  bool intact = true;
  for (std::size_t i = 0; i < readable_tail; ++i) {
    intact = intact && tail[i] == tail_pattern;
  }
  ::operator delete(block, std::align_val_t{std::max<std::size_t>(alignment, 64)});
  if (!intact) {
    // Reading the freed block makes the sanitizer report where it was allocated.
    [[maybe_unused]] const unsigned char volatile report =
        *const_cast<volatile unsigned char*>(tail);
  }
  state_->held.fetch_sub(bytes);
  state_->count(-static_cast<std::int64_t>(bytes));
}

#else

void* MemoryPool::allocate(std::size_t bytes, std::size_t alignment) {
  ThreadCache& cache = ThreadCache::own();
  State& state = *state_;
  if (bytes <= small_limit && alignment <= 64 && cache.owner == &state) [[likely]] {
    ThreadCache::Bin& bin = cache.bins[static_cast<std::size_t>(size_class(bytes).index)];
    if (bin.head != nullptr && alignment != 0 && (alignment & (alignment - 1)) == 0) [[likely]] {
      return cache.pop(state, bin, bytes);
    }
  }
  return state.allocate(bytes, alignment);
}

void* MemoryPool::State::allocate(std::size_t bytes, std::size_t alignment) {
  if (!std::has_single_bit(alignment) || alignment > page) {
    throw ArgumentError("memory pool: expected an alignment of a power of two up to 4096, got " +
                        std::to_string(alignment));
  }
  if (bytes > largest_block) {
    raise(bytes);
  }
  const SizeClass wanted = size_class(effective_bytes(bytes, alignment));
  ThreadCache& cache = ThreadCache::own();
  if (wanted.index < slab_classes && thread_cached && !cache.dead) {
    if (cache.owner == nullptr) {
      cache.begin(*this);
    }
    ThreadCache::Bin& bin = cache.bins[static_cast<std::size_t>(wanted.index)];
    if (bin.head == nullptr) {
      bin.head = take_slab(wanted, bin.capacity / 2, bin.count, bytes);
    }
    return cache.pop(*this, bin, bytes);
  }
  std::uint32_t taken = 0;
  void* block =
      wanted.index < slab_classes ? take_slab(wanted, 1, taken, bytes) : take_large(wanted, bytes);
  count(static_cast<std::int64_t>(bytes));
  allocations.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void MemoryPool::free(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  ThreadCache& cache = ThreadCache::own();
  State& state = *state_;
  if (bytes <= small_limit && alignment <= 64 && cache.owner == &state) [[likely]] {
    ThreadCache::Bin& bin = cache.bins[static_cast<std::size_t>(size_class(bytes).index)];
    if (bin.count < bin.capacity) [[likely]] {
      return cache.push(state, bin, memory, bytes);
    }
  }
  state.free(memory, bytes, alignment);
}

void MemoryPool::State::free(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  const SizeClass wanted = size_class(effective_bytes(bytes, alignment));
  ThreadCache& cache = ThreadCache::own();
  if (wanted.index < slab_classes && cache.owner == this) {
    ThreadCache::Bin& bin = cache.bins[static_cast<std::size_t>(wanted.index)];
    if (bin.count >= bin.capacity) {
      cache.shrink(*this, wanted.index, bin.capacity / 2);
    }
    return cache.push(*this, bin, memory, bytes);
  }
  FreeBlock* const block = new (memory) FreeBlock{nullptr};
  count(-static_cast<std::int64_t>(bytes));
  const bool large = wanted.index >= slab_classes;
  put(large ? true_class(memory, wanted.index) : wanted.index, block, block, 1);
}

#endif

std::size_t MemoryPool::trim() noexcept {
  state_->flush_own_cache();
  return state_->evict(SIZE_MAX);
}

MemoryStats MemoryPool::stats() const noexcept {
  const std::lock_guard lock(state_->caches_mutex);
  std::int64_t in_use = state_->in_use.load();
  std::uint64_t allocations = state_->allocations.load();
  for (const ThreadCache* cache : state_->caches) {
    in_use += cache->unreported.load(std::memory_order_relaxed);
    allocations += cache->allocations.load(std::memory_order_relaxed);
  }
  MemoryStats stats;
  stats.in_use = static_cast<std::size_t>(std::max<std::int64_t>(in_use, 0));
  const std::size_t held = state_->held.load();
  stats.cached = held > stats.in_use ? held - stats.in_use : 0;
  const std::int64_t peak = state_->peak.load();
  stats.peak = std::max(stats.in_use, static_cast<std::size_t>(std::max<std::int64_t>(peak, 0)));
  stats.allocations = allocations;
  return stats;
}

void MemoryPool::reset_peak() noexcept { state_->peak.store(state_->in_use.load()); }

void MemoryPool::set_limit(std::size_t bytes) noexcept {
  state_->limit.store(bytes);
  if (bytes != 0 && state_->held.load() > bytes) {
    trim();
  }
}

std::size_t MemoryPool::limit() const noexcept { return state_->limit.load(); }

}  // namespace sinter
