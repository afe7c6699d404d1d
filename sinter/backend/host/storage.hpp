// SPDX-License-Identifier: MIT OR Apache-2.0
// A counted buffer in host memory.
#pragma once

#include <cstddef>

#include "sinter/base/ref.hpp"

namespace sinter::backend {

/// Elements that one or more host tensors share. Header and data are one block of the host pool.
class Storage final : public RefCounted {
 public:
  /// Uninitialised; 64 bytes past the end may be read. Throws OutOfMemoryError.
  static Ref<Storage> allocate(std::size_t bytes);
  /// Uses memory of the caller's; `release(data, context)` is called with the last handle gone.
  static Ref<Storage> adopt(void* data, std::size_t bytes, void (*release)(void*, void*), void* context);

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Storage(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  void destroy() const noexcept override;

  void* data_;
  std::size_t bytes_;
  void (*release_)(void*, void*) = nullptr;  // null: the block is the pool's
  void* context_ = nullptr;
};

}  // namespace sinter::backend
