// SPDX-License-Identifier: MIT OR Apache-2.0
// A thin vector type over compiler vector extensions: the carrier of every portable kernel.
//
// Freestanding: includes <stddef.h>, <stdint.h> and, on x86, the intrinsics header only. Each
// kernel file is compiled once per instruction set with -DSINTER_ISA=<name>; everything here lives
// in a namespace of that name and is force-inlined, so that the linker can never mix two
// instruction sets.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifndef SINTER_ISA
#define SINTER_ISA generic
#endif

#define SINTER_FORCE_INLINE inline __attribute__((always_inline))

namespace sinter::portable::SINTER_ISA {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
inline constexpr int vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
inline constexpr int vector_registers = 16;
#else
inline constexpr int vector_bytes = 16;
#if defined(__aarch64__)
inline constexpr int vector_registers = 32;
#else
inline constexpr int vector_registers = 16;
#endif
#endif
#if defined(__FMA__) || defined(__aarch64__)
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif

/// Lanes of T that fill one register.
template <class T>
inline constexpr int native_lanes = vector_bytes / int(sizeof(T));

namespace detail {
template <int Bytes>
struct int_of;
template <>
struct int_of<1> {
  using type = int8_t;
};
template <>
struct int_of<2> {
  using type = int16_t;
};
template <>
struct int_of<4> {
  using type = int32_t;
};
template <>
struct int_of<8> {
  using type = int64_t;
};
template <class T, int N>
struct ext {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
  typedef T loose __attribute__((vector_size(N * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <size_t... I>
struct seq {};
}  // namespace detail

template <class T, int N>
struct simd_mask;

/// N lanes of T. Arithmetic is lane by lane; a scalar converts to a vector of equal lanes.
template <class T, int N>
struct simd {
  using value_type = T;
  using native = typename detail::ext<T, N>::type;
  using mask = simd_mask<T, N>;
  static constexpr int size = N;
  native v;

  simd() = default;
  SINTER_FORCE_INLINE simd(native x) : v(x) {}
  SINTER_FORCE_INLINE simd(T s) : v(s - native{}) {}
  template <class S>
    requires(!__is_same(S, T) && !__is_class(S) && (__is_same(S, int) || __is_same(S, double)))
  SINTER_FORCE_INLINE explicit simd(S s) : v(T(s) - native{}) {}

  SINTER_FORCE_INLINE T operator[](int i) const { return v[i]; }
  SINTER_FORCE_INLINE void set(int i, T x) { v[i] = x; }

  /// Loads N lanes from p (no alignment needed).
  static SINTER_FORCE_INLINE simd load(const T* p) {
    return simd(native(*reinterpret_cast<const typename detail::ext<T, N>::loose*>(p)));
  }
  /// Stores N lanes to p (no alignment needed).
  SINTER_FORCE_INLINE void store(T* p) const {
    *reinterpret_cast<typename detail::ext<T, N>::loose*>(p) = v;
  }
  /// 0, 1, 2, …
  static SINTER_FORCE_INLINE simd iota() {
    simd r;
    for (int i = 0; i < N; ++i) {
      r.v[i] = T(i);
    }
    return r;
  }

  friend SINTER_FORCE_INLINE simd operator+(simd a, simd b) { return a.v + b.v; }
  friend SINTER_FORCE_INLINE simd operator-(simd a, simd b) { return a.v - b.v; }
  friend SINTER_FORCE_INLINE simd operator*(simd a, simd b) { return a.v * b.v; }
  friend SINTER_FORCE_INLINE simd operator/(simd a, simd b) { return a.v / b.v; }
  friend SINTER_FORCE_INLINE simd operator-(simd a) { return -a.v; }
  friend SINTER_FORCE_INLINE simd operator&(simd a, simd b) { return a.v & b.v; }
  friend SINTER_FORCE_INLINE simd operator|(simd a, simd b) { return a.v | b.v; }
  friend SINTER_FORCE_INLINE simd operator^(simd a, simd b) { return a.v ^ b.v; }
  friend SINTER_FORCE_INLINE simd operator~(simd a) { return ~a.v; }
  friend SINTER_FORCE_INLINE simd operator<<(simd a, int s) { return a.v << s; }
  friend SINTER_FORCE_INLINE simd operator>>(simd a, int s) { return a.v >> s; }
  SINTER_FORCE_INLINE simd& operator+=(simd b) { return v += b.v, *this; }
  SINTER_FORCE_INLINE simd& operator-=(simd b) { return v -= b.v, *this; }
  SINTER_FORCE_INLINE simd& operator*=(simd b) { return v *= b.v, *this; }
  friend SINTER_FORCE_INLINE mask operator<(simd a, simd b) { return mask(a.v < b.v); }
  friend SINTER_FORCE_INLINE mask operator<=(simd a, simd b) { return mask(a.v <= b.v); }
  friend SINTER_FORCE_INLINE mask operator>(simd a, simd b) { return mask(a.v > b.v); }
  friend SINTER_FORCE_INLINE mask operator>=(simd a, simd b) { return mask(a.v >= b.v); }
  friend SINTER_FORCE_INLINE mask operator==(simd a, simd b) { return mask(a.v == b.v); }
  friend SINTER_FORCE_INLINE mask operator!=(simd a, simd b) { return mask(a.v != b.v); }
};

/// N truth values, held as lanes of all ones or all zeros of T's width.
template <class T, int N>
struct simd_mask {
  using lane = typename detail::int_of<sizeof(T)>::type;
  using native = typename detail::ext<lane, N>::type;
  native v;
  simd_mask() = default;
  template <class V>
    requires(sizeof(V) == sizeof(native) && !__is_class(V))
  SINTER_FORCE_INLINE explicit simd_mask(V x) : v(reinterpret_cast<native>(x)) {}
  SINTER_FORCE_INLINE simd_mask(bool b) : v(native{} - lane(b)) {}
  SINTER_FORCE_INLINE bool operator[](int i) const { return v[i] != 0; }
  friend SINTER_FORCE_INLINE simd_mask operator&(simd_mask a, simd_mask b) {
    return simd_mask(a.v & b.v);
  }
  friend SINTER_FORCE_INLINE simd_mask operator|(simd_mask a, simd_mask b) {
    return simd_mask(a.v | b.v);
  }
  friend SINTER_FORCE_INLINE simd_mask operator^(simd_mask a, simd_mask b) {
    return simd_mask(a.v ^ b.v);
  }
  friend SINTER_FORCE_INLINE simd_mask operator!(simd_mask a) { return simd_mask(~a.v); }
  friend SINTER_FORCE_INLINE simd_mask operator!=(simd_mask a, simd_mask b) { return a ^ b; }
  friend SINTER_FORCE_INLINE simd_mask operator==(simd_mask a, simd_mask b) { return !(a ^ b); }
  friend SINTER_FORCE_INLINE simd_mask operator&&(simd_mask a, simd_mask b) { return a & b; }
  friend SINTER_FORCE_INLINE simd_mask operator||(simd_mask a, simd_mask b) { return a | b; }
};

/// m ? a : b per lane.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> select(simd_mask<T, N> m, simd<T, N> a, simd<T, N> b) {
  return simd<T, N>(m.v ? a.v : b.v);
}
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> select(simd_mask<T, N> m, simd<T, N> a, T b) {
  return select(m, a, simd<T, N>(b));
}
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> select(simd_mask<T, N> m, T a, simd<T, N> b) {
  return select(m, simd<T, N>(a), b);
}

/// True if any lane is set.
template <class T, int N>
SINTER_FORCE_INLINE bool any(simd_mask<T, N> m) {
#if defined(__AVX512F__)
  if constexpr (sizeof(m.v) == 64) {
    return _mm512_test_epi64_mask(__m512i(m.v), __m512i(m.v)) != 0;
  }
#endif
#if defined(__AVX__)
  if constexpr (sizeof(m.v) == 32) {
    return !_mm256_testz_si256(__m256i(m.v), __m256i(m.v));
  }
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(m.v) == 16) {
    return _mm_movemask_epi8(__m128i(m.v)) != 0;
  }
#endif
  typename simd_mask<T, N>::lane r = 0;
  for (int i = 0; i < N; ++i) {
    r |= m.v[i];
  }
  return r != 0;
}
/// True if every lane is set.
template <class T, int N>
SINTER_FORCE_INLINE bool all(simd_mask<T, N> m) {
  return !any(!m);
}

/// The same bits seen as lanes of another type of the same width.
template <class To, class T, int N>
SINTER_FORCE_INLINE simd<To, N> bit_cast(simd<T, N> x) {
  static_assert(sizeof(To) == sizeof(T));
  return simd<To, N>(reinterpret_cast<typename simd<To, N>::native>(x.v));
}
/// Lane-wise value conversion (C rules: truncation towards zero for float to integer).
template <class To, class T, int N>
SINTER_FORCE_INLINE simd<To, N> convert(simd<T, N> x) {
  return simd<To, N>(__builtin_convertvector(x.v, typename simd<To, N>::native));
}
/// A mask of one lane type seen as a mask of another type of the same width.
template <class To, class T, int N>
SINTER_FORCE_INLINE simd_mask<To, N> mask_cast(simd_mask<T, N> m) {
  static_assert(sizeof(To) == sizeof(T));
  return simd_mask<To, N>(m.v);
}

/// a * b + c, in one rounding where the instruction set has it.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> fma(simd<T, N> a, simd<T, N> b, simd<T, N> c) {
#if defined(__AVX512F__)
  if constexpr (__is_same(T, float) && N == 16) {
    return simd<T, N>(_mm512_fmadd_ps(a.v, b.v, c.v));
  } else if constexpr (__is_same(T, double) && N == 8) {
    return simd<T, N>(_mm512_fmadd_pd(a.v, b.v, c.v));
  }
#endif
#if defined(__FMA__)
  if constexpr (__is_same(T, float) && N == 8) {
    return simd<T, N>(_mm256_fmadd_ps(a.v, b.v, c.v));
  } else if constexpr (__is_same(T, double) && N == 4) {
    return simd<T, N>(_mm256_fmadd_pd(a.v, b.v, c.v));
  } else if constexpr (__is_same(T, float) && N == 4) {
    return simd<T, N>(_mm_fmadd_ps(a.v, b.v, c.v));
  } else if constexpr (__is_same(T, double) && N == 2) {
    return simd<T, N>(_mm_fmadd_pd(a.v, b.v, c.v));
  }
#elif defined(__aarch64__)
  if constexpr (__is_same(T, float) || __is_same(T, double)) {
    simd<T, N> r;
    for (int i = 0; i < N; ++i) {
      r.v[i] = sizeof(T) == 4 ? T(__builtin_fmaf(a.v[i], b.v[i], c.v[i]))
                              : T(__builtin_fma(a.v[i], b.v[i], c.v[i]));
    }
    return r;
  }
#endif
  return simd<T, N>(a.v * b.v + c.v);
}

/// Keeps x in a register: stops the compiler from folding one load into several instructions.
template <class T, int N>
SINTER_FORCE_INLINE void pin(simd<T, N>& x) {
#if defined(__AVX512F__)
  asm("" : "+v"(x.v));
#elif defined(__SSE2__)
  asm("" : "+x"(x.v));
#else
  (void)x;
#endif
}

/// Smaller of two lanes; the second if either is NaN (x86 rule). Use minimum() for NaN propagation.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> min(simd<T, N> a, simd<T, N> b) {
  return select(a < b, a, b);
}
/// Larger of two lanes; the second if either is NaN (x86 rule). Use maximum() for NaN propagation.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> max(simd<T, N> a, simd<T, N> b) {
  return select(a > b, a, b);
}

