// SPDX-License-Identifier: MIT OR Apache-2.0
// One thread that does jobs in the order they are given.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace sinter::train::detail {

/// After a job throws, the ones behind it are dropped, and `post` and `drain` rethrow its
/// exception.
class Worker {
 public:
  /// `post` waits while `capacity` jobs are waiting.
  explicit Worker(std::size_t capacity) : capacity_(capacity), thread_([this] { loop(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Drops the jobs that are waiting.
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      jobs_.clear();
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void post(std::function<void()> job) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return jobs_.size() < capacity_ || failure_; });
    rethrow();
    jobs_.push_back(std::move(job));
    changed_.notify_all();
  }
  /// Returns when all jobs are done.
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return (jobs_.empty() && !busy_) || failure_; });
    rethrow();
  }

 private:
  void rethrow() {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }
  void loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !jobs_.empty() || ending_; });
      if (ending_) {
        return;
      }
      std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      busy_ = true;
      lock.unlock();
      std::exception_ptr failure;
      try {
        job();
      } catch (...) {
        failure = std::current_exception();
      }
      // What the job holds is freed before anyone is told that it is done.
      job = nullptr;
      lock.lock();
      busy_ = false;
      if (failure) {
        failure_ = failure;
        jobs_.clear();
      }
      changed_.notify_all();
    }
  }

  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::exception_ptr failure_;
  bool busy_ = false;
  bool ending_ = false;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace sinter::train::detail
