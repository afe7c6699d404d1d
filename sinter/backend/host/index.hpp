// SPDX-License-Identifier: MIT OR Apache-2.0
// Index tensors on the host: checked once, before any element is touched.
#pragma once

#include <string_view>

#include "sinter/backend/host/tensor.hpp"

namespace sinter::backend {

/// The elements of an index tensor as i64, in row-major order.
class IndexList {
 public:
  /// Indices of dim `dim`: throws IndexError naming `op`, the index and `size` unless all are in
  /// [0, size).
  IndexList(std::string_view op, const Value& index, int dim, std::int64_t size);
  /// Of an index [.., shape.rank()]: column i must be in [0, shape[i]).
  IndexList(std::string_view op, const Value& index, const Shape& shape);

  const std::int64_t* data() const { return data_; }
  std::int64_t size() const { return size_; }
  std::int64_t operator[](std::int64_t i) const { return data_[i]; }

 private:
  explicit IndexList(const Value& index);

  Value holder_;  // keeps the elements alive
  const std::int64_t* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace sinter::backend
