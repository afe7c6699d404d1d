// SPDX-License-Identifier: MIT OR Apache-2.0
// Host buffers from the pool, and buffers of the caller's.
#include "sinter/backend/host/storage.hpp"

#include <new>

#include "sinter/base/error.hpp"
#include "sinter/base/memory_pool.hpp"

namespace sinter::backend {
namespace {

// The header fills one cache line, so that the data behind it is aligned for any vector.
constexpr std::size_t header_bytes = 64;

}  // namespace

Ref<Storage> Storage::allocate(std::size_t bytes, std::size_t extra) {
  static_assert(sizeof(Storage) <= header_bytes);
  const std::size_t head = header_bytes + (extra + 63) / 64 * 64;
  if (bytes > SIZE_MAX - head) {
    throw OutOfMemoryError("a tensor of " + std::to_string(bytes) +
                           " bytes exceeds the address space");
  }
  auto* block = static_cast<std::byte*>(MemoryPool::host().allocate(bytes + head));
  return Ref<Storage>::first(new (block) Storage(block + head, bytes, bytes + head));
}

Ref<Storage> Storage::adopt(void* data, std::size_t bytes, void (*release)(void*, void*),
                            void* context) {
  auto* block = MemoryPool::host().allocate(header_bytes);
  Ref<Storage> storage(new (block) Storage(data, bytes, header_bytes));
  storage->release_ = release;
  storage->context_ = context;
  return storage;
}

void* Storage::extra() const {
  return reinterpret_cast<std::byte*>(const_cast<Storage*>(this)) + header_bytes;
}

void Storage::destroy() const noexcept {
  auto* self = const_cast<Storage*>(this);
  const std::size_t block_bytes = block_bytes_;
  if (release_) {
    release_(data_, context_);
  }
  self->~Storage();
  MemoryPool::host().free(self, block_bytes);
}

}  // namespace sinter::backend
