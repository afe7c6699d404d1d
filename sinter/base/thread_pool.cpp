// SPDX-License-Identifier: MIT OR Apache-2.0
// Loops over threads: open jobs lie in fixed slots that workers join and leave by one atomic word.
#include "sinter/base/thread_pool.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "sinter/base/config.hpp"
#include "sinter/base/error.hpp"
#include "sinter/base/os/clock.hpp"
#include "sinter/base/os/cpu.hpp"
#include "sinter/base/os/process.hpp"

namespace sinter {

namespace {

constexpr int max_threads = 1024;
constexpr int slot_count = 16;
constexpr std::int64_t ranges_per_thread = 4;
/// How long an idle worker or a waiting caller polls before it sleeps.
constexpr std::int64_t spin_nanoseconds = 50'000;

thread_local int scoped_threads = 0;
thread_local bool inside_body = false;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Polls until `ready()` or until the time is over; says whether it was ready.
template <class Ready>
bool spin_until(Ready ready) {
  const std::int64_t end = os::monotonic_nanoseconds() + spin_nanoseconds;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) {
        return true;
      }
      relax();
    }
  } while (os::monotonic_nanoseconds() < end);
  return ready();
}

int default_threads() {
  const int wanted = static_cast<int>(config::integer(config::Setting::threads));
  return std::min(wanted != 0 ? wanted : os::usable_cpus(), max_threads);
}

int checked_threads(int threads) {
  if (threads < 1 || threads > max_threads) {
    throw ArgumentError("thread pool: expected 1 to " + std::to_string(max_threads) +
                        " threads, got " + std::to_string(threads));
  }
  return threads;
}

/// One loop under way. `word` holds who uses the slot: the fields below it may be read only by the
/// owner and by helpers that have joined, and the owner waits for those before it leaves.
struct alignas(128) Slot {
  static constexpr std::uint32_t owned = 1u << 31;
  static constexpr std::uint32_t open = 1u << 30;
  static constexpr std::uint32_t waiting = 1u << 29;
  static constexpr std::uint32_t helper_mask = 0xffff;

  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint32_t> max_helpers{0};
  std::atomic<std::int64_t> n{0};
  std::atomic<std::int64_t> next{0};
  std::int64_t range = 0;
  const ThreadPool::Body* body = nullptr;
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::mutex mutex;
  std::condition_variable helpers_gone;

  bool try_join() {
    std::uint32_t seen = word.load(std::memory_order_relaxed);
    while ((seen & open) != 0 &&
           (seen & helper_mask) < max_helpers.load(std::memory_order_relaxed) &&
           next.load(std::memory_order_relaxed) < n.load(std::memory_order_relaxed)) {
      if (word.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  void leave() {
    const std::uint32_t before = word.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & waiting) != 0 && (before & helper_mask) == 1) {
      const std::lock_guard lock(mutex);
      helpers_gone.notify_one();
    }
  }

  void work() {
    const std::int64_t total = n.load(std::memory_order_relaxed);
    for (;;) {
      const std::int64_t begin = next.fetch_add(range, std::memory_order_relaxed);
      if (begin >= total) {
        return;
      }
      try {
        (*body)(begin, std::min(begin + range, total));
      } catch (...) {
        next.store(total, std::memory_order_relaxed);
        if (!failed.exchange(true, std::memory_order_relaxed)) {
          error = std::current_exception();
        }
        return;
      }
    }
  }

  bool no_helpers() const { return (word.load(std::memory_order_acquire) & helper_mask) == 0; }

  /// Lets nobody in any more and waits until everybody is out.
  void close() {
    word.fetch_and(~open, std::memory_order_acq_rel);
    if (spin_until([this] { return no_helpers(); })) {
      return;
    }
    std::unique_lock lock(mutex);
    word.fetch_or(waiting, std::memory_order_acq_rel);
    helpers_gone.wait(lock, [this] { return no_helpers(); });
  }
};

}  // namespace

struct ThreadPool::State {
  explicit State(int threads) : threads(threads) {}

  std::atomic<int> threads;
  std::atomic<int> started{0};
  std::array<Slot, slot_count> slots;
  alignas(128) std::atomic<std::uint32_t> epoch{0};
  std::atomic<std::uint32_t> open_slots{0};
  std::atomic<int> sleepers{0};
  std::atomic<bool> stopping{false};
  std::mutex sleep_mutex;
  std::condition_variable wake;
  std::mutex workers_mutex;
  std::vector<std::thread> workers;
  long process = os::process_id();  // a fork's child has none of the threads

  void start_workers(int count) {
    const std::lock_guard lock(workers_mutex);
    while (static_cast<int>(workers.size()) < count) {
      try {
        workers.emplace_back([this, index = static_cast<int>(workers.size())] { run(index); });
      } catch (const std::system_error&) {
        break;  // The system gives no more threads; the loop runs with those there are.
      }
    }
    started.store(static_cast<int>(workers.size()), std::memory_order_relaxed);
  }

  void stop() {
    const std::lock_guard lock(workers_mutex);
    if (process != os::process_id()) {
      (void)new std::vector<std::thread>(std::move(workers));  // neither joined nor destroyed
      return;
    }
    {
      const std::lock_guard sleep_lock(sleep_mutex);
      stopping = true;
      epoch.fetch_add(1);
    }
    wake.notify_all();
    for (std::thread& worker : workers) {
      worker.join();
    }
    workers.clear();
    started = 0;
    stopping = false;
  }

