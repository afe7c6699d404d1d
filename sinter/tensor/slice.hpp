// SPDX-License-Identifier: MIT OR Apache-2.0
// What may stand in `x.slice(…)`: ranges with Python's meaning of negatives, integers, `all`.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

#include "sinter/types/layout.hpp"

namespace sinter {

/// Stands for an absent bound: `range(0, none, 2)`.
struct NoneType {};
inline constexpr NoneType none{};
/// Stands for a whole dim.
struct AllType {};
inline constexpr AllType all{};
/// A reduction with this tag keeps its dim with size 1: `x.sum(1, keep_dim)`.
struct KeepDim {};
inline constexpr KeepDim keep_dim{};

/// Bounds of a range along one dim; negatives count from the end, and bounds are clamped to the
/// dim.
struct Bound {
  std::optional<std::int64_t> value;
  Bound(NoneType) {}
  template <std::integral T>
  Bound(T bound) : value(static_cast<std::int64_t>(bound)) {}
};

/// One entry of a slice.
struct SliceItem {
  Bound start = none;
  Bound stop = none;
  std::int64_t step = 1;
  bool drops_dim = false;  ///< a single position: the dim vanishes

  SliceItem(AllType) {}
  template <std::integral T>
  SliceItem(T position) : start(position), drops_dim(true) {}
  SliceItem(Bound from, Bound to, std::int64_t by) : start(from), stop(to), step(by) {}
};

/// Python's start:stop:step. A step of 0 is an ArgumentError; a negative one walks backwards.
inline SliceItem range(Bound start, Bound stop, std::int64_t step = 1) {
  return {start, stop, step};
}

namespace detail {
template <class T>
inline constexpr int drops = std::integral<T> ? 1 : 0;
}

/// A slice resolved against a shape: what `ops::Slice` takes, and which dims vanish.
struct ResolvedSlice {
  Dims starts;
  Dims lengths;
  Dims steps;
  Shape result;  ///< lengths without the dropped dims
};

/// Throws IndexError for an integer outside its dim, ShapeError for more items than dims.
[[nodiscard]] ResolvedSlice resolve_slice(const Shape& shape, std::span<const SliceItem> items);

}  // namespace sinter
