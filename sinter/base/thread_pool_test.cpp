// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of the thread pool: coverage of ranges, exceptions, concurrent callers, changing sizes.
#include "sinter/base/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "sinter/base/config.hpp"
#include "sinter/base/error.hpp"
#include "sinter/base/os/clock.hpp"
#include "sinter/base/os/process.hpp"

namespace sinter {
namespace {

void expect_covers_once(ThreadPool& pool, std::int64_t n, std::int64_t grain) {
  std::vector<int> hits(static_cast<std::size_t>(n), 0);
  pool.parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(begin % grain, 0);
    EXPECT_LT(begin, end);
    EXPECT_LE(end, n);
    for (std::int64_t i = begin; i < end; ++i) {
      ++hits[static_cast<std::size_t>(i)];
    }
  });
  EXPECT_EQ(std::count(hits.begin(), hits.end(), 1), n) << n << " by " << grain;
}

TEST(Thread_Pool, covers_every_index_once) {
  ThreadPool pool(4);
  for (const std::int64_t n : {0, 1, 2, 3, 7, 64, 1000, 1001}) {
    for (const std::int64_t grain : {1, 2, 3, 64, 2000}) {
      expect_covers_once(pool, n, grain);
    }
  }
}

TEST(Thread_Pool, huge_ranges_do_not_overflow) {
  ThreadPool pool(3);
  std::atomic<std::int64_t> covered{0};
  const std::int64_t n = std::int64_t{1} << 61;
  pool.parallel_for(n, std::int64_t{1} << 40,
                    [&](std::int64_t begin, std::int64_t end) { covered += end - begin; });
  EXPECT_EQ(covered, n);
}

TEST(Thread_Pool, uses_several_threads_and_never_more_than_asked) {
  ThreadPool pool(3);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  pool.parallel_for(12, 1, [&](std::int64_t, std::int64_t) {
    const int now = ++inside;
    int seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    os::sleep_seconds(0.01);
    --inside;
  });
  EXPECT_EQ(most, 3);
}

TEST(Thread_Pool, one_thread_runs_in_the_caller_in_one_piece) {
  ThreadPool pool(8);
  const ScopedThreads one(1);
  int calls = 0;
  pool.parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 1000);
    EXPECT_FALSE(ThreadPool::in_parallel());
  });
  EXPECT_EQ(calls, 1);
}

TEST(Thread_Pool, nested_loops_run_serially_in_the_same_thread) {
  ThreadPool pool(4);
  ThreadPool other(4);
  std::atomic<int> total{0};
  pool.parallel_for(8, 1, [&](std::int64_t, std::int64_t) {
    EXPECT_TRUE(ThreadPool::in_parallel());
    const std::thread::id self = std::this_thread::get_id();
    for (ThreadPool* nested : {&pool, &other}) {
      nested->parallel_for(100, 1, [&](std::int64_t begin, std::int64_t end) {
        EXPECT_EQ(std::this_thread::get_id(), self);
        total += static_cast<int>(end - begin);
      });
    }
  });
  EXPECT_EQ(total, 8 * 2 * 100);
  EXPECT_FALSE(ThreadPool::in_parallel());
}

TEST(Thread_Pool, exceptions_reach_the_caller_and_the_pool_stays_usable) {
  ThreadPool pool(4);
  for (int round = 0; round < 200; ++round) {
    try {
      pool.parallel_for(64, 1, [&](std::int64_t begin, std::int64_t) {
        if (begin % 7 == 3) {
          throw std::runtime_error("range " + std::to_string(begin));
        }
      });
      FAIL() << "nothing thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 6), "range ");
    }
    EXPECT_FALSE(ThreadPool::in_parallel());
  }
  expect_covers_once(pool, 1000, 1);
}

TEST(Thread_Pool, many_callers_at_once) {
  ThreadPool pool(4);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 20; ++c) {
    callers.emplace_back([&, c] {
      for (int round = 0; round < 100; ++round) {
        const std::int64_t n = 500 + c;
        std::vector<std::int64_t> values(static_cast<std::size_t>(n), 0);
        pool.parallel_for(n, 10, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            values[static_cast<std::size_t>(i)] += i;
          }
        });
        wrong += std::accumulate(values.begin(), values.end(), std::int64_t{0}) != n * (n - 1) / 2;
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Cases, THR_05_thread_count_changes_between_and_during_calls) {
  ThreadPool pool(2);
  std::atomic<bool> done{false};
  std::thread changer([&] {
    for (int i = 0; !done; ++i) {
      pool.set_num_threads(1 + i % 5);
      if (i % 50 == 0) {
        pool.stop_workers();
      }
      std::this_thread::yield();
    }
  });
  for (int round = 0; round < 500; ++round) {
    expect_covers_once(pool, 300, 1);
  }
  done = true;
  changer.join();
  pool.set_num_threads(3);
  EXPECT_EQ(pool.num_threads(), 3);
  EXPECT_THROW(pool.set_num_threads(0), ArgumentError);
  EXPECT_THROW(ScopedThreads(-1), ArgumentError);
}

TEST(Cases, THR_06_one_switch_for_one_thread) {
  const std::optional<std::string> before = os::environment("SINTER_THREADS");
  os::set_environment("SINTER_THREADS", "1");
  config::reload();
  EXPECT_EQ(ThreadPool().num_threads(), 1);
  os::set_environment("SINTER_THREADS", "5");
  config::reload();
  EXPECT_EQ(ThreadPool().num_threads(), 5);
  os::set_environment("SINTER_THREADS", before);
  config::reload();
}

TEST(Cases, THR_09_workers_end_and_start_again) {
  for (int round = 0; round < 100; ++round) {
    ThreadPool pool(3);
    expect_covers_once(pool, 50, 1);
    pool.stop_workers();
    expect_covers_once(pool, 50, 1);
  }
}

TEST(Thread_Pool, idle_workers_sleep) {
  ThreadPool pool(4);
  expect_covers_once(pool, 100, 1);
  os::sleep_seconds(0.05);
  const double before = os::process_cpu_seconds();
  os::sleep_seconds(0.2);
  EXPECT_LT(os::process_cpu_seconds() - before, 0.02);
}

TEST(Thread_Pool, start_latency_is_reported) {
  ThreadPool pool(2);
  std::vector<double> times;
  for (int i = 0; i < 5000; ++i) {
    const std::int64_t start = os::monotonic_nanoseconds();
    pool.parallel_for(2, 1, [](std::int64_t, std::int64_t) {});
    times.push_back(1e-3 * static_cast<double>(os::monotonic_nanoseconds() - start));
  }
  std::sort(times.begin(), times.end());
  std::printf("parallel_for of nothing: median %.2f us, p95 %.2f us\n", times[2500], times[4750]);
  EXPECT_LT(times[2500], 200.0);
}

int twice(int x) { return 2 * x; }

TEST(FunctionRefTest, calls_functions_lambdas_and_const_objects) {
  const auto call = [](FunctionRef<int(int)> f) { return f(21); };
  EXPECT_EQ(call(twice), 42);
  int offset = 1;
  EXPECT_EQ(call([&](int x) { return x + offset; }), 22);
  const auto fixed = [](int x) { return -x; };
  EXPECT_EQ(call(fixed), -21);
}

}  // namespace
}  // namespace sinter
