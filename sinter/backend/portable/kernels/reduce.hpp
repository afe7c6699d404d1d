// SPDX-License-Identifier: MIT OR Apache-2.0
// Reductions of dense blocks, transposition, and stores that pass the cache by.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sinter/backend/portable/kernels/elementwise.hpp"

namespace sinter::portable {

/// `any` and `all` fold x != 0 to 0 or 1. `max` and `min` give NaN if any element is NaN.
enum class Fold : uint8_t { sum, prod, max, min, any, all };
inline constexpr int fold_count = 6;

/// Folds `n` dense elements to `*result`; of none, the fold's neutral element.
using RowFold = void (*)(const void* x, size_t n, void* result);
/// acc[j] = fold of acc[j] and x[r * row_stride + j] over r < rows, for j < n.
using ColumnFold = void (*)(const void* x, ptrdiff_t row_stride, size_t rows, size_t n, void* acc);

struct ReduceTable {
  RowFold rows[carried_count][fold_count] = {};
  ColumnFold columns[carried_count][fold_count] = {};
};

/// to[c * to_stride + r] = from[r * from_stride + c] for r < rows, c < columns; strides in
/// elements.
using Transpose = void (*)(const void* from, ptrdiff_t from_stride, void* to, ptrdiff_t to_stride,
                           size_t rows, size_t columns);

struct CopyTable {
  /// Elements of 1, 2, 4 and 8 bytes. Those of the second row may write past the cache.
  Transpose transpose[4] = {};
  Transpose transpose_past_cache[4] = {};
  /// Copies `bytes`, writing past the cache; `to` is aligned to 64.
  void (*stream)(const void* from, void* to, size_t bytes) = nullptr;
};

}  // namespace sinter::portable
