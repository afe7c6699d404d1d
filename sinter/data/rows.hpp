// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows of host tensors: picking, stacking and normalising them into batches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sinter/types/host_data.hpp"

namespace sinter::data {

/// Row `i` of `source` [n, …] as a tensor […]. Throws IndexError outside [0, n), ShapeError for a
/// scalar source.
[[nodiscard]] HostData row(const HostData& source, std::int64_t i);

/// The rows `indices` of `source` [n, …] as [indices, …], same dtype. Throws as `row` does.
[[nodiscard]] HostData gather_rows(const HostData& source, std::span<const std::int64_t> indices);

/// Items of one shape […] and dtype as [items, …]; throws ShapeError or DTypeError naming the item
/// that differs, ArgumentError when there is none.
[[nodiscard]] HostData stack_rows(std::span<const HostData> items);

/// The rows `indices` of u8 `source` [n, c, h, w] as f32, each channel `c` as
/// `pixel * scale[c] + shift[c]`; `out` has room for indices · c · h · w numbers.
void gather_normalized(const HostData& source, std::span<const std::int64_t> indices,
                       std::span<const float> scale, std::span<const float> shift, float* out);

/// Throws IndexError naming `what` unless 0 <= i < size.
void check_index(std::int64_t i, std::int64_t size, const char* what);

}  // namespace sinter::data
