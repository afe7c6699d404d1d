// SPDX-License-Identifier: MIT OR Apache-2.0
// What the drivers of structured float kernels share: dtypes, scratch memory, how work is cut.
#pragma once

#include <algorithm>
#include <type_traits>

#include "sinter/backend/host/host_backend.hpp"
#include "sinter/backend/portable/blocks.hpp"
#include "sinter/backend/portable/convert.hpp"
#include "sinter/base/memory_pool.hpp"
#include "sinter/base/thread_pool.hpp"

namespace sinter::backend::portable {

template <class T>
const sinter::portable::NnKernels<T>& nn() {
  if constexpr (std::is_same_v<T, float>) {
    return kernels().nn_f32();
  } else {
    return kernels().nn_f64();
  }
}

/// Calls `f.template operator()<T>()` with double for f64, else float.
template <class F>
void with_float(DType dtype, F&& f) {
  if (dtype == DType::f64) {
    f.template operator()<double>();
  } else {
    f.template operator()<float>();
  }
}

/// A block of the host pool for the length of a scope.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) : bytes_(bytes), data_(MemoryPool::host().allocate(bytes)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { MemoryPool::host().free(data_, bytes_); }
  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  std::size_t bytes_;
  void* data_;
};

/// `value` dense and of the dtype that stores `T`; itself where it is so already.
template <class T>
Value dense_as(const Value& value) {
  return value.dtype() == dtype_of<T> ? densely(value) : converted(value, dtype_of<T>);
}
template <class T>
T* data_of(const Value& value) {
  return host(value).data_as<T>();
}

/// How many items of `each` elements are worth a thread.
inline std::int64_t grain_of(std::int64_t each) {
  return std::max<std::int64_t>(1, parallel_grain / std::max<std::int64_t>(each, 1));
}

/// Runs `kernel`, which knows f32 and f64, on f32 copies of f16 and bf16 inputs, and rounds its
/// outputs.
void run_widened(Kernel kernel, Backend& backend, const OpCall& call, Outputs& outputs);
template <Kernel kernel>
void widened(Backend& backend, const OpCall& call, Outputs& outputs) {
  run_widened(kernel, backend, call, outputs);
}

/// Runs the reference kernel: for shapes too rare or too empty for a fast one.
void run_reference(Backend& backend, const OpCall& call, Outputs& outputs);

}  // namespace sinter::backend::portable
