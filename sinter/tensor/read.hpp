// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading elements: later, on another thread, or many tensors with one wait.
#pragma once

#include <vector>

#include "sinter/graph/value.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter {

template <int D, class K>
class Tensor;

/// Elements that another thread is reading. Move only; destroying it waits.
class PendingData {
 public:
  /// Starts to read `value`.
  explicit PendingData(Value value);
  PendingData(PendingData&& other) noexcept;
  PendingData& operator=(PendingData&& other) noexcept;
  ~PendingData();

  /// `get` would not wait.
  [[nodiscard]] bool ready() const;
  void wait() const;
  /// The elements, once; throws what reading threw. ArgumentError when they were taken before.
  HostData get();

 private:
  struct State;
  State* state_;
};

/// Reads many tensors with one wait, in the order in which they were added:
///
///     Transaction read;
///     read.add(loss);
///     read.add(accuracy);
///     std::vector<HostData> data = read.execute();
class Transaction {
 public:
  template <int D, class K>
  Transaction& add(const Tensor<D, K>& tensor) {
    return add(tensor.value());
  }
  Transaction& add(Value value);
  /// Starts all work that is still queued, then reads; the transaction is empty afterwards.
  [[nodiscard]] std::vector<HostData> execute();

 private:
  std::vector<Value> values_;
};

}  // namespace sinter
