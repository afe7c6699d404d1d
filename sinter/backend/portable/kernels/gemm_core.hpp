// SPDX-License-Identifier: MIT OR Apache-2.0
// The blocked product: packing, blocking and the paths for thin and small shapes, for any floating
// T.
#pragma once

#include "sinter/backend/portable/kernels/gemm.hpp"
#include "sinter/backend/portable/kernels/micro.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

template <class T>
struct GemmBlocks {
  static constexpr int64_t kc = (vector_bytes == 64 ? 512 : 384) * 4 / int(sizeof(T));
  static constexpr int64_t mc = vector_bytes == 64 ? 24 * tile_rows : 32 * tile_rows;
  static constexpr int64_t nc = 96 * tile_cols<T>;
};

/// Size of the pieces when `size` is cut into the fewest equal ones of at most `most`, rounded up
/// to `unit`.
inline int64_t even_block(int64_t size, int64_t most, int64_t unit) {
  if (size <= most) {
    return max64(size, 1);
  }
  return min64(round_up(ceil_div(size, ceil_div(size, most)), unit), most);
}

/// Scratch layout of one product.
template <class T>
struct GemmScratch {
  int64_t kc, mc, nc;
  size_t a_bytes, b_bytes;
  GemmScratch(int64_t m, int64_t n, int64_t k) {
    kc = even_block(k, GemmBlocks<T>::kc, 1);
    mc = even_block(m, GemmBlocks<T>::mc, tile_rows);
    nc = even_block(n, GemmBlocks<T>::nc, tile_cols<T>);
    a_bytes = size_t(round_up((mc * kc + vector_bytes) * int(sizeof(T)), 64));
    b_bytes = size_t(round_up(round_up(nc, tile_cols<T>) * kc * int(sizeof(T)), 64));
    if (n == 1 || m <= 4) {  // thin paths may straighten a vector or a few rows
      const size_t line = size_t(round_up(k * min64(max64(m, 1), 4) * int(sizeof(T)), 64));
      a_bytes = line > a_bytes ? line : a_bytes;
      if (n == 1) {
        const size_t straight = size_t(round_up(k * int(sizeof(T)), 64));
        b_bytes = straight > b_bytes ? straight : b_bytes;
      }
    }
  }
  size_t bytes() const { return a_bytes + b_bytes + 64; }
};

/// Packs rows × kc of A into panels of [kc][height]; heights are equal within one, at most
/// tile_rows.
template <class T>
void pack_a(const T* a, int64_t row, int64_t col, int64_t rows, int64_t kc, T* out) {
  constexpr int W = native_lanes<T>;
  const int64_t panels = ceil_div(rows, tile_rows);
  for (int64_t q = 0; q < panels; ++q) {
    const int64_t first = rows * q / panels;
    const int64_t height = rows * (q + 1) / panels - first;
    const T* src = a + first * row;
    T* dst = out + first * kc;
    if (col == 1) {
      for (int64_t r = 0; r < height; r += W) {
        const int h = int(min64(W, height - r));
        for (int64_t p = 0; p < kc; p += W) {
          transpose_block(src + r * row + p, row, h, int(min64(W, kc - p)), dst + p * height + r,
                          height, false);
        }
      }
    } else if (row == 1) {
      for (int64_t p = 0; p < kc; ++p) {
        for (int64_t r = 0; r < height; r += W) {
          const int h = int(min64(W, height - r));
          store_partial(load_partial<T, W>(src + p * col + r, h), dst + p * height + r, h);
        }
      }
    } else {
      for (int64_t p = 0; p < kc; ++p) {
        for (int64_t r = 0; r < height; ++r) {
          dst[p * height + r] = src[r * row + p * col];
        }
      }
    }
  }
}

