// SPDX-License-Identifier: MIT OR Apache-2.0
// What all threads share of a memory pool: central lists of free blocks, mappings, counters.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sinter/base/detail/pool_sizes.hpp"
#include "sinter/base/error.hpp"
#include "sinter/base/memory_pool.hpp"
#include "sinter/base/os/memory.hpp"

namespace sinter {

struct MemoryPool::State {
  std::array<pool::FreeList, pool::class_count> lists;
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
    return 2 * static_cast<std::size_t>(highest) + pool::slack_bytes;
  }

  /// A cached block up to half again as large; sizes that keep changing then reuse warm pages
  /// instead of mapping new ones. `free` finds its true class in `misfits`.
  void* take_misfit(int index) {
    const int last = std::min(index + 4, pool::class_count - 1);
    for (int i = index + 1; i <= last; ++i) {
      pool::FreeList& list = lists[static_cast<std::size_t>(i)];
      const std::lock_guard lock(list.mutex);
      if (pool::FreeBlock* block = list.head) {
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

  void* take_large(const pool::SizeClass& wanted, std::size_t asked) {
    pool::FreeList& list = lists[static_cast<std::size_t>(wanted.index)];
    {
      const std::lock_guard lock(list.mutex);
      list.last_use = ticks.fetch_add(1, std::memory_order_relaxed);
      list.block = wanted.block;
      if (pool::FreeBlock* block = list.head) {
        list.head = block->next;
        --list.count;
        return block;
      }
    }
    if (held.load() + pool::mapped_bytes(wanted.block) > holding_bound(asked)) {
      if (void* block = take_misfit(wanted.index)) {
        return block;
      }
    }
    const bool huge = wanted.block >= pool::huge_page;
    void* pages = map(pool::mapped_bytes(wanted.block), huge ? pool::huge_page : pool::page, asked);
    if (huge) {
      os::advise_huge(pages, wanted.block);
    }
    return pages;
  }

  /// Up to `most` linked blocks of a slab class, at least one.
  pool::FreeBlock* take_slab(const pool::SizeClass& wanted, unsigned most, unsigned& taken,
                             std::size_t asked) {
    pool::FreeList& list = lists[static_cast<std::size_t>(wanted.index)];
    std::unique_lock lock(list.mutex);
    list.block = wanted.block;
    if (list.head == nullptr) {
      lock.unlock();
      char* chunk = static_cast<char*>(map(pool::chunk_bytes, pool::chunk_bytes, asked));
      lock.lock();
      const std::size_t count = blocks_per_chunk(wanted.block);
      for (std::size_t i = count; i-- > 0;) {
        list.head = new (chunk + i * wanted.block) pool::FreeBlock{list.head};
      }
      list.count += count;
    }
    pool::FreeBlock* const first = list.head;
    pool::FreeBlock* last = first;
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

  void put(int index, pool::FreeBlock* first, pool::FreeBlock* last, std::size_t count) noexcept {
    pool::FreeList& list = lists[static_cast<std::size_t>(index)];
    const std::lock_guard lock(list.mutex);
    last->next = list.head;
    list.head = first;
    list.count += count;
  }

  static std::size_t blocks_per_chunk(std::size_t block) {
    return (pool::chunk_bytes - pool::readable_tail) / block;
  }

  /// Gives back at least `wanted` bytes if the lists have them: the classes unused for the longest
  /// first, then whole chunks. Returns the bytes given back.
  std::size_t evict(std::size_t wanted) noexcept {
    std::size_t given = 0;
    while (given < wanted) {
      pool::FreeList* oldest = nullptr;
      std::uint64_t age = UINT64_MAX;
      for (int i = pool::slab_classes; i < pool::class_count; ++i) {
        pool::FreeList& list = lists[static_cast<std::size_t>(i)];
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
    for (int i = 0; i < pool::slab_classes && given < wanted; ++i) {
      given += evict_chunks(lists[static_cast<std::size_t>(i)]);
    }
    return given;
  }

  std::size_t evict_large(pool::FreeList& list, std::size_t wanted) noexcept {
    std::size_t given = 0;
    while (given < wanted) {
      pool::FreeBlock* block = nullptr;
      std::size_t bytes = 0;
      {
        const std::lock_guard lock(list.mutex);
        bytes = pool::mapped_bytes(list.block);
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
  std::size_t evict_chunks(pool::FreeList& list) noexcept {
    pool::FreeBlock* head = nullptr;
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
      std::vector<pool::FreeBlock*> blocks;
      blocks.reserve(count);
      for (pool::FreeBlock* block = head; block != nullptr; block = block->next) {
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
          unmap(chunk, pool::chunk_bytes);
          given += pool::chunk_bytes;
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
      pool::FreeBlock* last = head;
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

  static void* chunk_of(pool::FreeBlock* block) {
    char* address = reinterpret_cast<char*>(block);
    return address - (reinterpret_cast<std::uintptr_t>(address) & (pool::chunk_bytes - 1));
  }

  void flush_own_cache() noexcept;
  void* allocate(std::size_t bytes, std::size_t alignment);
  void free(void* memory, std::size_t bytes, std::size_t alignment) noexcept;
};

}  // namespace sinter
