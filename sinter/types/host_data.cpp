// SPDX-License-Identifier: MIT OR Apache-2.0
// Host tensors: construction, element access and casts.
#include "sinter/types/host_data.hpp"

#include <fmt/format.h>

#include "sinter/types/convert.hpp"

namespace sinter {
namespace {

template <class T>
void convert_from(const T* in, void* to, DType to_dtype, std::int64_t count) {
  visit_dtype(to_dtype, [&]<class To>() {
    auto* out = static_cast<To*>(to);
    for (std::int64_t i = 0; i < count; ++i) {
      out[i] = convert<To>(in[i]);
    }
  });
}

}  // namespace

std::int64_t Scalar::as_int64() const {
  return kind == Kind::floating ? convert<std::int64_t>(floating) : integer;
}

void convert_elements(const void* from, DType from_dtype, void* to, DType to_dtype,
                      std::int64_t count) {
  visit_dtype(from_dtype,
              [&]<class T>() { convert_from(static_cast<const T*>(from), to, to_dtype, count); });
}

std::size_t num_bytes(const Shape& shape, DType dtype) {
  const std::int64_t count = num_elements(shape);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, static_cast<std::int64_t>(size_of(dtype)), &bytes)) {
    throw OutOfMemoryError(
        fmt::format("a tensor {} of {} exceeds the address space; use a "
                    "smaller shape",
                    shape.str(), name_of(dtype)));
  }
  return static_cast<std::size_t>(bytes);
}

HostData::HostData(const Shape& shape, DType dtype) : shape_(shape), dtype_(dtype) {
  const std::size_t bytes = num_bytes(shape, dtype);
  try {
    bytes_.resize(bytes);
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError(fmt::format("no memory for {} bytes on the host: elements of shape {}",
                                       bytes, shape.str()));
  }
}

HostData::HostData(const Shape& shape, DType dtype, std::vector<std::byte> bytes)
    : shape_(shape), dtype_(dtype), bytes_(std::move(bytes)) {
  const std::size_t expected = num_bytes(shape, dtype);
  if (bytes_.size() != expected) {
    throw ShapeError(fmt::format("HostData: shape {} of {} needs {} bytes, got {}", shape.str(),
                                 name_of(dtype), expected, bytes_.size()));
  }
}

void HostData::check_count(std::size_t count) const {
  if (static_cast<std::int64_t>(count) != num_elements()) {
    throw ShapeError(fmt::format("HostData: shape {} holds {} elements, got {}", shape_.str(),
                                 num_elements(), count));
  }
}

bool HostData::operator==(const HostData& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ && bytes_ == other.bytes_;
}

double HostData::at(std::int64_t i) const {
  double value = 0;
  convert_elements(bytes_.data() + static_cast<std::size_t>(i) * size_of(dtype_), dtype_, &value,
                   DType::f64, 1);
  return value;
}

std::int64_t HostData::int_at(std::int64_t i) const {
  std::int64_t value = 0;
  convert_elements(bytes_.data() + static_cast<std::size_t>(i) * size_of(dtype_), dtype_, &value,
                   DType::i64, 1);
  return value;
}

std::vector<double> HostData::to_doubles() const {
  std::vector<double> out(static_cast<std::size_t>(num_elements()));
  convert_elements(bytes_.data(), dtype_, out.data(), DType::f64, num_elements());
  return out;
}

HostData HostData::cast(DType dtype) const {
  HostData out(shape_, dtype);
  convert_elements(bytes_.data(), dtype_, out.bytes_.data(), dtype, num_elements());
  return out;
}

HostData HostData::reshaped(const Shape& shape) const { return HostData(shape, dtype_, bytes_); }

void HostData::check_dtype(DType asked) const {
  if (asked != dtype_) {
    throw DTypeError(fmt::format("HostData: the elements are {}, asked for {}; use cast() first",
                                 name_of(dtype_), name_of(asked)));
  }
}

}  // namespace sinter
