// SPDX-License-Identifier: MIT OR Apache-2.0
// Dense matrix products on raw pointers: arguments, and how to split a product over threads.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sinter::portable {

/// C[m, n] = A[m, k] · B[k, n] (+ C if `accumulate`) (+ row_bias[i] + col_bias[j]).
///
/// Element (i, p) of A is a[i * a_row + p * a_col], likewise B; C has unit column stride. Strides
/// count elements and may be zero or negative. C must not overlap A, B or the biases. k = 0 gives
/// zeros plus bias. The biases (null for none) are added once, after the sum. NaN and infinities
/// propagate: nothing is skipped.
template <class T>
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  int64_t a_row = 0, a_col = 1;
  const T* b = nullptr;
  int64_t b_row = 0, b_col = 1;
  T* c = nullptr;
  int64_t c_row = 0;
  bool accumulate = false;
  const T* row_bias = nullptr;  ///< m values
  const T* col_bias = nullptr;  ///< n values
};

/// C[m, n] (int32) = A[m, k] · B[k, n] (int8), exact modulo 2^32; strides as in Gemm.
struct GemmI8 {
  int64_t m = 0, n = 0, k = 0;
  const int8_t* a = nullptr;
  int64_t a_row = 0, a_col = 1;
  const int8_t* b = nullptr;
  int64_t b_row = 0, b_col = 1;
  int32_t* c = nullptr;
  int64_t c_row = 0;
  bool accumulate = false;
};

/// How a product is cut into independent tasks: rows × cols of them, each with its own scratch.
struct GemmGrid {
  int64_t rows = 1, cols = 1;
};

/// Cuts an m × n output for `threads` workers so that each piece is as square as it can be and no
/// smaller than a few tiles.
inline GemmGrid gemm_grid(int64_t m, int64_t n, int64_t threads) {
  GemmGrid g;
  while (g.rows * g.cols < threads) {
    const int64_t piece_m = m / g.rows;
    const int64_t piece_n = n / g.cols;
    if (piece_m < 32 && piece_n < 128) {
      break;
    }
    if (piece_n >= piece_m) {
      ++g.cols;
    } else {
      ++g.rows;
    }
  }
  return g;
}

/// Task `index` (< rows * cols) of a product: the same kind of product on a block of C. May be
/// empty (m or n is 0).
template <class G>
inline G gemm_piece(const G& g, GemmGrid grid, int64_t index) {
  constexpr int64_t tile_m = 8;
  constexpr int64_t tile_n = 32;
  const int64_t r = index / grid.cols;
  const int64_t c = index % grid.cols;
  auto cut = [](int64_t size, int64_t parts, int64_t at, int64_t tile) {
    const int64_t tiles = (size + tile - 1) / tile;
    const int64_t x = tiles * at / parts * tile;
    return x < size ? x : size;
  };
  const int64_t m0 = cut(g.m, grid.rows, r, tile_m);
  const int64_t m1 = cut(g.m, grid.rows, r + 1, tile_m);
  const int64_t n0 = cut(g.n, grid.cols, c, tile_n);
  const int64_t n1 = cut(g.n, grid.cols, c + 1, tile_n);
  G p = g;
  p.m = m1 - m0;
  p.n = n1 - n0;
  p.a += m0 * g.a_row;
  p.b += n0 * g.b_col;
  p.c += m0 * g.c_row + n0;
  if constexpr (requires { p.row_bias; }) {
    p.row_bias = g.row_bias == nullptr ? nullptr : g.row_bias + m0;
    p.col_bias = g.col_bias == nullptr ? nullptr : g.col_bias + n0;
  }
  return p;
}

}  // namespace sinter::portable
