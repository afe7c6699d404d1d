// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors in host memory, shared by the backends that compute there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sinter/backend/host/storage.hpp"
#include "sinter/base/memory_pool.hpp"
#include "sinter/graph/backend.hpp"
#include "sinter/graph/value.hpp"
#include "sinter/types/layout.hpp"

namespace sinter::backend {

/// A view of a storage. The null backend's have no storage.
class HostTensor final : public ValueImpl {
 public:
  HostTensor(Backend& backend, const Layout& layout, DType dtype, Ref<Storage> storage)
      : ValueImpl(backend, layout.shape, dtype),
        strides_(layout.strides),
        offset_(layout.offset),
        contiguous_(layout.is_contiguous()),
        storage_(std::move(storage)) {}
  /// Dense.
  HostTensor(Backend& backend, const Shape& shape, DType dtype, Ref<Storage> storage)
      : ValueImpl(backend, shape, dtype),
        strides_(contiguous_strides(shape)),
        storage_(std::move(storage)) {}

  Layout layout() const { return Layout(shape(), strides_, offset_); }
  const Dims& strides() const { return strides_; }
  const Ref<Storage>& storage() const { return storage_; }
  bool is_contiguous() const { return contiguous_; }
  /// The element at index 0 in every dim.
  std::byte* data() const {
    return static_cast<std::byte*>(storage_->data()) +
           offset_ * static_cast<std::int64_t>(size_of(dtype()));
  }
  template <class T>
  T* data_as() const {
    return reinterpret_cast<T*>(data());
  }

  /// A dense, uninitialised tensor in one block with its storage.
  static Ref<HostTensor> allocate(Backend& backend, const Shape& shape, DType dtype);

  // Handles come and go with every op: the pool's thread cache is faster than the heap.
  static void* operator new(std::size_t bytes) { return MemoryPool::host().allocate(bytes); }
  static void operator delete(void* block, std::size_t bytes) {
    MemoryPool::host().free(block, bytes);
  }

 private:
  void destroy() const noexcept override;

  Dims strides_;
  std::int64_t offset_ = 0;
  bool contiguous_ = true;
  bool in_storage_ = false;  // lies in its storage's block, and goes with it
  Ref<Storage> storage_;
};

inline HostTensor& host(const Value& value) { return value.as<HostTensor>(); }

/// A dense, uninitialised tensor.
Value allocate(Backend& backend, const Shape& shape, DType dtype);
inline Value allocate(Backend& backend, const TensorSpec& spec) {
  return allocate(backend, spec.shape, spec.dtype);
}
/// The same storage under another layout.
Value view_of(const Value& value, const Layout& layout);

/// Calls `run(offset of its first element)` for each innermost run of `layout`, in row-major order;
/// a run has `shape.back()` elements (one for a scalar), `strides.back()` apart.
template <class F>
void for_each_run(const Layout& layout, F&& run);

/// Copies the elements of `from` in row-major order to dense `to`; both of `size`-byte elements.
/// `from` points at the storage's start.
void gather_dense(const void* from, const Layout& layout, std::size_t size, void* to);
/// The inverse: dense `from` to the elements that `layout` names.
void scatter_dense(const void* from, const Layout& layout, std::size_t size, void* to);

/// Nobody else holds the elements of `value`, and they lie densely in the dtype and shape of
/// `spec`.
bool is_reusable(const Value& value, const TensorSpec& spec);
/// `input i` may be overwritten with a result of `spec`: it was given up, nobody else holds its
/// elements, and they lie densely in the right dtype and shape.
bool may_overwrite(const OpCall& call, std::size_t i, const TensorSpec& spec);

template <class F>
void for_each_run(const Layout& layout, F&& run) {
  const int rank = layout.shape.rank();
  for (const std::int64_t size : layout.shape) {
    if (size == 0) {
      return;
    }
  }
  std::int64_t index[max_rank] = {};
  std::int64_t offset = layout.offset;
  for (;;) {
    run(offset);
    int dim = rank - 2;
    for (; dim >= 0; --dim) {
      offset += layout.strides[dim];
      if (++index[dim] < layout.shape[dim]) {
        break;
      }
      offset -= layout.shape[dim] * layout.strides[dim];
      index[dim] = 0;
    }
    if (dim < 0) {
      return;
    }
  }
}

/// Calls `f.template operator()<T>()` with the unsigned integer of `size` bytes, which stands for
/// any element of that size where only its bits are moved.
template <class F>
void with_element(std::size_t size, F&& f) {
  switch (size) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    default:
      return f.template operator()<std::uint64_t>();
  }
}

}  // namespace sinter::backend