/// Packs kc × cols of B into panels of [kc][tile_cols], the last one padded with zeros.
template <class T>
void pack_b(const T* b, int64_t row, int64_t col, int64_t cols, int64_t kc, T* out) {
  constexpr int W = native_lanes<T>;
  constexpr int NR = tile_cols<T>;
  using S = simd<T, W>;
  int64_t j = 0;
  if (col == 1) {
    // A few rows at a time across all panels: the source is read along its rows.
    constexpr int64_t band = 16;
    const int64_t whole = cols / NR * NR;
    for (int64_t p0 = 0; p0 < kc; p0 += band) {
      const int64_t p1 = min64(p0 + band, kc);
      for (int64_t q = 0; q < whole; q += NR) {
        for (int64_t p = p0; p < p1; ++p) {
#pragma GCC unroll 4
          for (int v = 0; v < tile_vectors; ++v) {
            S::load(b + p * row + q + v * W).store(out + q * kc + p * NR + v * W);
          }
        }
      }
    }
    out += whole * kc;
    j = whole;
  }
  for (; j < cols; j += NR, out += NR * kc) {
    const int64_t width = min64(NR, cols - j);
    const T* src = b + j * col;
    if (col == 1) {
      for (int64_t p = 0; p < kc; ++p) {
        for (int v = 0; v < tile_vectors; ++v) {
          const int n = int(min64(max64(width - v * W, 0), W));
          load_partial<T, W>(src + p * row + v * W, n).store(out + p * NR + v * W);
        }
      }
    } else if (row == 1) {
      for (int v = 0; v < tile_vectors; ++v) {
        const int n = int(min64(max64(width - v * W, 0), W));
        for (int64_t p = 0; p < kc; p += W) {
          transpose_block(src + v * W * col + p, col, n, int(min64(W, kc - p)),
                          out + p * NR + v * W, int64_t(NR), true);
        }
      }
    } else {
      for (int64_t p = 0; p < kc; ++p) {
        for (int64_t c = 0; c < NR; ++c) {
          out[p * NR + c] = c < width ? src[p * row + c * col] : T(0);
        }
      }
    }
  }
}

// ---- packed path ----

template <class T>
using TileFn = void (*)(int64_t k, const T* a, const T* b, const TileOut<T>& o);

template <class T, int R>
__attribute__((noinline)) void packed_tile(int64_t k, const T* a, const T* b, const TileOut<T>& o) {
  simd<T, native_lanes<T>> acc[R][tile_vectors];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    __builtin_prefetch(o.c + i * o.ld, 1);
    __builtin_prefetch(o.c + i * o.ld + 64 / sizeof(T), 1);
#pragma GCC unroll 4
    for (int j = 0; j < tile_vectors; ++j) {
      acc[i][j] = simd<T, native_lanes<T>>(T(0));
    }
  }
  multiply_tile<T, R, tile_vectors, false>(acc, k, a, 1, R, b, tile_cols<T>, 0);
  write_tile(acc, o);
}

template <class T, template <class, int> class Make, class Fn>
struct TileTable {
  Fn fn[tile_rows + 1];
  constexpr TileTable() : fn{} { fill<tile_rows>(); }
  template <int R>
  constexpr void fill() {
    fn[R] = Make<T, R>::fn;
    if constexpr (R > 1) {
      fill<R - 1>();
    }
  }
};
template <class T, int R>
struct MakePacked {
  static constexpr TileFn<T> fn = packed_tile<T, R>;
};

