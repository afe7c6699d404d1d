// SPDX-License-Identifier: MIT OR Apache-2.0
// The blocked product: packing and blocking, and the path for small shapes, for any floating T.
#pragma once

#include "sinter/backend/portable/kernels/gemm.hpp"
#include "sinter/backend/portable/kernels/micro.hpp"

namespace sinter::portable::SINTER_ISA {

// gemm_thin.cpp: products that are vectors or nearly so, and empty sums. False if `g` isn't one.
bool gemm_thin(const Gemm<float>& g, void* scratch);
bool gemm_thin(const Gemm<double>& g, void* scratch);

namespace {

template <class T>
struct GemmBlocks {
  static constexpr int64_t kc = (vector_bytes == 64 ? 512 : 384) * 4 / int(sizeof(T));
  static constexpr int64_t mc = vector_bytes == 64 ? 26 * tile_rows : 32 * tile_rows;
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

/// `rows` rows cut into panels of at most tile_rows, their heights equal within one.
struct RowPanels {
  int64_t count, height, taller;
  explicit RowPanels(int64_t rows)
      : count(ceil_div(rows, tile_rows)), height(rows / count), taller(rows % count) {}
  /// First row of panel `q`, or the end for q = count.
  int64_t row(int64_t q) const { return q * height + min64(q, taller); }
};

/// Packs rows × kc of A into panels of [kc][height].
template <class T>
void pack_a(const T* a, int64_t row, int64_t col, int64_t rows, int64_t kc, T* out) {
  constexpr int W = native_lanes<T>;
  const RowPanels panels(rows);
  for (int64_t q = 0; q < panels.count; ++q) {
    const int64_t first = panels.row(q);
    const int64_t height = panels.row(q + 1) - first;
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

/// Packs kc × cols of B, cols at most tile_cols, into one panel of [kc][tile_cols]; missing columns
/// become zeros.
template <class T>
void pack_b(const T* b, int64_t row, int64_t col, int64_t cols, int64_t kc, T* out) {
  constexpr int W = native_lanes<T>;
  constexpr int NR = tile_cols<T>;
  using S = simd<T, W>;
  if (col == 1 && cols == NR) {
    for (int64_t p = 0; p < kc; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < tile_vectors; ++v) {
        S::load(b + p * row + v * W).store(out + p * NR + v * W);
      }
    }
  } else if (col == 1) {
    for (int64_t p = 0; p < kc; ++p) {
      for (int v = 0; v < tile_vectors; ++v) {
        const int n = int(min64(max64(cols - v * W, 0), W));
        load_partial<T, W>(b + p * row + v * W, n).store(out + p * NR + v * W);
      }
    }
  } else if (row == 1) {
    for (int v = 0; v < tile_vectors; ++v) {
      const int n = int(min64(max64(cols - v * W, 0), W));
      for (int64_t p = 0; p < kc; p += W) {
        transpose_block(b + v * W * col + p, col, n, int(min64(W, kc - p)), out + p * NR + v * W,
                        int64_t(NR), true);
      }
    }
  } else {
    for (int64_t p = 0; p < kc; ++p) {
      for (int64_t c = 0; c < NR; ++c) {
        out[p * NR + c] = c < cols ? b[p * row + c * col] : T(0);
      }
    }
  }
}

// ---- packed path ----

/// Rows of two cache lines that the next tiles will touch; a tile asks for them as it multiplies,
/// so that memory works while the arithmetic units do.
struct Ahead {
  const char* at = nullptr;
  int64_t ld = 0;  ///< bytes
  int64_t rows = 0;

  template <bool Write>
  SINTER_FORCE_INLINE void fetch() {
    __builtin_prefetch(at, Write, Write ? 3 : 2);
    __builtin_prefetch(at + 64, Write, Write ? 3 : 2);
    at += ld;
    --rows;
  }
};

template <class T>
using TileFn = void (*)(int64_t k, const T* a, const T* b, const TileOut<T>& o, Ahead next_c,
                        Ahead next_b);

template <class T, int R>
__attribute__((noinline)) void packed_tile(int64_t k, const T* a, const T* b, const TileOut<T>& o,
                                           Ahead next_c, Ahead next_b) {
  constexpr int64_t steps = 8;  // between two prefetches
  simd<T, native_lanes<T>> acc[R][tile_vectors];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < tile_vectors; ++j) {
      acc[i][j] = simd<T, native_lanes<T>>(T(0));
    }
  }
  int64_t p = 0;
  for (; p + steps <= k; p += steps) {
    if (next_c.rows > 0) {
      next_c.fetch<true>();
    } else if (next_b.rows > 0) {
      next_b.fetch<false>();
    }
    multiply_tile<T, R, tile_vectors, false>(acc, steps, a + p * R, 1, R, b + p * tile_cols<T>,
                                             tile_cols<T>, 0);
  }
  multiply_tile<T, R, tile_vectors, false>(acc, k - p, a + p * R, 1, R, b + p * tile_cols<T>,
                                           tile_cols<T>, 0);
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

/// One packed block of A (mc × kc) times one of B (kc × nc), which is packed panel by panel, just
/// before its first use, when `pack` says so.
template <class T>
struct PackedBlock {
  const Gemm<T>& g;
  int64_t ic, mc, jc, nc, pc, kc;
  const T* pa;
  T* pb;
  bool pack;
  RowPanels panels{mc};
  int64_t share = ceil_div(kc, panels.count);  // rows of the next panel of B that one tile fetches