  void run(int index) {
    inside_body = true;
    std::uint32_t seen = 0;
    while (!stopping.load()) {
      seen = epoch.load();
      if (help()) {
        continue;
      }
      const auto changed = [&] { return epoch.load() != seen; };
      // A worker beyond the present number of threads isn't needed soon.
      const bool needed = index < threads.load(std::memory_order_relaxed) - 1;
      if (needed && spin_until(changed)) {
        continue;
      }
      std::unique_lock lock(sleep_mutex);
      sleepers.fetch_add(1);
      wake.wait(lock, changed);
      sleepers.fetch_sub(1);
    }
  }

  /// Joins one open loop, if there is any with work left.
  bool help() {
    std::uint32_t open = open_slots.load(std::memory_order_acquire);
    for (; open != 0; open &= open - 1) {
      Slot& slot = slots[static_cast<std::size_t>(std::countr_zero(open))];
      if (slot.try_join()) {
        slot.work();
        slot.leave();
        return true;
      }
    }
    return false;
  }

  int acquire_slot() {
    for (int i = 0; i < slot_count; ++i) {
      std::uint32_t free = 0;
      std::atomic<std::uint32_t>& word = slots[static_cast<std::size_t>(i)].word;
      if (word.load(std::memory_order_relaxed) == 0 &&
          word.compare_exchange_strong(free, Slot::owned, std::memory_order_acquire)) {
        return i;
      }
    }
    return -1;
  }

  void announce(int helpers) {
    epoch.fetch_add(1);
    const int asleep = sleepers.load();
    if (asleep > 0) {
      {
        const std::lock_guard lock(sleep_mutex);
      }
      for (int i = std::min(asleep, helpers); i > 0; --i) {
        wake.notify_one();
      }
    }
  }

  void run_loop(std::int64_t n, std::int64_t range, int helpers, const Body& body) {
    const int index = acquire_slot();
    if (index < 0) {
      return body(0, n);
    }
    Slot& slot = slots[static_cast<std::size_t>(index)];
    slot.n.store(n, std::memory_order_relaxed);
    slot.next.store(0, std::memory_order_relaxed);
    slot.range = range;
    slot.body = &body;
    slot.failed.store(false, std::memory_order_relaxed);
    slot.max_helpers.store(static_cast<std::uint32_t>(helpers), std::memory_order_relaxed);
    slot.word.store(Slot::owned | Slot::open, std::memory_order_release);
    open_slots.fetch_or(1u << index, std::memory_order_release);
    announce(helpers);
    slot.work();
    open_slots.fetch_and(~(1u << index), std::memory_order_relaxed);
    slot.close();
    const std::exception_ptr error = std::exchange(slot.error, nullptr);
    slot.word.store(0, std::memory_order_release);
    if (error) {
      std::rethrow_exception(error);
    }
  }
};

ThreadPool::ThreadPool(int threads)
    : state_(new State(threads == 0 ? default_threads() : checked_threads(threads))) {}

ThreadPool::~ThreadPool() {
  state_->stop();
  delete state_;
}

#ifndef _WIN32
namespace {
/// Unloading the library must not leave workers behind whose code is gone. On Windows the system
/// ends the threads before static objects, and joining them while a DLL unloads would block.
struct StopAtUnload {
  ThreadPool* pool;
  ~StopAtUnload() { pool->stop_workers(); }
};
}  // namespace
#endif

ThreadPool& ThreadPool::global() {
  // Leaked, so that objects destroyed after this one may still run loops.
  static ThreadPool* const pool = [] {
    ThreadPool* const made = new ThreadPool();
#ifndef _WIN32
    static const StopAtUnload stop{made};
#endif
    return made;
  }();
  return *pool;
}

void ThreadPool::parallel_for(std::int64_t n, std::int64_t grain, Body body) {
  if (n <= 0) {
    return;
  }
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t threads = num_threads();
  if (threads == 1 || n <= grain || inside_body) {
    return body(0, n);
  }
  const std::int64_t grains = (n - 1) / grain + 1;
  const std::int64_t pieces = std::min(grains, threads * ranges_per_thread);
  const std::int64_t range = ((grains - 1) / pieces + 1) * grain;
  const std::int64_t ranges = (n - 1) / range + 1;
  const int helpers = static_cast<int>(std::min(ranges, threads)) - 1;
  if (state_->started.load(std::memory_order_relaxed) < helpers) {
    state_->start_workers(helpers);
  }
  inside_body = true;
  struct Leave {
    ~Leave() { inside_body = false; }
  } leave;
  state_->run_loop(n, range, helpers, body);
}

int ThreadPool::num_threads() const noexcept {
  return scoped_threads != 0 ? scoped_threads : state_->threads.load(std::memory_order_relaxed);
}

void ThreadPool::set_num_threads(int n) { state_->threads = checked_threads(n); }

void ThreadPool::stop_workers() { state_->stop(); }

bool ThreadPool::in_parallel() noexcept { return inside_body; }

ScopedThreads::ScopedThreads(int threads) : previous_(scoped_threads) {
  scoped_threads = checked_threads(threads);
}

ScopedThreads::~ScopedThreads() { scoped_threads = previous_; }

}  // namespace sinter
