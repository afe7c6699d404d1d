// SPDX-License-Identifier: MIT OR Apache-2.0
// What fusion waits with: values to come, and the calls that will make them.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string_view>
#include <vector>

#include "sinter/base/memory_pool.hpp"
#include "sinter/graph/backend.hpp"
#include "sinter/ops/attributes.hpp"

namespace sinter::fusion {

class Queue;

/// A value of the backend below, now or once its queue is closed.
class FusedValue final : public ValueImpl {
 public:
  /// Computed.
  FusedValue(Backend& backend, Value inner)
      : ValueImpl(backend, inner.shape(), inner.dtype()), inner_(std::move(inner)), ready_(true) {}
  /// To come out of `queue`.
  FusedValue(Backend& backend, const TensorSpec& spec, Ref<Queue> queue, std::uint32_t place)
      : ValueImpl(backend, spec.shape, spec.dtype), queue_(std::move(queue)), place_(place) {}

  [[nodiscard]] bool ready() const { return ready_.load(std::memory_order_acquire); }
  /// Whether it still has to come out of `queue`, and out of which of its calls.
  [[nodiscard]] bool waits_in(const Queue* queue) const {
    return queue_.get() == queue && !ready();
  }
  [[nodiscard]] std::uint32_t place() const { return place_; }

  /// The value below; closes its queue first if need be. Throws what its group threw.
  const Value& inner(std::string_view reason);
  /// Gives the value below up, for the last handle of a value that its caller donated.
  Value take(std::string_view reason);

  // Called by the queue, under its lock.
  void set(Value inner);
  void fail(std::exception_ptr error);

  static void* operator new(std::size_t bytes) { return MemoryPool::host().allocate(bytes); }
  static void operator delete(void* block, std::size_t bytes) {
    MemoryPool::host().free(block, bytes);
  }

 private:
  Value inner_;
  const Ref<Queue> queue_;
  const std::uint32_t place_ = 0;
  std::exception_ptr error_;
  std::atomic<bool> ready_{false};
};

/// The calls that one thread waits with on one backend.
class Queue final : public RefCounted {
 public:
  explicit Queue(Backend& below) : below_(below) {}

  /// Queues a call, and closes the queue first if it is full.
  Ref<FusedValue> add(Backend& owner, const OpCall& call);
  /// Runs everything queued.
  void close(std::string_view reason);

 private:
  struct Waiting {
    const OpDef* def;
    OwnedAttributes attributes;
    SmallVector<Ref<FusedValue>, 4> inputs;
    Ref<FusedValue> output;
    SourceLoc where;
  };
  using Members = std::vector<std::uint32_t>;

  void close_locked(std::string_view reason);
  [[nodiscard]] std::vector<Members> group_calls(std::vector<std::uint32_t>& group_of) const;
  void find_needs(const std::vector<std::uint32_t>& group_of, std::vector<bool>& needed,
                  std::vector<bool>& stored) const;
  void run_group(const Members& members, const std::vector<bool>& stored, std::string_view reason);

  Backend& below_;
  std::mutex mutex_;
  std::vector<Waiting> calls_;
};

/// The queue of this thread for `below`.
Ref<Queue> queue_of_thread(Backend& below);
/// Closes every thread's queue for `below`.
void close_all(Backend& below, std::string_view reason);

}  // namespace sinter::fusion
