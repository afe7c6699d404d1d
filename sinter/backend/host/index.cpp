// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading and checking index tensors.
#include "sinter/backend/host/index.hpp"

#include <fmt/format.h>

#include "sinter/backend/host/host_backend.hpp"
#include "sinter/base/error.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter::backend {
namespace {

[[noreturn]] void reject(std::string_view op, std::int64_t index, std::int64_t position, int dim,
                         std::int64_t size) {
  throw IndexError(
      fmt::format("{}: index {} at position {} is out of range for dim {} of size {}; it must "
                  "be in [0, {}), negative ones don't count from the end",
                  op, index, position, dim, size, size));
}

}  // namespace

IndexList::IndexList(const Value& index) : size_(index.num_elements()) {
  holder_ = dense(index);
  if (index.dtype() != DType::i64) {
    Value wide = allocate(index.backend(), index.shape(), DType::i64);
    convert_elements(host(holder_).data(), index.dtype(), host(wide).data(), DType::i64, size_);
    holder_ = wide;
  }
  data_ = host(holder_).data_as<std::int64_t>();
}

IndexList::IndexList(std::string_view op, const Value& index, int dim, std::int64_t size)
    : IndexList(index) {
  // Unsigned, a negative index is larger than any size.
  std::uint64_t bad = 0;
  const auto limit = static_cast<std::uint64_t>(size);
  for (std::int64_t i = 0; i < size_; ++i) {
    bad |= static_cast<std::uint64_t>(static_cast<std::uint64_t>(data_[i]) >= limit);
  }
  for (std::int64_t i = 0; bad != 0 && i < size_; ++i) {
    if (static_cast<std::uint64_t>(data_[i]) >= limit) {
      reject(op, data_[i], i, dim, size);
    }
  }
}

IndexList::IndexList(std::string_view op, const Value& index, const Shape& shape)
    : IndexList(index) {
  const int depth = shape.rank();
  for (std::int64_t i = 0; i < size_; ++i) {
    const auto dim = static_cast<int>(i % depth);
    if (static_cast<std::uint64_t>(data_[i]) >= static_cast<std::uint64_t>(shape[dim])) {
      reject(op, data_[i], i / depth, dim, shape[dim]);
    }
  }
}

}  // namespace sinter::backend
