// SPDX-License-Identifier: MIT OR Apache-2.0
// int8 × int8 → int32 matrix products, exact.
//
// Both operands are widened to int16 while packing, in pairs along k, so that one multiply-add of
// pairs (x86 pmaddwd) does two steps of k in 32 bits without saturation; other targets multiply
// lanes in int32.
#include "sinter/backend/portable/kernels/gemm.hpp"
#include "sinter/backend/portable/kernels/micro.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

constexpr int W = native_lanes<int32_t>;
constexpr int NR = tile_vectors * W;
constexpr int rows_i8 = vector_registers == 32 ? 12 : 5;
constexpr int64_t kc_i8 = 512;  // even
constexpr int64_t mc_i8 = 24 * rows_i8;
constexpr int64_t nc_i8 = 64 * NR;
using S = simd<int32_t, W>;

/// acc + a.lo16 * b.lo16 + a.hi16 * b.hi16 per 32-bit lane.
SINTER_FORCE_INLINE S pair_multiply_add(S a, S b, S acc) {
#if defined(__AVX512BW__)
  return S(acc.v + S::native(_mm512_madd_epi16(__m512i(a.v), __m512i(b.v))));
#elif defined(__AVX2__)
  return S(acc.v + S::native(_mm256_madd_epi16(__m256i(a.v), __m256i(b.v))));
#elif defined(__SSE2__)
  return S(acc.v + S::native(_mm_madd_epi16(__m128i(a.v), __m128i(b.v))));
#else
  const S lo = ((a << 16) >> 16) * ((b << 16) >> 16);
  const S hi = (a >> 16) * (b >> 16);
  return acc + lo + hi;
#endif
}

SINTER_FORCE_INLINE int32_t pair(int8_t lo, int8_t hi) {
  return int32_t((uint32_t(uint16_t(int16_t(hi))) << 16) | uint16_t(int16_t(lo)));
}

struct Blocks {
  int64_t kc, mc, nc;
  size_t a_bytes, b_bytes;
  Blocks(int64_t m, int64_t n, int64_t k) {
    kc = min64(round_up(max64(k, 1), 2), kc_i8);
    mc = min64(max64(m, 1), mc_i8);
    nc = min64(round_up(max64(n, 1), NR), nc_i8);
    a_bytes = size_t(round_up(mc * kc / 2 * 4, 64));
    b_bytes = size_t(nc * kc / 2 * 4);
  }
};

void pack_a(const GemmI8& g, int64_t i0, int64_t rows, int64_t p0, int64_t kc, int32_t* out) {
  const int64_t pairs = (kc + 1) / 2;
  const int64_t panels = ceil_div(rows, rows_i8);
  for (int64_t q = 0; q < panels; ++q) {
    const int64_t first = rows * q / panels;
    const int64_t height = rows * (q + 1) / panels - first;
    int32_t* dst = out + first * pairs;
    for (int64_t r = 0; r < height; ++r) {
      const int8_t* src = g.a + (i0 + first + r) * g.a_row + p0 * g.a_col;
      for (int64_t p = 0; p < pairs; ++p) {
        const int8_t hi = 2 * p + 1 < kc ? src[(2 * p + 1) * g.a_col] : int8_t(0);
        dst[p * height + r] = pair(src[2 * p * g.a_col], hi);
      }
    }
  }
}

void pack_b(const GemmI8& g, int64_t j0, int64_t cols, int64_t p0, int64_t kc, int32_t* out) {
  const int64_t pairs = (kc + 1) / 2;
  for (int64_t j = 0; j < cols; j += NR, out += NR * pairs) {
    const int64_t width = min64(NR, cols - j);
    const int8_t* base = g.b + (j0 + j) * g.b_col + p0 * g.b_row;
    for (int64_t p = 0; p < pairs; ++p) {
      const int8_t* lo = base + 2 * p * g.b_row;
      const bool odd = 2 * p + 1 < kc;
      const int8_t* hi = odd ? lo + g.b_row : lo;
      int32_t* dst = out + p * NR;
      if (g.b_col == 1 && width == NR) {
        using Small = simd<int8_t, W>;
        const S keep(odd ? -1 : 0);
#pragma GCC unroll 4
        for (int v = 0; v < NR; v += W) {
          const S x = S(__builtin_convertvector(Small::load(lo + v).v, S::native)) & S(0xffff);
          const S y = S(__builtin_convertvector(Small::load(hi + v).v, S::native)) & keep;
          (x | (y << 16)).store(dst + v);
        }
      } else {
        for (int64_t c = 0; c < NR; ++c) {
          dst[c] = c < width ? pair(lo[c * g.b_col], odd ? hi[c * g.b_col] : int8_t(0)) : 0;
        }
      }
    }
  }
}