template <class T>
void gemm_packed(const Gemm<T>& g, void* scratch) {
  static constexpr TileTable<T, MakePacked, TileFn<T>> table;
  constexpr int NR = tile_cols<T>;
  const GemmScratch<T> s(g.m, g.n, g.k);
  T* pa = static_cast<T*>(scratch);
  T* pb = reinterpret_cast<T*>(static_cast<char*>(scratch) + s.a_bytes);
  for (int64_t jc = 0; jc < g.n; jc += s.nc) {
    const int64_t nc = min64(s.nc, g.n - jc);
    for (int64_t pc = 0; pc < g.k; pc += s.kc) {
      const int64_t kc = min64(s.kc, g.k - pc);
      const bool last = pc + kc == g.k;
      pack_b(g.b + pc * g.b_row + jc * g.b_col, g.b_row, g.b_col, nc, kc, pb);
      for (int64_t ic = 0; ic < g.m; ic += s.mc) {
        const int64_t mc = min64(s.mc, g.m - ic);
        pack_a(g.a + ic * g.a_row + pc * g.a_col, g.a_row, g.a_col, mc, kc, pa);
        const int64_t panels = ceil_div(mc, tile_rows);
        for (int64_t j = 0; j < nc; j += NR) {
          for (int64_t q = 0; q < panels; ++q) {
            const int64_t i = mc * q / panels;
            const int64_t height = mc * (q + 1) / panels - i;
            if (j + NR < nc) {  // bring the next panel of B closer, a share with each tile
              const char* next = reinterpret_cast<const char*>(pb + (j + NR) * kc);
              const int64_t lines = NR * kc * int64_t(sizeof(T)) / 64;
              for (int64_t x = lines * q / panels; x < lines * (q + 1) / panels; ++x) {
                __builtin_prefetch(next + x * 64, 0, 2);
              }
            }
            TileOut<T> o;
            o.c = g.c + (ic + i) * g.c_row + jc + j;
            o.ld = g.c_row;
            o.cols = min64(NR, nc - j);
            o.accumulate = g.accumulate || pc > 0;
            o.row_bias = last && g.row_bias != nullptr ? g.row_bias + ic + i : nullptr;
            o.col_bias = last && g.col_bias != nullptr ? g.col_bias + jc + j : nullptr;
            table.fn[height](kc, pa + i * kc, pb + j * kc, o);
          }
        }
      }
    }
  }
}

// ---- direct path: B is read in place ----

template <class T>
using DirectFn = void (*)(int64_t k, const T* a, int64_t a_i, int64_t a_k, const T* b, int64_t b_k,
                          const TileOut<T>& o);

template <class T, int R, int V>
SINTER_FORCE_INLINE void direct_tile_of(int64_t k, const T* a, int64_t a_i, int64_t a_k, const T* b,
                                        int64_t b_k, const TileOut<T>& o) {
  simd<T, native_lanes<T>> acc[R][V];
  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < V; ++j) {
      acc[i][j] = simd<T, native_lanes<T>>(T(0));
    }
  }
  if (o.cols == V * native_lanes<T>) {
    multiply_tile<T, R, V, false>(acc, k, a, a_i, a_k, b, b_k, 0);
  } else {
    multiply_tile<T, R, V, true>(acc, k, a, a_i, a_k, b, b_k, o.cols);
  }
  write_tile(acc, o);
}
template <class T, int R>
__attribute__((noinline)) void direct_tile(int64_t k, const T* a, int64_t a_i, int64_t a_k,
                                           const T* b, int64_t b_k, const TileOut<T>& o) {
  if (o.cols <= native_lanes<T>) {
    direct_tile_of<T, R, 1>(k, a, a_i, a_k, b, b_k, o);
  } else {
    direct_tile_of<T, R, tile_vectors>(k, a, a_i, a_k, b, b_k, o);
  }
}
template <class T, int R>
struct MakeDirect {
  static constexpr DirectFn<T> fn = direct_tile<T, R>;
};

/// No packing at all; B's rows must be contiguous. For small products and few rows.
template <class T>
void gemm_direct(const Gemm<T>& g) {
  static constexpr TileTable<T, MakeDirect, DirectFn<T>> table;
  constexpr int NR = tile_cols<T>;
  const int64_t panels = ceil_div(g.m, tile_rows);
  for (int64_t j = 0; j < g.n; j += NR) {
    for (int64_t q = 0; q < panels; ++q) {
      const int64_t i = g.m * q / panels;
      TileOut<T> o;
      o.c = g.c + i * g.c_row + j;
      o.ld = g.c_row;
      o.cols = min64(NR, g.n - j);
      o.accumulate = g.accumulate;
      o.row_bias = g.row_bias == nullptr ? nullptr : g.row_bias + i;
      o.col_bias = g.col_bias == nullptr ? nullptr : g.col_bias + j;
      table.fn[g.m * (q + 1) / panels - i](g.k, g.a + i * g.a_row, g.a_row, g.a_col,
                                           g.b + j * g.b_col, g.b_row, o);
    }
  }
}

