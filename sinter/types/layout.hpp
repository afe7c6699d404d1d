// SPDX-License-Identifier: MIT OR Apache-2.0
// How a tensor's elements lie in a buffer.
#pragma once

#include "sinter/types/shape.hpp"

namespace sinter {

/// Element (i, j, …) lies at `offset + i * strides[0] + j * strides[1] + …`, in elements.
/// Strides may be 0 (an expanded dimension) or negative (a flipped one).
struct Layout {
  Shape shape;
  Dims strides;
  std::int64_t offset = 0;

  Layout() = default;
  /// Dense and row-major.
  explicit Layout(const Shape& dense) : shape(dense), strides(contiguous_strides(dense)) {}
  Layout(const Shape& sizes, const Dims& steps, std::int64_t start)
      : shape(sizes), strides(steps), offset(start) {}

  /// Row-major and dense from `offset` on; dims of size 1 may have any stride.
  [[nodiscard]] bool is_contiguous() const;
  /// No two indices share an element (no expanded dimension).
  [[nodiscard]] bool is_injective() const;

  [[nodiscard]] Layout permute(const Dims& order) const;
  /// Size-1 dims stretch to `target` with stride 0; `target` must be a broadcast of `shape`.
  [[nodiscard]] Layout expand(const Shape& target) const;
  /// The same elements as `target` when that needs no copy; false otherwise.
  [[nodiscard]] bool reshape(const Shape& target, Layout& out) const;
  /// Elements start, start + step, … along `dim`; `step` may be negative.
  [[nodiscard]] Layout slice(int dim, std::int64_t start, std::int64_t length,
                             std::int64_t step) const;

  bool operator==(const Layout&) const = default;
};

}  // namespace sinter
