// SPDX-License-Identifier: MIT OR Apache-2.0
// Size classes, central lists of free blocks, and a small cache per thread for the host pool.
#include "sinter/base/memory_pool.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sinter/base/config.hpp"
#include "sinter/base/error.hpp"
#include "sinter/base/os/memory.hpp"

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

namespace {

constexpr std::size_t readable_tail = 64;
constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t small_limit = 1024;
/// Blocks up to this size are cut from chunks; larger ones are mapped one by one.
constexpr std::size_t slab_limit = 32 * 1024;
constexpr std::size_t chunk_bytes = 256 * 1024;
constexpr int small_classes = 16;
constexpr int slab_classes = small_classes + 5 * 8;
constexpr int class_count = small_classes + 37 * 8;
constexpr std::size_t largest_block = std::size_t{1} << 47;
constexpr std::size_t slack_bytes = std::size_t{64} << 20;
constexpr std::int64_t report_bytes = 64 * 1024;

struct SizeClass {
  int index;
  std::size_t block;
};

/// Up to 1 KiB in steps of 64 bytes, above in eight steps per doubling.
SizeClass size_class(std::size_t bytes) {
  if (bytes <= small_limit) {
    const std::size_t step = bytes == 0 ? 0 : (bytes - 1) / 64;
    return {static_cast<int>(step), (step + 1) * 64};
  }
  const int log = std::bit_width(bytes - 1) - 1;
  const std::size_t steps = ((bytes - 1) >> (log - 3)) + 1;
  return {small_classes + (log - 10) * 8 + static_cast<int>(steps) - 9, steps << (log - 3)};
}

/// Blocks above 64 bytes of alignment start at a page of their own.
std::size_t effective_bytes(std::size_t bytes, std::size_t alignment) {
  return alignment <= 64 ? bytes : std::max(bytes, slab_limit + 1);
}

/// The page after the block makes its tail readable; it costs addresses, not memory.
std::size_t mapped_bytes(std::size_t block) { return block + page; }

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
unsigned cache_capacity(int index) {
  const std::size_t block = index < small_classes
                                ? static_cast<std::size_t>(index + 1) * 64
                                : static_cast<std::size_t>((index - small_classes) % 8 + 9)
                                      << ((index - small_classes) / 8 + 7);
  return static_cast<unsigned>(std::clamp<std::size_t>(64 * 1024 / block, 4, 64));
}

}  // namespace

struct MemoryPool::State {
  std::array<FreeList, class_count> lists;
  std::atomic<std::int64_t> in_use{0};
  std::atomic<std::int64_t> peak{0};
  std::atomic<std::uint64_t> allocations{0};
  std::atomic<std::size_t> held{0};
  std::atomic<std::size_t> limit{0};
  std::atomic<std::uint64_t> ticks{0};
  bool thread_cached = false;

  std::mutex map_mutex;
  /// Start and bytes of everything mapped, for the destructor of a pool that isn't the host's.
  std::vector<std::pair<void*, std::size_t>> mappings;

  std::mutex misfit_mutex;
  std::unordered_map<void*, int> misfits;
  std::atomic<std::size_t> misfit_count{0};

  mutable std::mutex caches_mutex;
  std::vector<ThreadCache*> caches;

  ~State() {
    for (const auto& [start, bytes] : mappings) {
      os::unmap_pages(start, bytes);
    }
  }

  void count(std::int64_t bytes) noexcept {
    const std::int64_t now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::int64_t seen = peak.load(std::memory_order_relaxed);
    while (seen < now && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
    }
  }

  [[noreturn]] void raise(std::size_t bytes) const {
    const std::size_t most = limit.load();
    const std::string bound =
        most == 0 ? "the system has no more" : "the limit is " + std::to_string(most) + " bytes";
    throw OutOfMemoryError("memory pool: asked for " + std::to_string(bytes) + " bytes with " +
                           std::to_string(in_use.load()) + " in use (" +
                           std::to_string(held.load()) + " held), but " + bound +
                           "; free tensors, use smaller batches, or raise SINTER_MEMORY_LIMIT");
  }

  bool reserve(std::size_t bytes) noexcept {
    const std::size_t now = held.fetch_add(bytes) + bytes;
    const std::size_t most = limit.load();
    if (most != 0 && now > most) {
      held.fetch_sub(bytes);
      return false;
    }
    return true;
  }

  /// New pages for `asked` bytes; caches are given back first where they would break a bound.
  void* map(std::size_t bytes, std::size_t alignment, std::size_t asked) {
    const std::size_t bound = holding_bound(asked);
    if (held.load() + bytes > bound) {
      evict(held.load() + bytes - bound);
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (reserve(bytes)) {
        if (void* pages = os::map_pages(bytes, alignment)) {
          const std::lock_guard lock(map_mutex);
          mappings.emplace_back(pages, bytes);
          return pages;
        }
        held.fetch_sub(bytes);
      }
      if (attempt == 0) {
        flush_own_cache();
        evict(SIZE_MAX);
      }
    }
    raise(asked);
  }

