// SPDX-License-Identifier: MIT OR Apache-2.0
// Register tiles shared by gemm and conv: the inner product loop, block transposition and copies.
#pragma once

#include "sinter/backend/portable/kernels/simd.hpp"

namespace sinter::portable::SINTER_ISA {

inline constexpr int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
inline constexpr int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
inline constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

/// Rows and vectors per row of the register tile: rows * vectors accumulators leave room for one
/// row of B.
inline constexpr int tile_rows = vector_registers == 32 ? 14 : has_fma ? 6 : 5;
inline constexpr int tile_vectors = 2;
template <class T>
inline constexpr int tile_cols = tile_vectors * native_lanes<T>;

/// What happens to a finished tile: the destination and what is added on the way.
template <class T>
struct TileOut {
  T* c = nullptr;
  int64_t ld = 0;
  int64_t cols = 0;  ///< valid columns, at most the tile's
  bool accumulate = false;
  const T* row_bias = nullptr;  ///< at the tile's first row
  const T* col_bias = nullptr;  ///< at the tile's first column
};

/// The tile's R × V accumulators, written to memory with bias, edge and accumulation.
template <class T, int R, int V>
SINTER_FORCE_INLINE void write_tile(simd<T, native_lanes<T>> (&acc)[R][V], const TileOut<T>& o) {
  constexpr int W = native_lanes<T>;
  using S = simd<T, W>;
  if (o.cols == V * W && o.row_bias == nullptr && o.col_bias == nullptr) {
    if (o.accumulate) {
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) {
          T* p = o.c + i * o.ld + j * W;
          (S::load(p) + acc[i][j]).store(p);
        }
      }
    } else {
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) {
          acc[i][j].store(o.c + i * o.ld + j * W);
        }
      }
    }
    return;
  }
#pragma GCC unroll 4
  for (int j = 0; j < V; ++j) {
    const int n = int(min64(max64(o.cols - j * W, 0), W));
    S col = o.col_bias == nullptr ? S(T(0)) : load_partial<T, W>(o.col_bias + j * W, n);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      T* p = o.c + i * o.ld + j * W;
      S x = acc[i][j];
      if (o.accumulate) {
        x += load_partial<T, W>(p, n);
      }
      if (o.row_bias != nullptr) {
        x += S(o.row_bias[i]);
      }
      if (o.col_bias != nullptr) {
        x += col;
      }
      store_partial(x, p, n);
    }
  }
}

/// acc[R][V] += sum over p < k of a[p * a_k + i * a_i] * b[p * b_k + …]; `edge` reads only `cols`
/// columns of b.
template <class T, int R, int V, bool Edge>
SINTER_FORCE_INLINE void multiply_tile(simd<T, native_lanes<T>> (&acc)[R][V], int64_t k, const T* a,
                                       int64_t a_i, int64_t a_k, const T* b, int64_t b_k,
                                       int64_t cols) {
  constexpr int W = native_lanes<T>;
  using S = simd<T, W>;
#pragma GCC unroll 2
  for (int64_t p = 0; p < k; ++p) {
    S row[V];
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) {
      if constexpr (Edge) {
        row[j] = load_partial<T, W>(b + j * W, int(min64(max64(cols - j * W, 0), W)));
      } else {
        row[j] = S::load(b + j * W);
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const S x(a[i * a_i]);
#pragma GCC unroll 4
      for (int j = 0; j < V; ++j) {
        acc[i][j] = fma(x, row[j], acc[i][j]);
      }
    }
    a += a_k;
    b += b_k;
  }
}

namespace detail {
template <int W, class V, size_t... I>
SINTER_FORCE_INLINE V zip_low(V a, V b, seq<I...>) {
  return __builtin_shufflevector(a, b, int(I / 2 + (I % 2) * W)...);
}
template <int W, class V, size_t... I>
SINTER_FORCE_INLINE V zip_high(V a, V b, seq<I...>) {
  return __builtin_shufflevector(a, b, int(I / 2 + W / 2 + (I % 2) * W)...);
}
}  // namespace detail

/// Transposes W vectors of W lanes in registers.
template <class T, int W>
SINTER_FORCE_INLINE void transpose_registers(simd<T, W> (&r)[W]) {
  using I = typename detail::make_seq<W>::type;
#pragma GCC unroll 8
  for (int s = 1; s < W; s *= 2) {
    simd<T, W> t[W];
#pragma GCC unroll 16
    for (int i = 0; i < W / 2; ++i) {
      t[2 * i].v = detail::zip_low<W>(r[i].v, r[i + W / 2].v, I{});
      t[2 * i + 1].v = detail::zip_high<W>(r[i].v, r[i + W / 2].v, I{});
    }
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      r[i] = t[i];
    }
  }
}

/// dst[c * dst_ld + r] = src[r * src_ld + c] for r < rows <= W, c < cols <= W. With `pad`, lanes up
/// to W are written too (as zeros).
template <class T>
inline __attribute__((noinline)) void transpose_block(const T* src, int64_t src_ld, int rows,
                                                      int cols, T* dst, int64_t dst_ld, bool pad) {
  constexpr int W = native_lanes<T>;
  simd<T, W> r[W];
  if (rows == W && cols == W) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      r[i] = simd<T, W>::load(src + i * src_ld);
    }
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      r[i] = i < rows ? load_partial<T, W>(src + i * src_ld, cols) : simd<T, W>(T(0));
    }
  }
  transpose_registers(r);
  if (rows == W || pad) {
    if (cols == W) {
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) {
        r[i].store(dst + i * dst_ld);
      }
    } else {
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) {
        if (i < cols) {
          r[i].store(dst + i * dst_ld);
        }
      }
    }
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      if (i < cols) {
        store_partial(r[i], dst + i * dst_ld, rows);
      }
    }
  }
}

/// dst[0, n) = src[0, n).
template <class T>
SINTER_FORCE_INLINE void copy_run(const T* src, T* dst, int64_t n) {
  constexpr int W = native_lanes<T>;
  int64_t i = 0;
  for (; i + W <= n; i += W) {
    simd<T, W>::load(src + i).store(dst + i);
  }
  if (i < n) {
    store_partial(load_partial<T, W>(src + i, int(n - i)), dst + i, int(n - i));
  }
}
/// dst[0, n) = 0.
template <class T>
SINTER_FORCE_INLINE void zero_run(T* dst, int64_t n) {
  constexpr int W = native_lanes<T>;
  int64_t i = 0;
  for (; i + W <= n; i += W) {
    simd<T, W>(T(0)).store(dst + i);
  }
  if (i < n) {
    store_partial(simd<T, W>(T(0)), dst + i, int(n - i));
  }
}

}  // namespace sinter::portable::SINTER_ISA
