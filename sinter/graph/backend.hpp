// SPDX-License-Identifier: MIT OR Apache-2.0
// Backend: what executes calls. Leaves compute; decorators own another backend and add to it.
#pragma once

#include <cstddef>
#include <string>

#include "sinter/base/memory_pool.hpp"
#include "sinter/graph/generator.hpp"
#include "sinter/graph/group.hpp"
#include "sinter/graph/op_call.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter {

/// Executes ops on tensors of its own. Implementations may be used from several threads.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// "portable", "autodiff(portable)" …
  virtual std::string name() const = 0;
  /// Runs one checked call and appends its outputs. An op that the backend lacks is run by its
  /// decomposition; throws UnsupportedError when it has none either.
  virtual void execute(const OpCall& call, Outputs& outputs) = 0;
  /// The backend has a kernel of its own for this op with the first input's (or output's) dtype.
  virtual bool supports(const OpDef& def, DType dtype) const = 0;

  /// Whether this call may be part of a group that `execute_group` runs as one kernel. Its values
  /// may be another backend's: only shapes and dtypes count.
  virtual bool joins_groups(const OpCall& /*call*/) const { return false; }
  /// Runs a group and appends its results; call by call unless the backend knows better.
  virtual void execute_group(Group& group, Outputs& outputs) {
    execute_one_by_one(*this, group, outputs);
  }

  virtual Value from_data(const HostData& data) = 0;
  /// A tensor of rank 0.
  virtual Value scalar(Scalar value, DType dtype);
  /// The elements, once they are computed.
  virtual HostData read(const Value& value) = 0;

  /// Waits until everything asked for is computed.
  virtual void sync() {}
  /// Sends queued work off without waiting.
  virtual void flush() {}
  virtual MemoryStats memory() const { return {}; }
  /// Returns cached memory to the system.
  virtual void trim() {}
  /// The generator of random ops recorded outside a `GeneratorScope`.
  virtual Generator& generator() { return generator_; }

  /// The backend that this one decorates; null for a leaf.
  virtual Backend* inner() { return nullptr; }
  /// `value` without this decorator, on `inner()`; a leaf returns it as it is.
  virtual Value unwrap(const Value& value) { return value; }
  /// A value of `inner()` brought under this decorator.
  virtual Value wrap(const Value& value) { return value; }

 private:
  Generator generator_;
};

/// Copies a value to another backend through the host.
[[nodiscard]] Value to_backend(const Value& value, Backend& target);

/// The generator that a random op recorded now on `backend` takes its numbers from.
[[nodiscard]] Generator& current_generator(Backend& backend);

}  // namespace sinter