  void unmap(void* start, std::size_t bytes) noexcept {
    {
      const std::lock_guard lock(map_mutex);
      const auto found = std::find_if(mappings.rbegin(), mappings.rend(),
                                      [&](const auto& mapping) { return mapping.first == start; });
      *found = mappings.back();
      mappings.pop_back();
    }
    os::unmap_pages(start, bytes);
    held.fetch_sub(bytes);
  }

  /// What may be held once `asked` more bytes are in use.
  std::size_t holding_bound(std::size_t asked) const noexcept {
    const std::int64_t use = std::max<std::int64_t>(in_use.load(), 0);
    const std::int64_t highest = std::max(peak.load(), use + static_cast<std::int64_t>(asked));
    return 2 * static_cast<std::size_t>(highest) + slack_bytes;
  }

  /// A cached block up to half again as large; sizes that keep changing then reuse warm pages
  /// instead of mapping new ones. `free` finds its true class in `misfits`.
  void* take_misfit(int index) {
    const int last = std::min(index + 4, class_count - 1);
    for (int i = index + 1; i <= last; ++i) {
      FreeList& list = lists[static_cast<std::size_t>(i)];
      const std::lock_guard lock(list.mutex);
      if (FreeBlock* block = list.head) {
        const std::lock_guard misfit_lock(misfit_mutex);
        misfits.emplace(block, i);
        misfit_count.store(misfits.size(), std::memory_order_relaxed);
        list.head = block->next;
        --list.count;
        return block;
      }
    }
    return nullptr;
  }

  /// The class that a large block of the class `index` really has.
  int true_class(void* block, int index) noexcept {
    if (misfit_count.load(std::memory_order_relaxed) == 0) {
      return index;
    }
    const std::lock_guard lock(misfit_mutex);
    const auto found = misfits.find(block);
    if (found != misfits.end()) {
      index = found->second;
      misfits.erase(found);
      misfit_count.store(misfits.size(), std::memory_order_relaxed);
    }
    return index;
  }

  void* take_large(const SizeClass& wanted, std::size_t asked) {
    FreeList& list = lists[static_cast<std::size_t>(wanted.index)];
    {
      const std::lock_guard lock(list.mutex);
      list.last_use = ticks.fetch_add(1, std::memory_order_relaxed);
      list.block = wanted.block;
      if (FreeBlock* block = list.head) {
        list.head = block->next;
        --list.count;
        return block;
      }
    }
    if (held.load() + mapped_bytes(wanted.block) > holding_bound(asked)) {
      if (void* block = take_misfit(wanted.index)) {
        return block;
      }
    }
    const bool huge = wanted.block >= huge_page;
    void* pages = map(mapped_bytes(wanted.block), huge ? huge_page : page, asked);
    if (huge) {
      os::advise_huge(pages, wanted.block);
    }
    return pages;
  }

  /// Up to `most` linked blocks of a slab class, at least one.
  FreeBlock* take_slab(const SizeClass& wanted, unsigned most, unsigned& taken, std::size_t asked) {
    FreeList& list = lists[static_cast<std::size_t>(wanted.index)];
    std::unique_lock lock(list.mutex);
    list.block = wanted.block;
    if (list.head == nullptr) {
      lock.unlock();
      char* chunk = static_cast<char*>(map(chunk_bytes, chunk_bytes, asked));
      lock.lock();
      const std::size_t count = blocks_per_chunk(wanted.block);
      for (std::size_t i = count; i-- > 0;) {
        list.head = new (chunk + i * wanted.block) FreeBlock{list.head};
      }
      list.count += count;
    }
    FreeBlock* const first = list.head;
    FreeBlock* last = first;
    taken = 1;
    while (taken < most && last->next != nullptr) {
      last = last->next;
      ++taken;
    }
    list.head = last->next;
    last->next = nullptr;
    list.count -= taken;
    return first;
  }

  void put(int index, FreeBlock* first, FreeBlock* last, std::size_t count) noexcept {
    FreeList& list = lists[static_cast<std::size_t>(index)];
    const std::lock_guard lock(list.mutex);
    last->next = list.head;
    list.head = first;
    list.count += count;
  }

  static std::size_t blocks_per_chunk(std::size_t block) {
    return (chunk_bytes - readable_tail) / block;
  }

  /// Gives back at least `wanted` bytes if the lists have them: the classes unused for the longest
  /// first, then whole chunks. Returns the bytes given back.
  std::size_t evict(std::size_t wanted) noexcept {
    std::size_t given = 0;
    while (given < wanted) {
      FreeList* oldest = nullptr;
      std::uint64_t age = UINT64_MAX;
      for (int i = slab_classes; i < class_count; ++i) {
        FreeList& list = lists[static_cast<std::size_t>(i)];
        const std::lock_guard lock(list.mutex);
        if (list.head != nullptr && list.last_use < age) {
          oldest = &list;
          age = list.last_use;
        }
      }
      if (oldest == nullptr) {
        break;
      }
      given += evict_large(*oldest, wanted - given);
    }
    for (int i = 0; i < slab_classes && given < wanted; ++i) {
      given += evict_chunks(lists[static_cast<std::size_t>(i)]);
    }
    return given;
  }