using TileFn = void (*)(int64_t pairs, const int32_t* a, const int32_t* b,
                        const TileOut<int32_t>& o);

template <int R>
__attribute__((noinline)) void tile(int64_t pairs, const int32_t* a, const int32_t* b,
                                    const TileOut<int32_t>& o) {
  S acc[R][tile_vectors];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < tile_vectors; ++j) {
      acc[i][j] = S(0);
    }
  }
#pragma GCC unroll 2
  for (int64_t p = 0; p < pairs; ++p) {
    S row[tile_vectors];
#pragma GCC unroll 4
    for (int j = 0; j < tile_vectors; ++j) {
      row[j] = S::load(b + j * W);
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const S x(a[i]);
#pragma GCC unroll 4
      for (int j = 0; j < tile_vectors; ++j) {
        acc[i][j] = pair_multiply_add(x, row[j], acc[i][j]);
      }
    }
    a += R;
    b += NR;
  }
  write_tile(acc, o);
}

struct Table {
  TileFn fn[rows_i8 + 1];
  constexpr Table() : fn{} { fill<rows_i8>(); }
  template <int R>
  constexpr void fill() {
    fn[R] = tile<R>;
    if constexpr (R > 1) {
      fill<R - 1>();
    }
  }
};

}  // namespace

size_t gemm_i8_scratch_bytes(int64_t m, int64_t n, int64_t k) {
  const Blocks s(m, n, k);
  return s.a_bytes + s.b_bytes + 64;
}

void gemm_i8(const GemmI8& g, void* scratch) {
  static constexpr Table table;
  if (g.m <= 0 || g.n <= 0) {
    return;
  }
  if (g.k <= 0) {
    for (int64_t i = 0; i < g.m && !g.accumulate; ++i) {
      zero_run(g.c + i * g.c_row, g.n);
    }
    return;
  }
  const Blocks s(g.m, g.n, g.k);
  int32_t* pa = static_cast<int32_t*>(scratch);
  int32_t* pb = reinterpret_cast<int32_t*>(static_cast<char*>(scratch) + s.a_bytes);
  for (int64_t jc = 0; jc < g.n; jc += s.nc) {
    const int64_t nc = min64(s.nc, g.n - jc);
    for (int64_t pc = 0; pc < g.k; pc += s.kc) {
      const int64_t kc = min64(s.kc, g.k - pc);
      const int64_t pairs = (kc + 1) / 2;
      pack_b(g, jc, nc, pc, kc, pb);
      for (int64_t ic = 0; ic < g.m; ic += s.mc) {
        const int64_t mc = min64(s.mc, g.m - ic);
        pack_a(g, ic, mc, pc, kc, pa);
        const int64_t panels = ceil_div(mc, rows_i8);
        for (int64_t j = 0; j < nc; j += NR) {
          for (int64_t q = 0; q < panels; ++q) {
            const int64_t i = mc * q / panels;
            TileOut<int32_t> o;
            o.c = g.c + (ic + i) * g.c_row + jc + j;
            o.ld = g.c_row;
            o.cols = min64(NR, nc - j);
            o.accumulate = g.accumulate || pc > 0;
            table.fn[mc * (q + 1) / panels - i](pairs, pa + i * pairs, pb + j * pairs, o);
          }
        }
      }
    }
  }
}

}  // namespace sinter::portable::SINTER_ISA
