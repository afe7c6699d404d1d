// SPDX-License-Identifier: MIT OR Apache-2.0
// Matrix products with a vector, or nearly: what a register tile would waste.
#include "sinter/backend/portable/kernels/gemm.hpp"
#include "sinter/backend/portable/kernels/micro.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

template <class T>
void finish_scalar(const Gemm<T>& g, int64_t i, int64_t j, T sum) {
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

/// Columns j … j + lanes of a product of one row.
template <class T>
__attribute__((noinline)) void finish_row(const Gemm<T>& g, int64_t j,
                                          simd<T, native_lanes<T>> sums, int lanes) {
  constexpr int W = native_lanes<T>;
  if (g.accumulate) {
    sums += load_partial<T, W>(g.c + j, lanes);
  }
  if (g.row_bias != nullptr) {
    sums += simd<T, W>(g.row_bias[0]);
  }
  if (g.col_bias != nullptr) {
    sums += load_partial<T, W>(g.col_bias + j, lanes);
  }
  store_partial(sums, g.c + j, lanes);
}
/// Rows i … i + lanes of a product of one column.
template <class T>
__attribute__((noinline)) void finish_column(const Gemm<T>& g, int64_t i,
                                             simd<T, native_lanes<T>> sums, int lanes) {
  T values[native_lanes<T>];
  sums.store(values);
  for (int l = 0; l < lanes; ++l) {
    finish_scalar(g, i + l, 0, values[l]);
  }
}

/// Sums of products of R rows a + i * a_ld and Q rows b + j * b_ld, all contiguous along k.
template <class T, int R, int Q>
SINTER_FORCE_INLINE void dot_tile(const T* a, int64_t a_ld, const T* b, int64_t b_ld, int64_t k,
                                  T (&out)[R][Q]) {
  constexpr int W = native_lanes<T>;
  using S = simd<T, W>;
  S acc[R][Q];
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 8
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
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < Q; ++j) {
      out[i][j] = hsum(acc[i][j]);
    }
  }
}
template <class T, int R, int Q>
__attribute__((noinline)) void dot_block(const Gemm<T>& g, const T* a, int64_t a_ld, const T* b,
                                         int64_t b_ld, int64_t i, int64_t j) {
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
#pragma GCC unroll 8
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
#pragma GCC unroll 8
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
    sum_rows(g.a, g.a_col, g.b, g.b_row, g.n, g.k,
             [&](int64_t j, auto sums, int lanes) { finish_row(g, j, sums, lanes); });
    return true;
  }
  if (g.n == 1 && g.a_row == 1 && g.a_col != 1) {
    sum_rows(g.b, g.b_row, g.a, g.a_col, g.m, g.k,
             [&](int64_t i, auto sums, int lanes) { finish_column(g, i, sums, lanes); });
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
bool thin(const Gemm<T>& g, void* scratch) {
  if (g.k <= 0) {
    gemm_empty_sum(g);
    return true;
  }
  if ((g.m == 1 || g.n == 1) && gemv(g, scratch)) {
    return true;
  }
  if (g.m > 4 || g.b_row != 1 || g.b_col == 1) {
    return false;
  }
  if (g.a_col == 1) {
    gemm_dots(g, g.a, g.a_row, g.b, g.b_col);
    return true;
  }
  T* rows = static_cast<T*>(scratch);
  for (int64_t i = 0; i < g.m; ++i) {
    straighten(g.a + i * g.a_row, g.a_col, g.k, rows + i * g.k);
  }
  gemm_dots(g, rows, g.k, g.b, g.b_col);
  return true;
}

}  // namespace

bool gemm_thin(const Gemm<float>& g, void* scratch);
bool gemm_thin(const Gemm<double>& g, void* scratch);
bool gemm_thin(const Gemm<float>& g, void* scratch) { return thin(g, scratch); }
bool gemm_thin(const Gemm<double>& g, void* scratch) { return thin(g, scratch); }

}  // namespace sinter::portable::SINTER_ISA
