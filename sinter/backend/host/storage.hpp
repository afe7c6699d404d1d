// SPDX-License-Identifier: MIT OR Apache-2.0
// A counted buffer in host memory.
#pragma once

#include <cstddef>

#include "sinter/base/ref.hpp"

namespace sinter::backend {

/// Elements that one or more host tensors share. Header and data are one block of the host pool.
class Storage final : public RefCounted {
 public:
  /// Uninitialised; 64 bytes past the end may be read. Throws OutOfMemoryError. `extra` bytes at
  /// `extra()` are the caller's, for as long as the storage lives.
  static Ref<Storage> allocate(std::size_t bytes, std::size_t extra = 0);
  /// Uses memory of the caller's; `release(data, context)` is called with the last handle gone.
  static Ref<Storage> adopt(void* data, std::size_t bytes, void (*release)(void*, void*),
                            void* context);

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Of adopt(): where the elements are when `data` is none of the host's.
  void* context() const { return context_; }
  void* extra() const;

 private:
  Storage(void* data, std::size_t bytes, std::size_t block_bytes)
      : data_(data), bytes_(bytes), block_bytes_(block_bytes) {}
  void destroy() const noexcept override;

  void* data_;
  std::size_t bytes_;
  std::size_t block_bytes_;
  void (*release_)(void*, void*) = nullptr;  // null: the block is the pool's
  void* context_ = nullptr;
};

}  // namespace sinter::backend
