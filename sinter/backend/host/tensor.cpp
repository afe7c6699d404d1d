// SPDX-License-Identifier: MIT OR Apache-2.0
// Host tensors: allocation, views, and copies between layouts.
#include "sinter/backend/host/tensor.hpp"

#include <cstdint>
#include <cstring>

namespace sinter::backend {
namespace {

template <class T>
void gather_as(const T* from, const Layout& layout, T* to) {
  const std::int64_t n = layout.shape.empty() ? 1 : layout.shape.back();
  const std::int64_t step = layout.shape.empty() ? 1 : layout.strides.back();
  for_each_run(layout, [&](std::int64_t offset) {
    const T* run = from + offset;
    if (step == 1) {
      std::memcpy(to, run, static_cast<std::size_t>(n) * sizeof(T));
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        to[i] = run[i * step];
      }
    }
    to += n;
  });
}

template <class T>
void scatter_as(const T* from, const Layout& layout, T* to) {
  const std::int64_t n = layout.shape.empty() ? 1 : layout.shape.back();
  const std::int64_t step = layout.shape.empty() ? 1 : layout.strides.back();
  for_each_run(layout, [&](std::int64_t offset) {
    T* run = to + offset;
    for (std::int64_t i = 0; i < n; ++i) {
      run[i * step] = from[i];
    }
    from += n;
  });
}

}  // namespace

Ref<HostTensor> HostTensor::allocate(Backend& backend, const Shape& shape, DType dtype) {
  const std::size_t bytes = num_bytes(shape, dtype);
  Ref<Storage> storage = Storage::allocate(bytes, sizeof(HostTensor));
  void* place = storage->extra();
  auto* tensor = ::new (place) HostTensor(backend, shape, dtype, std::move(storage));
  tensor->in_storage_ = true;
  return Ref<HostTensor>::first(tensor);
}

void HostTensor::destroy() const noexcept {
  if (!in_storage_) {
    delete this;
    return;
  }
  // The storage outlives the tensor's destructor, and frees both with its last handle.
  auto* self = const_cast<HostTensor*>(this);
  const Ref<Storage> storage = std::move(self->storage_);
  self->~HostTensor();
}

Value allocate(Backend& backend, const Shape& shape, DType dtype) {
  return Value(HostTensor::allocate(backend, shape, dtype));
}

Value view_of(const Value& value, const Layout& layout) {
  return Value(make_ref<HostTensor>(value.backend(), layout, value.dtype(), host(value).storage()));
}

void gather_dense(const void* from, const Layout& layout, std::size_t size, void* to) {
  with_element(size, [&]<class T>() {
    gather_as(static_cast<const T*>(from), layout, static_cast<T*>(to));
  });
}

void scatter_dense(const void* from, const Layout& layout, std::size_t size, void* to) {
  with_element(size, [&]<class T>() {
    scatter_as(static_cast<const T*>(from), layout, static_cast<T*>(to));
  });
}

bool is_reusable(const Value& value, const TensorSpec& spec) {
  return value.unique() && value.dtype() == spec.dtype && value.shape() == spec.shape &&
         host(value).storage().unique() && host(value).is_contiguous();
}

bool may_overwrite(const OpCall& call, std::size_t i, const TensorSpec& spec) {
  return (call.donated >> i & 1) != 0 && is_reusable(call.inputs[i], spec);
}

}  // namespace sinter::backend