namespace detail {
template <int S, class V, size_t... I>
SINTER_FORCE_INLINE V swap_lanes(V v, seq<I...>) {
  return __builtin_shufflevector(v, v, int(I ^ size_t(S))...);
}
template <class V, size_t... I>
SINTER_FORCE_INLINE auto low_half(V v, seq<I...>) {
  return __builtin_shufflevector(v, v, int(I)...);
}
template <class V, size_t... I>
SINTER_FORCE_INLINE auto high_half(V v, seq<I...>) {
  return __builtin_shufflevector(v, v, int(I + sizeof...(I))...);
}
template <class V, size_t... I>
SINTER_FORCE_INLINE auto join(V a, V b, seq<I...>) {
  return __builtin_shufflevector(a, b, int(I)...);
}
template <int N>
struct make_seq;
template <>
struct make_seq<1> {
  using type = seq<0>;
};
template <>
struct make_seq<2> {
  using type = seq<0, 1>;
};
template <>
struct make_seq<4> {
  using type = seq<0, 1, 2, 3>;
};
template <>
struct make_seq<8> {
  using type = seq<0, 1, 2, 3, 4, 5, 6, 7>;
};
template <>
struct make_seq<16> {
  using type = seq<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>;
};
template <class T, int N, int S, class F>
SINTER_FORCE_INLINE simd<T, N> fold(simd<T, N> x, F f) {
  if constexpr (S == 0) {
    return x;
  } else {
    return fold<T, N, S / 2>(f(x, simd<T, N>(swap_lanes<S>(x.v, typename make_seq<N>::type{}))), f);
  }
}
}  // namespace detail

