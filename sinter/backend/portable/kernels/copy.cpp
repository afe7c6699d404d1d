// SPDX-License-Identifier: MIT OR Apache-2.0
// Transposition by tiles in registers, and stores that pass the cache by.
#include "sinter/backend/portable/kernels/reduce.hpp"
#include "sinter/backend/portable/kernels/simd.hpp"

namespace sinter::portable::SINTER_ISA {
namespace {

// The lanes of a and b interleaved in groups of `group`: one of log2(N) rounds of a transposition.
template <int group, bool upper, class V, size_t... I>
SINTER_FORCE_INLINE V exchange(V a, V b, detail::seq<I...>) {
  constexpr int lanes = int(sizeof...(I));
  return __builtin_shufflevector(
      a, b,
      ((int(I) / group % 2 == 0) ? int(I) + (upper ? group : 0)
                                 : lanes + int(I) - (upper ? 0 : group))...);
}

// Exchanges blocks off the diagonal: rows i and i + group swap their halves.
template <class T, int N, int group>
SINTER_FORCE_INLINE void transpose_rounds(simd<T, N>* rows) {
  if constexpr (group > 0) {
    using S = typename detail::make_seq<N>::type;
    for (int i = 0; i < N; ++i) {
      if (i / group % 2 == 0) {
        const auto a = rows[i].v;
        const auto b = rows[i + group].v;
        rows[i].v = exchange<group, false>(a, b, S{});
        rows[i + group].v = exchange<group, true>(a, b, S{});
      }
    }
    transpose_rounds<T, N, group / 2>(rows);
  }
}

// Writes one whole vector; past the cache if asked and if it is a whole line.
template <bool past_cache, class V, class T>
SINTER_FORCE_INLINE void put(V v, T* to) {
#if defined(__AVX512F__)
  if constexpr (past_cache && sizeof(V) == 64) {
    if (reinterpret_cast<uintptr_t>(to) % 64 == 0) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(v.v));
      return;
    }
  }
#endif
  v.store(to);
}

template <class T, bool past_cache>
void transpose(const void* source, ptrdiff_t from_stride, void* target, ptrdiff_t to_stride,
               size_t rows, size_t columns) {
  // Whole registers, so that with the widest of them every line of the cache is touched once.
  constexpr int tile = native_lanes<T> < 16 ? native_lanes<T> : 16;
  const T* from = static_cast<const T*>(source);
  T* to = static_cast<T*>(target);
  size_t r = 0;
  for (; r + tile <= rows; r += tile) {
    size_t c = 0;
    for (; c + tile <= columns; c += tile) {
      simd<T, tile> v[tile];
      for (int i = 0; i < tile; ++i) {
        v[i] = simd<T, tile>::load(from + ptrdiff_t(r + size_t(i)) * from_stride + ptrdiff_t(c));
      }
      transpose_rounds<T, tile, tile / 2>(v);
      for (int i = 0; i < tile; ++i) {
        put<past_cache>(v[i], to + ptrdiff_t(c + size_t(i)) * to_stride + ptrdiff_t(r));
      }
    }
    for (; c < columns; ++c) {
      for (size_t i = r; i < r + tile; ++i) {
        to[ptrdiff_t(c) * to_stride + ptrdiff_t(i)] =
            from[ptrdiff_t(i) * from_stride + ptrdiff_t(c)];
      }
    }
  }
  for (; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      to[ptrdiff_t(c) * to_stride + ptrdiff_t(r)] = from[ptrdiff_t(r) * from_stride + ptrdiff_t(c)];
    }
  }
#if defined(__AVX512F__)
  if constexpr (past_cache) {
    _mm_sfence();
  }
#endif
}

void stream(const void* from, void* to, size_t bytes) {
  size_t i = 0;
#if defined(__SSE2__)
  const char* source = static_cast<const char*>(from);
  char* target = static_cast<char*>(to);
  for (; i + 64 <= bytes; i += 64) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(target + i), _mm512_loadu_si512(source + i));
#elif defined(__AVX__)
    for (size_t k = 0; k < 64; k += 32) {
      _mm256_stream_si256(reinterpret_cast<__m256i*>(target + i + k),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + i + k)));
    }
#else
    for (size_t k = 0; k < 64; k += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + i + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i + k)));
    }
#endif
  }
  _mm_sfence();
#endif
  __builtin_memcpy(static_cast<char*>(to) + i, static_cast<const char*>(from) + i, bytes - i);
}

}  // namespace

void fill_copy(CopyTable& table) {
  table.transpose[0] = transpose<uint8_t, false>;
  table.transpose[1] = transpose<uint16_t, false>;
  table.transpose[2] = transpose<uint32_t, false>;
  table.transpose[3] = transpose<uint64_t, false>;
  table.transpose_past_cache[0] = transpose<uint8_t, false>;
  table.transpose_past_cache[1] = transpose<uint16_t, false>;
  table.transpose_past_cache[2] = transpose<uint32_t, true>;
  table.transpose_past_cache[3] = transpose<uint64_t, true>;
  table.stream = stream;
}

}  // namespace sinter::portable::SINTER_ISA