// ---- thin paths ----

template <class T>
SINTER_FORCE_INLINE void finish_scalar(const Gemm<T>& g, int64_t i, int64_t j, T sum) {
  T* p = g.c + i * g.c_row + j;
  if (g.accumulate) {
    sum += *p;
  }
  if (g.row_bias != nullptr) {
    sum += g.row_bias[i];
  }
  if (g.col_bias != nullptr) {
    sum += g.col_bias[j];
  }
  *p = sum;
}

/// Sums of products of R rows a + i * a_ld and Q rows b + j * b_ld, all contiguous along k.
template <class T, int R, int Q>
SINTER_FORCE_INLINE void dot_tile(const T* a, int64_t a_ld, const T* b, int64_t b_ld, int64_t k,
                                  T (&out)[R][Q]) {
  constexpr int W = native_lanes<T>;
  using S = simd<T, W>;
  S acc[R][Q];
  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < Q; ++j) {
      acc[i][j] = S(T(0));
    }
  }
  auto step = [&](auto load, int64_t p) __attribute__((always_inline)) {
    S x[R];
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      x[i] = load(a + i * a_ld + p);
    }
#pragma GCC unroll 8
    for (int j = 0; j < Q; ++j) {
      const S y = load(b + j * b_ld + p);
#pragma GCC unroll 8
      for (int i = 0; i < R; ++i) {
        acc[i][j] = fma(x[i], y, acc[i][j]);
      }
    }
  };
  int64_t p = 0;
  for (; p + W <= k; p += W) {
    step([](const T* q) __attribute__((always_inline)) { return S::load(q); }, p);
  }
  if (p < k) {
    const int rest = int(k - p);
    step([rest](const T* q) __attribute__((always_inline)) { return load_partial<T, W>(q, rest); },
         p);
  }
  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < Q; ++j) {
      out[i][j] = hsum(acc[i][j]);
    }
  }
}
template <class T, int R, int Q>
void dot_block(const Gemm<T>& g, const T* a, int64_t a_ld, const T* b, int64_t b_ld, int64_t i,
               int64_t j) {
  T out[R][Q];
  dot_tile<T, R, Q>(a + i * a_ld, a_ld, b + j * b_ld, b_ld, g.k, out);
  for (int r = 0; r < R; ++r) {
    for (int q = 0; q < Q; ++q) {
      finish_scalar(g, i + r, j + q, out[r][q]);
    }
  }
}
/// Both operands contiguous along k: a row-major with a_ld, b "column-major" with b_ld.
template <class T>
void gemm_dots(const Gemm<T>& g, const T* a, int64_t a_ld, const T* b, int64_t b_ld) {
  int64_t i = 0;
  for (; i + 4 <= g.m; i += 4) {
    int64_t j = 0;
    for (; j + 2 <= g.n; j += 2) {
      dot_block<T, 4, 2>(g, a, a_ld, b, b_ld, i, j);
    }
    for (; j < g.n; ++j) {
      dot_block<T, 4, 1>(g, a, a_ld, b, b_ld, i, j);
    }
  }
  for (; i < g.m; ++i) {
    int64_t j = 0;
    for (; j + 4 <= g.n; j += 4) {
      dot_block<T, 1, 4>(g, a, a_ld, b, b_ld, i, j);
    }
    for (; j < g.n; ++j) {
      dot_block<T, 1, 1>(g, a, a_ld, b, b_ld, i, j);
    }
  }
}