/// Sum of all lanes, as a balanced tree.
template <class T, int N>
SINTER_FORCE_INLINE T hsum(simd<T, N> x) {
  return detail::fold<T, N, N / 2>(x, [](auto a, auto b) { return a + b; })[0];
}
/// Largest lane (see max() for NaN).
template <class T, int N>
SINTER_FORCE_INLINE T hmax(simd<T, N> x) {
  return detail::fold<T, N, N / 2>(x, [](auto a, auto b) { return max(a, b); })[0];
}
/// Smallest lane (see min() for NaN).
template <class T, int N>
SINTER_FORCE_INLINE T hmin(simd<T, N> x) {
  return detail::fold<T, N, N / 2>(x, [](auto a, auto b) { return min(a, b); })[0];
}

/// Lower and upper half of a vector, and their inverse.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N / 2> low(simd<T, N> x) {
  return simd<T, N / 2>(detail::low_half(x.v, typename detail::make_seq<N / 2>::type{}));
}
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N / 2> high(simd<T, N> x) {
  return simd<T, N / 2>(detail::high_half(x.v, typename detail::make_seq<N / 2>::type{}));
}
template <class T, int N>
SINTER_FORCE_INLINE simd<T, 2 * N> join(simd<T, N> a, simd<T, N> b) {
  return simd<T, 2 * N>(detail::join(a.v, b.v, typename detail::make_seq<2 * N>::type{}));
}

