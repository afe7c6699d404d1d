// SPDX-License-Identifier: MIT OR Apache-2.0
// What one thread keeps of the host pool's blocks, so that most calls touch nothing shared.
#pragma once

#include "sinter/base/detail/pool_state.hpp"

namespace sinter {

/// What one thread caches of the host pool. The counters are written by their thread only.
struct MemoryPool::ThreadCache {
  struct Bin {
    pool::FreeBlock* head;
    std::uint32_t count;
    std::uint32_t capacity;
  };

  /// The pool whose blocks these are, while the cache is in use.
  State* owner;
  std::atomic<std::int64_t> unreported;
  std::atomic<std::uint64_t> allocations;
  std::array<Bin, pool::slab_classes> bins;
  bool dead;

  static ThreadCache& own() noexcept;

  void count(State& state, std::int64_t bytes) noexcept {
    const std::int64_t sum = unreported.load(std::memory_order_relaxed) + bytes;
    if (sum >= pool::report_bytes || sum <= -pool::report_bytes) {
      unreported.store(0, std::memory_order_relaxed);
      state.count(sum);
    } else {
      unreported.store(sum, std::memory_order_relaxed);
    }
  }

  void* pop(State& state, Bin& bin, std::size_t bytes) noexcept {
    pool::FreeBlock* const block = bin.head;
    bin.head = block->next;
    --bin.count;
    count(state, static_cast<std::int64_t>(bytes));
    allocations.store(allocations.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return block;
  }

  void push(State& state, Bin& bin, void* memory, std::size_t bytes) noexcept {
    bin.head = new (memory) pool::FreeBlock{bin.head};
    ++bin.count;
    count(state, -static_cast<std::int64_t>(bytes));
  }

  /// Sends the newest blocks of a class back until `keep` are left.
  void shrink(State& state, int index, unsigned keep) noexcept {
    Bin& bin = bins[static_cast<std::size_t>(index)];
    if (bin.count <= keep) {
      return;
    }
    pool::FreeBlock* const first = bin.head;
    pool::FreeBlock* last = first;
    const unsigned moved = bin.count - keep;
    for (unsigned step = 1; step < moved; ++step) {
      last = last->next;
    }
    bin.head = last->next;
    bin.count = keep;
    state.put(index, first, last, moved);
  }

  void flush(State& state) noexcept {
    for (int i = 0; i < pool::slab_classes; ++i) {
      shrink(state, i, 0);
    }
    state.count(unreported.exchange(0, std::memory_order_relaxed));
  }

  void begin(State& state);
  void end(State& state) noexcept;
};

}  // namespace sinter