/// out[j] = sum over p of x[p * x_step] * rows[p * ld + j] for j < n; `done(j, vector, lanes)`
/// takes the sums.
template <class T, class Done>
SINTER_FORCE_INLINE void sum_rows(const T* x, int64_t x_step, const T* rows, int64_t ld, int64_t n,
                                  int64_t k, Done done) {
  constexpr int W = native_lanes<T>;
  constexpr int U = 8;
  using S = simd<T, W>;
  int64_t j = 0;
  for (; j + U * W <= n; j += U * W) {
    S acc[U];
    for (int u = 0; u < U; ++u) {
      acc[u] = S(T(0));
    }
    for (int64_t p = 0; p < k; ++p) {
      const S s(x[p * x_step]);
#pragma GCC unroll 8
      for (int u = 0; u < U; ++u) {
        acc[u] = fma(s, S::load(rows + p * ld + j + u * W), acc[u]);
      }
    }
    for (int u = 0; u < U; ++u) {
      done(j + u * W, acc[u], W);
    }
  }
  for (; j < n; j += W) {
    const int lanes = int(min64(W, n - j));
    S acc[4] = {S(T(0)), S(T(0)), S(T(0)), S(T(0))};
    int64_t p = 0;
    for (; p + 4 <= k; p += 4) {
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) {
        acc[u] =
            fma(S(x[(p + u) * x_step]), load_partial<T, W>(rows + (p + u) * ld + j, lanes), acc[u]);
      }
    }
    for (; p < k; ++p) {
      acc[0] = fma(S(x[p * x_step]), load_partial<T, W>(rows + p * ld + j, lanes), acc[0]);
    }
    done(j, (acc[0] + acc[1]) + (acc[2] + acc[3]), lanes);
  }
}

template <class T>
void straighten(const T* src, int64_t step, int64_t n, T* dst) {
  for (int64_t i = 0; i < n; ++i) {
    dst[i] = src[i * step];
  }
}

/// m = 1 or n = 1, when the matrix has a contiguous direction. Returns false if it has none.
template <class T>
bool gemv(const Gemm<T>& g, void* scratch) {
  T* tmp = static_cast<T*>(scratch);
  if (g.m == 1 && g.b_col == 1) {
    sum_rows(g.a, g.a_col, g.b, g.b_row, g.n, g.k, [&](int64_t j, auto sums, int lanes) {
      for (int l = 0; l < lanes; ++l) {
        finish_scalar(g, 0, j + l, sums[l]);
      }
    });
    return true;
  }
  if (g.n == 1 && g.a_row == 1 && g.a_col != 1) {
    sum_rows(g.b, g.b_row, g.a, g.a_col, g.m, g.k, [&](int64_t i, auto sums, int lanes) {
      for (int l = 0; l < lanes; ++l) {
        finish_scalar(g, i + l, 0, sums[l]);
      }
    });
    return true;
  }
  if (g.n == 1 && g.a_col == 1) {
    const T* x = g.b;
    if (g.b_row != 1) {
      straighten(g.b, g.b_row, g.k, tmp);
      x = tmp;
    }
    gemm_dots(g, g.a, g.a_row, x, 0);
    return true;
  }
  return false;
}

template <class T>
void gemm_empty_sum(const Gemm<T>& g) {
  for (int64_t i = 0; i < g.m; ++i) {
    for (int64_t j = 0; j < g.n; ++j) {
      finish_scalar(g, i, j, T(0));
    }
  }
}

template <class T>
void gemm_any(const Gemm<T>& g, void* scratch) {
  if (g.m <= 0 || g.n <= 0) {
    return;
  }
  if (g.k <= 0) {
    return gemm_empty_sum(g);
  }
  if ((g.m == 1 || g.n == 1) && gemv(g, scratch)) {
    return;
  }
  const bool small = g.m * g.n * g.k <= 24 * 24 * 24;
  if (g.b_col == 1 && (small || g.m <= tile_rows)) {
    return gemm_direct(g);
  }
  if (g.b_row == 1 && g.m <= 4) {
    if (g.a_col == 1) {
      return gemm_dots(g, g.a, g.a_row, g.b, g.b_col);
    }
    T* rows = static_cast<T*>(scratch);
    for (int64_t i = 0; i < g.m; ++i) {
      straighten(g.a + i * g.a_row, g.a_col, g.k, rows + i * g.k);
    }
    return gemm_dots(g, rows, g.k, g.b, g.b_col);
  }
  gemm_packed(g, scratch);
}

}  // namespace

}  // namespace sinter::portable::SINTER_ISA