/// Lanes [0, n) set, the rest clear; n in [0, N].
template <class T, int N>
SINTER_FORCE_INLINE simd_mask<T, N> first_lanes(int n) {
  using L = typename simd_mask<T, N>::lane;
  return simd_mask<T, N>(simd<L, N>::iota().v < (simd<L, N>(L(n))).v);
}

/// Loads lanes [0, n) from p and zeros the rest; touches no memory beyond p + n.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> load_partial(const T* p, int n) {
#if defined(__AVX512F__)
  if constexpr (N * sizeof(T) == 64 && sizeof(T) == 4) {
    return bit_cast<T>(simd<int32_t, N>(
        typename simd<int32_t, N>::native(_mm512_maskz_loadu_epi32(__mmask16((1u << n) - 1), p))));
  } else if constexpr (N * sizeof(T) == 64 && sizeof(T) == 8) {
    return bit_cast<T>(simd<int64_t, N>(
        typename simd<int64_t, N>::native(_mm512_maskz_loadu_epi64(__mmask8((1u << n) - 1), p))));
  }
#elif defined(__AVX2__)
  if constexpr (N * sizeof(T) == 32 && sizeof(T) == 4) {
    return bit_cast<T>(simd<int32_t, N>(typename simd<int32_t, N>::native(
        _mm256_maskload_epi32(reinterpret_cast<const int*>(p), __m256i(first_lanes<T, N>(n).v)))));
  } else if constexpr (N * sizeof(T) == 32 && sizeof(T) == 8) {
    return bit_cast<T>(simd<int64_t, N>(typename simd<int64_t, N>::native(_mm256_maskload_epi64(
        reinterpret_cast<const long long*>(p), __m256i(first_lanes<T, N>(n).v)))));
  }
#endif
  simd<T, N> r{typename simd<T, N>::native{}};
  for (int i = 0; i < N; ++i) {
    if (i < n) {
      r.v[i] = p[i];
    }
  }
  return r;
}
/// Stores lanes [0, n) to p; touches no memory beyond p + n.
template <class T, int N>
SINTER_FORCE_INLINE void store_partial(simd<T, N> x, T* p, int n) {
#if defined(__AVX512F__)
  if constexpr (N * sizeof(T) == 64 && sizeof(T) == 4) {
    _mm512_mask_storeu_epi32(p, __mmask16((1u << n) - 1), __m512i(x.v));
    return;
  } else if constexpr (N * sizeof(T) == 64 && sizeof(T) == 8) {
    _mm512_mask_storeu_epi64(p, __mmask8((1u << n) - 1), __m512i(x.v));
    return;
  }
#elif defined(__AVX2__)
  if constexpr (N * sizeof(T) == 32 && sizeof(T) == 4) {
    _mm256_maskstore_epi32(reinterpret_cast<int*>(p), __m256i(first_lanes<T, N>(n).v),
                           __m256i(x.v));
    return;
  } else if constexpr (N * sizeof(T) == 32 && sizeof(T) == 8) {
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(p), __m256i(first_lanes<T, N>(n).v),
                           __m256i(x.v));
    return;
  }
#endif
  for (int i = 0; i < N; ++i) {
    if (i < n) {
      p[i] = x.v[i];
    }
  }
}

using vf = simd<float, native_lanes<float>>;
using vd = simd<double, native_lanes<double>>;
using vi = simd<int32_t, native_lanes<int32_t>>;
using vl = simd<int64_t, native_lanes<int64_t>>;

}  // namespace sinter::portable::SINTER_ISA
