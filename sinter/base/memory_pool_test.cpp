// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of the memory pool: contents, classes, bounds on what is held, limits, threads, speed.
#include "sinter/base/memory_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "sinter/base/error.hpp"
#include "sinter/base/os/clock.hpp"
#include "sinter/base/os/process.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define SINTER_TEST_CACHES 0
#else
#define SINTER_TEST_CACHES 1
#endif

namespace sinter {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

struct Block {
  unsigned char* data;
  std::size_t bytes;
  unsigned char fill;
};

Block filled(MemoryPool& pool, std::size_t bytes, unsigned char fill) {
  Block block{static_cast<unsigned char*>(pool.allocate(bytes)), bytes, fill};
  std::memset(block.data, fill, bytes);
  return block;
}

void check_and_free(MemoryPool& pool, const Block& block) {
  const auto wrong = [&](unsigned char byte) { return byte != block.fill; };
  ASSERT_EQ(std::find_if(block.data, block.data + block.bytes, wrong), block.data + block.bytes);
  pool.free(block.data, block.bytes);
}

TEST(Memory_Pool, blocks_never_overlap_under_random_use) {
  MemoryPool own;
  for (MemoryPool* pool : {&own, &MemoryPool::host()}) {
    std::mt19937 random(1);
    std::vector<Block> live;
    for (int step = 0; step < 8000; ++step) {
      if (live.size() < 200 && random() % 2 == 0) {
        const std::size_t bytes = random() % (std::size_t{1} << (random() % 19));
        live.push_back(filled(*pool, bytes, static_cast<unsigned char>(random())));
      } else if (!live.empty()) {
        std::swap(live[random() % live.size()], live.back());
        check_and_free(*pool, live.back());
        live.pop_back();
      }
    }
    for (const Block& block : live) {
      check_and_free(*pool, block);
    }
    EXPECT_EQ(pool->stats().in_use, 0u);
  }
}

TEST(Memory_Pool, classes_waste_at_most_an_eighth) {
  for (std::size_t bytes = 1; bytes < 64 * mib; bytes += 1 + bytes / 300) {
    const std::size_t block = MemoryPool::block_size(bytes);
    ASSERT_GE(block, bytes);
    ASSERT_EQ(block % 64, 0u);
    ASSERT_EQ(MemoryPool::block_size(block), block);
    if (bytes > 1024) {
      ASSERT_LE(static_cast<double>(block), 1.125 * static_cast<double>(bytes)) << bytes;
    }
  }
}

TEST(Memory_Pool, alignment_and_readable_tail) {
  MemoryPool pool;
  for (const std::size_t alignment : {1, 64, 128, 256, 4096}) {
    for (const std::size_t bytes : {1, 64, 100, 1024, 4096, 32768, 32769, 65536, 1 << 21}) {
      std::vector<unsigned char*> blocks;
      for (int i = 0; i < 9; ++i) {
        unsigned char* block = static_cast<unsigned char*>(pool.allocate(bytes, alignment));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % std::max<std::size_t>(alignment, 64),
                  0u);
        block[bytes - 1] = 1;
        unsigned sum = 0;
        for (std::size_t tail = 0; tail < 64; ++tail) {
          sum += static_cast<volatile unsigned char*>(block)[bytes + tail];
        }
        EXPECT_LT(sum, 64u * 256);
        blocks.push_back(block);
      }
      for (unsigned char* block : blocks) {
        pool.free(block, bytes, alignment);
      }
    }
  }
  EXPECT_THROW((void)pool.allocate(1, 8192), ArgumentError);
  EXPECT_THROW((void)pool.allocate(1, 3), ArgumentError);
}

TEST(Cases, MEM_10_out_of_memory_names_sizes_and_is_survived) {
  MemoryPool pool;
  pool.set_limit(64 * mib);
  void* first = pool.allocate(40 * mib);
  try {
    (void)pool.allocate(30 * mib);
    FAIL() << "no error";
  } catch (const OutOfMemoryError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(std::to_string(30 * mib)), std::string::npos) << message;
    EXPECT_NE(message.find(std::to_string(40 * mib)), std::string::npos) << message;
    EXPECT_NE(message.find(std::to_string(64 * mib)), std::string::npos) << message;
  }
  void* small = pool.allocate(1000);
  pool.free(small, 1000);
  pool.free(first, 40 * mib);
  // The 40 MiB are cached now; they must make room for another class.
  void* second = pool.allocate(50 * mib);
  pool.free(second, 50 * mib);
  EXPECT_THROW((void)pool.allocate(SIZE_MAX), OutOfMemoryError);
  EXPECT_THROW((void)pool.allocate(SIZE_MAX / 2), OutOfMemoryError);
}

#if SINTER_TEST_CACHES
TEST(Cases, MEM_08_memory_is_bounded_under_changing_sizes) {
  MemoryPool pool;
  std::mt19937 random(5);
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 200; ++i) {
    sizes.push_back(mib / 4 + random() % (24 * mib));
  }
  std::size_t most_held = 0;
  for (int run = 0; run < 5000; ++run) {
    std::vector<std::pair<void*, std::size_t>> live;
    for (int i = 0; i < 2; ++i) {
      const std::size_t bytes = sizes[random() % sizes.size()];
      live.emplace_back(pool.allocate(bytes), bytes);
    }
    for (const auto& [block, bytes] : live) {
      pool.free(block, bytes);
    }
    const MemoryStats stats = pool.stats();
    most_held = std::max(most_held, stats.in_use + stats.cached);
  }
  EXPECT_LE(most_held, 2 * pool.stats().peak + 64 * mib);
}

