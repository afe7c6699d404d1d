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

Ref<Storage> Storage::allocate(std::size_t bytes) {
  static_assert(sizeof(Storage) <= header_bytes);
  if (bytes > SIZE_MAX - header_bytes) {
    throw OutOfMemoryError("a tensor of " + std::to_string(bytes) + " bytes exceeds the address space");
  }
  auto* block = static_cast<std::byte*>(MemoryPool::host().allocate(bytes + header_bytes));
  return Ref<Storage>::first(new (block) Storage(block + header_bytes, bytes));
}

Ref<Storage> Storage::adopt(void* data, std::size_t bytes, void (*release)(void*, void*),
                            void* context) {
  auto* block = MemoryPool::host().allocate(header_bytes);
  Ref<Storage> storage(new (block) Storage(data, bytes));
  storage->release_ = release;
  storage->context_ = context;
  return storage;
}

void Storage::destroy() const noexcept {
  auto* self = const_cast<Storage*>(this);
  const std::size_t block_bytes = header_bytes + (release_ ? 0 : bytes_);
  if (release_) {
    release_(data_, context_);
  }
  self->~Storage();
  MemoryPool::host().free(self, block_bytes);
}

}  // namespace sinter::backend
