// SPDX-License-Identifier: MIT OR Apache-2.0
// One worker compiles what nobody waits for.
#include "sinter/backend/jit/programs.hpp"

#include <cstdlib>
#include <utility>

#include "sinter/base/error.hpp"
#include "sinter/base/log.hpp"

namespace sinter::backend::jit {

namespace {

// All that have workers. A compiler must not be at work when the process tears it down.
struct Workers {
  std::mutex mutex;
  std::vector<Programs*> all;
};
Workers& workers() {
  static auto* instance = new Workers;
  return *instance;
}

void stop_workers() {
  std::vector<Programs*> all;
  {
    const std::lock_guard lock(workers().mutex);
    all = workers().all;
  }
  for (Programs* programs : all) {
    programs->stop();
  }
}

}  // namespace

Programs::Programs(kernel::Runtime& runtime) : runtime_(runtime) {
  const std::lock_guard lock(workers().mutex);
  workers().all.push_back(this);
}

Programs::~Programs() {
  stop();
  const std::lock_guard lock(workers().mutex);
  std::erase(workers().all, this);
}

void Programs::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    tasks_.clear();
  }
  changed_.notify_all();
  if (worker_.joinable()) {
    worker_.join();
  }
}

Ref<kernel::Program> Programs::get(const ProgramKey& key, Recording record) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end() && found->second) {
      return found->second;
    }
  }
  // Two threads may load one kernel at the same time: the runtime gives both the same program.
  Ref<kernel::Program> program = runtime_.load(record());
  const std::lock_guard lock(mutex_);
  return known_[key] = std::move(program);
}

Ref<kernel::Program> Programs::find(const ProgramKey& key, Recording record) {
  const std::lock_guard lock(mutex_);
  const auto [found, fresh] = known_.try_emplace(key);
  if (!fresh || ending_) {
    return found->second;
  }
  // What lies in the cache on disk is there at once.
  ir::Kernel kernel = record();
  if ((found->second = runtime_.load_kept(kernel))) {
    return found->second;
  }
  tasks_.push_back({key, std::move(kernel)});
  if (!worker_.joinable()) {
    worker_ = std::thread([this] { work(); });
  }
  changed_.notify_one();
  return {};
}

void Programs::work() {
  try {
    runtime_.open_compiler();
  } catch (const Error&) {
    // Every kernel will say so.
  }
  // Handlers run in the reverse order: before those of the compiler, which is open now.
  static const int once = std::atexit(stop_workers);
  (void)once;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
    if (ending_) {
      return;
    }
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    Ref<kernel::Program> program;
    try {
      program = runtime_.load(task.kernel);
    } catch (const Error& error) {
      log::lazy(log::Level::error, [&] { return std::string(error.what()); });
    }
    lock.lock();
    known_[task.key] = std::move(program);
  }
}

}  // namespace sinter::backend::jit
