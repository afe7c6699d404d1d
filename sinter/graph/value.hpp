// SPDX-License-Identifier: MIT OR Apache-2.0
// Value: the counted, type-erased handle to a tensor on some backend.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "sinter/base/ref.hpp"
#include "sinter/types/dtype.hpp"
#include "sinter/types/shape.hpp"

namespace sinter {

class Backend;

namespace detail {
/// Throws ArgumentError: `op` was asked of a handle that holds no tensor. `op` is a name, or what
/// `__PRETTY_FUNCTION__` says of a function that has it.
[[noreturn]] void raise_unset(std::string_view op);
}  // namespace detail

/// What every backend's tensors have in common; each backend derives its own.
class ValueImpl : public RefCounted {
 public:
  ValueImpl(Backend& backend, const Shape& shape, DType dtype)
      : backend_(&backend), shape_(shape), dtype_(dtype) {}

  Backend& backend() const { return *backend_; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }

 private:
  Backend* backend_;
  Shape shape_;
  DType dtype_;
};

/// A handle to a tensor; copying it copies no elements. Unset by default: what it is asked then is
/// an ArgumentError.
class Value {
 public:
  Value() = default;
  explicit Value(Ref<ValueImpl> impl) : impl_(std::move(impl)) {}

  explicit operator bool() const { return static_cast<bool>(impl_); }
  const Shape& shape() const { return set("shape").shape(); }
  DType dtype() const { return set("dtype").dtype(); }
  int rank() const { return shape().rank(); }
  std::int64_t size(int dim) const { return shape()[dim < 0 ? dim + rank() : dim]; }
  std::int64_t num_elements() const { return sinter::num_elements(shape()); }
  Backend& backend() const { return set("device").backend(); }
  /// This is the only handle: its memory may be reused once the caller gives it up.
  bool unique() const { return impl_.unique(); }

  /// The backend's own type; the caller knows that the value is of that backend.
  template <class T>
  T& as() const {
    return static_cast<T&>(*impl_);
  }
  ValueImpl* get() const { return impl_.get(); }
  bool operator==(const Value&) const = default;

 private:
  const ValueImpl& set(std::string_view op) const {
    if (!impl_) [[unlikely]] {
      detail::raise_unset(op);
    }
    return *impl_;
  }
  Ref<ValueImpl> impl_;
};

/// Two values side by side for one call, without being counted: atomic operations are a good part
/// of what a small call costs. Both must outlive this, and may be given up by the call only if
/// their owner gives them up.
class BorrowedPair {
 public:
  BorrowedPair(const Value& first, const Value& second) {
    // Never destroyed, so never released.
    new (storage_) Value(Ref<ValueImpl>::adopt(first.get()));
    new (storage_ + sizeof(Value)) Value(Ref<ValueImpl>::adopt(second.get()));
  }
  BorrowedPair(const BorrowedPair&) = delete;
  BorrowedPair& operator=(const BorrowedPair&) = delete;

  std::span<const Value> values() const {
    return {std::launder(reinterpret_cast<const Value*>(storage_)), 2};
  }

 private:
  alignas(Value) std::byte storage_[2 * sizeof(Value)];
};

}  // namespace sinter
