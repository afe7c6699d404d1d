// SPDX-License-Identifier: MIT OR Apache-2.0
// The threads that share the work of one operation.
#pragma once

#include <cstdint>

#include "sinter/base/function_ref.hpp"

namespace sinter {

/// Splits loops over threads. Every function may be called from any thread at any time.
class ThreadPool {
 public:
  using Body = FunctionRef<void(std::int64_t begin, std::int64_t end)>;

  /// `threads` counts the calling thread; 0 takes the setting `threads` (SINTER_THREADS), or else
  /// the processors that this process may use. Workers start at the first loop that needs them.
  explicit ThreadPool(int threads = 0);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  /// The pool of the process; it outlives every static object.
  static ThreadPool& global();

  /// Calls `body(begin, end)` for ranges that cover [0, n) once; each `begin` is a multiple of
  /// `grain`, the least work worth a thread. The caller takes part. A call inside a body runs
  /// serially. The first exception of a body is rethrown here after all bodies have ended; ranges
  /// not yet begun are then skipped. How [0, n) is cut depends on the number of threads.
  void parallel_for(std::int64_t n, std::int64_t grain, Body body);

  /// Threads that a loop started by this thread would use (see ScopedThreads).
  int num_threads() const noexcept;
  /// Takes effect at the next loop; loops under way keep theirs. ArgumentError unless n >= 1.
  void set_num_threads(int n);

  /// Ends and joins the workers; the next loop starts new ones. Not from within a body.
  void stop_workers();

  /// Whether this thread is inside a body of some pool.
  static bool in_parallel() noexcept;

 private:
  struct State;
  State* const state_;
};

/// While it lives, loops started by this thread use `threads` threads on every pool.
class ScopedThreads {
 public:
  explicit ScopedThreads(int threads);
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;
  ~ScopedThreads();

 private:
  int previous_;
};

/// `ThreadPool::global().parallel_for(n, grain, body)`.
inline void parallel_for(std::int64_t n, std::int64_t grain, ThreadPool::Body body) {
  ThreadPool::global().parallel_for(n, grain, body);
}

}  // namespace sinter
