// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels that find the extreme element of rows and columns.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sinter::portable {

/// The first of the largest (or smallest) elements; the first NaN where there is one.
template <class T>
struct ArgKernels {
  /// Position within `n` >= 1 dense elements.
  int64_t (*row)(const T* x, int64_t n, bool largest);
  /// Positions along `n` >= 1 rows that lie `stride` elements apart, for each of `width` columns.
  void (*columns)(const T* x, int64_t stride, int64_t n, int64_t width, bool largest, int64_t* out);
};

struct OrderKernels {
  ArgKernels<float> f32;
  ArgKernels<double> f64;
  ArgKernels<int64_t> i64;
};

}  // namespace sinter::portable
