// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernels of a backend, found by key; compiled beside the work where nobody has to wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "sinter/base/function_ref.hpp"
#include "sinter/kernel/launch/runtime.hpp"

namespace sinter::backend::jit {

using ProgramKey = std::vector<std::uint64_t>;
using Recording = FunctionRef<ir::Kernel()>;

class Programs {
 public:
  explicit Programs(kernel::Runtime& runtime);
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  ~Programs();

  /// The program of `key`, loaded now if it isn't yet. Throws what loading it throws.
  Ref<kernel::Program> get(const ProgramKey& key, Recording record);
  /// The same, or nothing while it has to be compiled, which goes on beside. A kernel that can't be
  /// compiled never comes; the reason is logged.
  Ref<kernel::Program> find(const ProgramKey& key, Recording record);

  /// Waits for the kernel that is being compiled, and compiles no other beside the work.
  void stop();

 private:
  struct Task {
    ProgramKey key;
    ir::Kernel kernel;
  };

  void work();

  kernel::Runtime& runtime_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ProgramKey, Ref<kernel::Program>> known_;  ///< null: asked for
  std::deque<Task> tasks_;
  std::thread worker_;
  bool ending_ = false;
};

}  // namespace sinter::backend::jit