  const T* source(int64_t j) const { return g.b + pc * g.b_row + (jc + j) * g.b_col; }

  TileOut<T> out(int64_t j, int64_t q) const {
    const bool last = pc + kc == g.k;
    TileOut<T> o;
    o.c = g.c + (ic + panels.row(q)) * g.c_row + jc + j;
    o.ld = g.c_row;
    o.cols = min64(tile_cols<T>, nc - j);
    o.accumulate = g.accumulate || pc > 0;
    o.row_bias = last && g.row_bias != nullptr ? g.row_bias + ic + panels.row(q) : nullptr;
    o.col_bias = last && g.col_bias != nullptr ? g.col_bias + jc + j : nullptr;
    return o;
  }

  /// C of the tile after (j, q).
  Ahead next_c(int64_t j, int64_t q) const {
    const bool wraps = q + 1 == panels.count;
    if (wraps && j + tile_cols<T> >= nc) {
      return {};
    }
    const int64_t i = wraps ? 0 : q + 1;
    const T* c = g.c + (ic + panels.row(i)) * g.c_row + jc + j + (wraps ? tile_cols<T> : 0);
    return {reinterpret_cast<const char*>(c), g.c_row * int64_t(sizeof(T)),
            panels.row(i + 1) - panels.row(i)};
  }

  /// The share of the next panel of B (its source while it isn't packed) that tile (j, q) fetches.
  Ahead next_b(int64_t j, int64_t q) const {
    const int64_t next = j + tile_cols<T>;
    if (next >= nc || (pack && g.b_col != 1)) {
      return {};
    }
    const T* b = pack ? source(next) : pb + next * kc;
    const int64_t ld = pack ? g.b_row : tile_cols<T>;
    return {reinterpret_cast<const char*>(b + share * q * ld), ld * int64_t(sizeof(T)),
            min64(share, kc - share * q)};
  }

  void run() const {
    static constexpr TileTable<T, MakePacked, TileFn<T>> table;
    for (int64_t j = 0; j < nc; j += tile_cols<T>) {
      if (pack) {
        pack_b(source(j), g.b_row, g.b_col, min64(tile_cols<T>, nc - j), kc, pb + j * kc);
      }
      for (int64_t q = 0; q < panels.count; ++q) {
        const int64_t first = panels.row(q);
        table.fn[panels.row(q + 1) - first](kc, pa + first * kc, pb + j * kc, out(j, q),
                                            next_c(j, q), next_b(j, q));
      }
    }
  }
};

template <class T>
void gemm_packed(const Gemm<T>& g, void* scratch) {
  const GemmScratch<T> s(g.m, g.n, g.k);
  T* pa = static_cast<T*>(scratch);
  T* pb = reinterpret_cast<T*>(static_cast<char*>(scratch) + s.a_bytes);
  for (int64_t jc = 0; jc < g.n; jc += s.nc) {
    const int64_t nc = min64(s.nc, g.n - jc);
    for (int64_t pc = 0; pc < g.k; pc += s.kc) {
      const int64_t kc = min64(s.kc, g.k - pc);
      for (int64_t ic = 0; ic < g.m; ic += s.mc) {
        const int64_t mc = min64(s.mc, g.m - ic);
        pack_a(g.a + ic * g.a_row + pc * g.a_col, g.a_row, g.a_col, mc, kc, pa);
        PackedBlock<T>{g, ic, mc, jc, nc, pc, kc, pa, pb, ic == 0}.run();
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
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
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
  const RowPanels panels(g.m);
  for (int64_t j = 0; j < g.n; j += NR) {
    for (int64_t q = 0; q < panels.count; ++q) {
      const int64_t i = panels.row(q);
      TileOut<T> o;
      o.c = g.c + i * g.c_row + j;
      o.ld = g.c_row;
      o.cols = min64(NR, g.n - j);
      o.accumulate = g.accumulate;
      o.row_bias = g.row_bias == nullptr ? nullptr : g.row_bias + i;
      o.col_bias = g.col_bias == nullptr ? nullptr : g.col_bias + j;
      table.fn[panels.row(q + 1) - i](g.k, g.a + i * g.a_row, g.a_row, g.a_col, g.b + j * g.b_col,
                                      g.b_row, o);
    }
  }
}

template <class T>
void gemm_any(const Gemm<T>& g, void* scratch) {
  if (g.m <= 0 || g.n <= 0 || gemm_thin(g, scratch)) {
    return;
  }
  const bool small = g.m * g.n * g.k <= 24 * 24 * 24;
  if (g.b_col == 1 && (small || g.m <= tile_rows)) {
    return gemm_direct(g);
  }
  gemm_packed(g, scratch);
}

}  // namespace

}  // namespace sinter::portable::SINTER_ISA
