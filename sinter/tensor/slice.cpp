// SPDX-License-Identifier: MIT OR Apache-2.0
// Resolving slices as Python does.
#include "sinter/tensor/slice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sinter/base/error.hpp"

namespace sinter {
namespace {

// Python's slice.indices(): bounds wrap once, then clamp to what the step can reach.
std::int64_t clamp_bound(const Bound& bound, std::int64_t fallback, std::int64_t size,
                         bool forward) {
  if (!bound.value) {
    return fallback;
  }
  const std::int64_t wrapped = *bound.value < 0 ? *bound.value + size : *bound.value;
  return forward ? std::clamp<std::int64_t>(wrapped, 0, size)
                 : std::clamp<std::int64_t>(wrapped, -1, size - 1);
}

void append_position(ResolvedSlice& out, std::int64_t position, std::int64_t size, int dim) {
  if (position < -size || position >= size) {
    throw IndexError(
        fmt::format("slice: index {} is out of range for dim {} of size {}", position, dim, size));
  }
  out.starts.push_back(position < 0 ? position + size : position);
  out.lengths.push_back(1);
  out.steps.push_back(1);
}

void append_range(ResolvedSlice& out, const SliceItem& item, std::int64_t size) {
  if (item.step == 0) {
    throw ArgumentError("slice: the step of a range must not be 0");
  }
  const bool forward = item.step > 0;
  const std::int64_t start = clamp_bound(item.start, forward ? 0 : size - 1, size, forward);
  const std::int64_t stop = clamp_bound(item.stop, forward ? size : -1, size, forward);
  const std::int64_t span = forward ? stop - start : start - stop;
  const std::int64_t stride = forward ? item.step : -item.step;
  const std::int64_t length = span <= 0 ? 0 : (span - 1) / stride + 1;
  out.starts.push_back(length > 0 ? start : 0);
  out.lengths.push_back(length);
  out.steps.push_back(item.step);
  out.result.push_back(length);
}

}  // namespace

ResolvedSlice resolve_slice(const Shape& shape, std::span<const SliceItem> items) {
  if (static_cast<int>(items.size()) > shape.rank()) {
    throw ShapeError(
        fmt::format("slice: {} ranges for a tensor of rank {}; give one for each dim at most",
                    items.size(), shape.rank()));
  }
  ResolvedSlice out;
  for (int dim = 0; dim < shape.rank(); ++dim) {
    const bool given = dim < static_cast<int>(items.size());
    const SliceItem item = given ? items[static_cast<std::size_t>(dim)] : SliceItem(all);
    if (item.drops_dim) {
      append_position(out, *item.start.value, shape[dim], dim);
    } else {
      append_range(out, item, shape[dim]);
    }
  }
  return out;
}

}  // namespace sinter
