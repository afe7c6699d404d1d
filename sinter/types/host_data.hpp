// SPDX-License-Identifier: MIT OR Apache-2.0
// A tensor's elements on the host: dtype, shape and bytes, with no device.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/types/dtype.hpp"
#include "sinter/types/scalar.hpp"
#include "sinter/types/shape.hpp"

namespace sinter {

/// Bytes of dense elements. OutOfMemoryError for more than an address space can hold.
[[nodiscard]] std::size_t num_bytes(const Shape& shape, DType dtype);

/// Dense row-major elements in host memory. Copying copies the bytes.
class HostData {
 public:
  HostData() = default;
  /// Zeros. OutOfMemoryError when memory doesn't hold them.
  HostData(const Shape& shape, DType dtype);
  /// Takes over `bytes`; throws ShapeError unless they are exactly the size of the tensor.
  HostData(const Shape& shape, DType dtype, std::vector<std::byte> bytes);
  /// Copies `values`; throws ShapeError unless there are as many as `shape` holds.
  template <Element T>
  HostData(const Shape& shape, std::span<const T> values);
  template <Element T>
  HostData(const Shape& shape, std::initializer_list<T> values)
      : HostData(shape, std::span<const T>(values.begin(), values.size())) {}

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::int64_t num_elements() const { return sinter::num_elements(shape_); }
  std::span<const std::byte> bytes() const { return {bytes_.data(), bytes_.size()}; }
  std::span<std::byte> bytes() { return {bytes_.data(), bytes_.size()}; }

  /// The elements as `T`; throws DTypeError unless `T` stores this dtype.
  template <Element T>
  std::span<const T> as() const {
    check_dtype(dtype_of<T>);
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <Element T>
  std::span<T> as() {
    check_dtype(dtype_of<T>);
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

  /// Element `i` in row-major order, whatever its dtype.
  double at(std::int64_t i) const;
  std::int64_t int_at(std::int64_t i) const;
  /// All elements converted to double, in row-major order.
  std::vector<double> to_doubles() const;
  /// The same elements in another dtype (float to int saturates, NaN becomes 0).
  HostData cast(DType dtype) const;
  HostData reshaped(const Shape& shape) const;

  /// Same shape, dtype and bits.
  bool operator==(const HostData& other) const;

 private:
  void check_dtype(DType asked) const;
  void check_count(std::size_t count) const;

  Shape shape_ = Shape{0};
  DType dtype_ = DType::f32;
  std::vector<std::byte> bytes_;
};

template <Element T>
HostData::HostData(const Shape& shape, std::span<const T> values) : HostData(shape, dtype_of<T>) {
  check_count(values.size());
  T* out = as<T>().data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i] = values[i];
  }
}

/// Converts one element; the rules of `HostData::cast`.
void convert_elements(const void* from, DType from_dtype, void* to, DType to_dtype,
                      std::int64_t count);

}  // namespace sinter