TEST(Memory_Pool, freed_blocks_come_back_and_trim_returns_them) {
  MemoryPool pool;
  void* large = pool.allocate(8 * mib);
  std::memset(large, 1, 8 * mib);
  pool.free(large, 8 * mib);
  EXPECT_EQ(pool.allocate(8 * mib - 100), large);
  pool.free(large, 8 * mib - 100);
  std::vector<void*> small;
  for (int i = 0; i < 10000; ++i) {
    small.push_back(pool.allocate(200));
  }
  for (void* block : small) {
    pool.free(block, 200);
  }
  const std::size_t cached = pool.stats().cached;
  EXPECT_GE(cached, 8 * mib + 10000 * 256);
  EXPECT_EQ(pool.trim(), cached);
  EXPECT_EQ(pool.stats().cached, 0u);
  void* kept = pool.allocate(200);
  EXPECT_EQ(pool.trim(), 0u);
  std::memset(kept, 1, 200);
  pool.free(kept, 200);
}
#endif

TEST(Memory_Pool, stats_count_bytes_asked_for) {
  MemoryPool pool;
  void* a = pool.allocate(100);
  void* b = pool.allocate(3 * mib);
  EXPECT_EQ(pool.stats().in_use, 3 * mib + 100);
  EXPECT_EQ(pool.stats().allocations, 2u);
  pool.free(b, 3 * mib);
  EXPECT_EQ(pool.stats().in_use, 100u);
  EXPECT_EQ(pool.stats().peak, 3 * mib + 100);
  pool.reset_peak();
  EXPECT_EQ(pool.stats().peak, 100u);
  pool.free(a, 100);
}

TEST(Memory_Pool, blocks_pass_between_threads) {
  MemoryPool& pool = MemoryPool::host();
  const std::size_t before = pool.stats().in_use;
  std::mutex mutex;
  std::vector<Block> shared;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int step = 0; step < 5000; ++step) {
        const Block made = filled(pool, 1 + random() % 3000, static_cast<unsigned char>(step));
        Block taken{nullptr, 0, 0};
        {
          const std::lock_guard lock(mutex);
          shared.push_back(made);
          if (shared.size() > 100) {
            std::swap(shared[random() % shared.size()], shared.back());
            taken = shared.back();
            shared.pop_back();
          }
        }
        if (taken.data != nullptr) {
          wrong += taken.data[0] != taken.fill || taken.data[taken.bytes - 1] != taken.fill;
          pool.free(taken.data, taken.bytes);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Block& block : shared) {
    check_and_free(pool, block);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(pool.stats().in_use, before);
}

#if SINTER_TEST_CACHES
TEST(Cases, MEM_01_threads_that_end_leave_no_memory_behind) {
  MemoryPool& pool = MemoryPool::host();
  std::size_t after_first = 0;
  for (int epoch = 0; epoch < 50; ++epoch) {
    for (int worker = 0; worker < 4; ++worker) {
      std::thread([&] {
        std::vector<void*> blocks;
        for (int i = 0; i < 1000; ++i) {
          blocks.push_back(pool.allocate(500));
        }
        for (void* block : blocks) {
          pool.free(block, 500);
        }
      }).join();
    }
    const MemoryStats stats = pool.stats();
    if (epoch == 0) {
      after_first = stats.in_use + stats.cached;
    }
    EXPECT_EQ(stats.in_use + stats.cached, after_first);
  }
}
#endif

thread_local struct FreesLate {
  void* block = nullptr;
  ~FreesLate() {
    if (block != nullptr) {
      MemoryPool::host().free(block, 64);
      MemoryPool::host().free(MemoryPool::host().allocate(128), 128);
    }
  }
} frees_late;

TEST(Cases, MEM_06_thread_local_objects_may_free_after_the_cache_is_gone) {
  const std::size_t before = MemoryPool::host().stats().in_use;
  std::thread([] {
    frees_late.block = nullptr;  // Constructed before the cache, so destroyed after it.
    frees_late.block = MemoryPool::host().allocate(64);
  }).join();
  EXPECT_EQ(MemoryPool::host().stats().in_use, before);
}

#if SINTER_TEST_CACHES
TEST(Memory_Pool, speed_is_reported) {
  MemoryPool& pool = MemoryPool::host();
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{1024}, mib}) {
    const int rounds = 50000;
    const std::int64_t start = os::monotonic_nanoseconds();
    for (int i = 0; i < rounds; ++i) {
      void* block = pool.allocate(bytes);
      *static_cast<volatile char*>(block) = 1;
      pool.free(block, bytes);
    }
    const double each = static_cast<double>(os::monotonic_nanoseconds() - start) / rounds;
    std::printf("allocate and free %zu bytes: %.1f ns\n", bytes, each);
    EXPECT_LT(each, 20000.0);
  }
}
#endif

}  // namespace
}  // namespace sinter