  std::size_t evict_large(FreeList& list, std::size_t wanted) noexcept {
    std::size_t given = 0;
    while (given < wanted) {
      FreeBlock* block = nullptr;
      std::size_t bytes = 0;
      {
        const std::lock_guard lock(list.mutex);
        bytes = mapped_bytes(list.block);
        block = list.head;
        if (block == nullptr) {
          break;
        }
        list.head = block->next;
        --list.count;
      }
      unmap(block, bytes);
      given += bytes;
    }
    return given;
  }

  /// Unmaps the chunks of a class whose blocks are all on the list.
  std::size_t evict_chunks(FreeList& list) noexcept {
    FreeBlock* head = nullptr;
    std::size_t count = 0;
    std::size_t block_bytes = 0;
    {
      const std::lock_guard lock(list.mutex);
      block_bytes = list.block;
      head = std::exchange(list.head, nullptr);
      count = std::exchange(list.count, 0);
    }
    if (head == nullptr) {
      return 0;
    }
    std::size_t given = 0;
    const std::size_t whole = blocks_per_chunk(block_bytes);
    try {
      std::vector<FreeBlock*> blocks;
      blocks.reserve(count);
      for (FreeBlock* block = head; block != nullptr; block = block->next) {
        blocks.push_back(block);
      }
      std::sort(blocks.begin(), blocks.end());
      head = nullptr;
      count = 0;
      for (std::size_t begin = 0; begin < blocks.size();) {
        void* const chunk = chunk_of(blocks[begin]);
        std::size_t end = begin + 1;
        while (end < blocks.size() && chunk_of(blocks[end]) == chunk) {
          ++end;
        }
        if (end - begin == whole) {
          unmap(chunk, chunk_bytes);
          given += chunk_bytes;
        } else {
          for (std::size_t i = begin; i < end; ++i) {
            blocks[i]->next = head;
            head = blocks[i];
          }
          count += end - begin;
        }
        begin = end;
      }
    } catch (const std::bad_alloc&) {
      // No memory to sort by chunk: keep the list as it was.
    }
    if (head != nullptr) {
      FreeBlock* last = head;
      while (last->next != nullptr) {
        last = last->next;
      }
      const std::lock_guard lock(list.mutex);
      last->next = list.head;
      list.head = head;
      list.count += count;
    }
    return given;
  }

  static void* chunk_of(FreeBlock* block) {
    char* address = reinterpret_cast<char*>(block);
    return address - (reinterpret_cast<std::uintptr_t>(address) & (chunk_bytes - 1));
  }

  void flush_own_cache() noexcept;
  void* allocate(std::size_t bytes, std::size_t alignment);
  void free(void* memory, std::size_t bytes, std::size_t alignment) noexcept;
};

/// What one thread caches of the host pool. The counters are written by their thread only.
struct MemoryPool::ThreadCache {
  struct Bin {
    FreeBlock* head;
    std::uint32_t count;
    std::uint32_t capacity;
  };

  /// The pool whose blocks these are, while the cache is in use.
  State* owner;
  std::atomic<std::int64_t> unreported;
  std::atomic<std::uint64_t> allocations;
  std::array<Bin, slab_classes> bins;
  bool dead;

  static ThreadCache& own() noexcept;

  void count(State& state, std::int64_t bytes) noexcept {
    const std::int64_t sum = unreported.load(std::memory_order_relaxed) + bytes;
    if (sum >= report_bytes || sum <= -report_bytes) {
      unreported.store(0, std::memory_order_relaxed);
      state.count(sum);
    } else {
      unreported.store(sum, std::memory_order_relaxed);
    }
  }

  void* pop(State& state, Bin& bin, std::size_t bytes) noexcept {
    FreeBlock* const block = bin.head;
    bin.head = block->next;
    --bin.count;
    count(state, static_cast<std::int64_t>(bytes));
    allocations.store(allocations.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return block;
  }

  void push(State& state, Bin& bin, void* memory, std::size_t bytes) noexcept {
    bin.head = new (memory) FreeBlock{bin.head};
    ++bin.count;
    count(state, -static_cast<std::int64_t>(bytes));
  }

  /// Sends the newest blocks of a class back until `keep` are left.
  void shrink(State& state, int index, unsigned keep) noexcept {
    Bin& bin = bins[static_cast<std::size_t>(index)];
    if (bin.count <= keep) {
      return;
    }
    FreeBlock* const first = bin.head;
    FreeBlock* last = first;
    const unsigned moved = bin.count - keep;
    for (unsigned step = 1; step < moved; ++step) {
      last = last->next;
    }
    bin.head = last->next;
    bin.count = keep;
    state.put(index, first, last, moved);
  }

  void flush(State& state) noexcept {
    for (int i = 0; i < slab_classes; ++i) {
      shrink(state, i, 0);
    }
    state.count(unreported.exchange(0, std::memory_order_relaxed));
  }

  void begin(State& state);
  void end(State& state) noexcept;
};

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
