// SPDX-License-Identifier: MIT OR Apache-2.0
// Building blocks of vmath.hpp: rounding, sign handling, f64 cores good to about 1e-13, argument
// reduction.
#pragma once

#include "sinter/backend/portable/kernels/simd.hpp"

namespace sinter::portable::SINTER_ISA {

namespace detail {
template <class T>
using int_lane = typename int_of<sizeof(T)>::type;

template <class V>
SINTER_FORCE_INLINE V inf() {
  using T = typename V::value_type;
  if constexpr (sizeof(T) == 4) {
    return V(__builtin_inff());
  } else {
    return V(__builtin_inf());
  }
}
template <class V>
SINTER_FORCE_INLINE V nan() {
  using T = typename V::value_type;
  if constexpr (sizeof(T) == 4) {
    return V(__builtin_nanf(""));
  } else {
    return V(__builtin_nan(""));
  }
}
/// c0 + c1 x + c2 x² + … by Horner's rule.
template <class V, class C>
SINTER_FORCE_INLINE V poly(V, C c) {
  return V(typename V::value_type(c));
}
template <class V, class C, class... Cs>
SINTER_FORCE_INLINE V poly(V x, C c, Cs... cs) {
  return fma(poly(x, cs...), x, V(typename V::value_type(c)));
}
/// A vector with only the sign bit set.
template <class T, int N>
SINTER_FORCE_INLINE simd<int_lane<T>, N> sign_bit() {
  using L = int_lane<T>;
  return simd<L, N>(L(uint64_t(1) << (sizeof(T) * 8 - 1)));
}
}  // namespace detail

/// |x|, bit exact (integers wrap at the minimum).
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> abs(simd<T, N> x) {
  if constexpr (T(0.5) != T(0)) {
    return bit_cast<T>(bit_cast<detail::int_lane<T>>(x) & ~detail::sign_bit<T, N>());
  } else {
    return select(x < simd<T, N>(T(0)), simd<T, N>(T(0)) - x, x);
  }
}
/// The size of x with the sign of s.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> copysign(simd<T, N> x, simd<T, N> s) {
  auto sign = detail::sign_bit<T, N>();
  using L = detail::int_lane<T>;
  return bit_cast<T>((bit_cast<L>(x) & ~sign) | (bit_cast<L>(s) & sign));
}
template <class T, int N>
SINTER_FORCE_INLINE simd_mask<T, N> is_nan(simd<T, N> x) {
  return x != x;
}
template <class T, int N>
SINTER_FORCE_INLINE simd_mask<T, N> is_inf(simd<T, N> x) {
  return abs(x) == detail::inf<simd<T, N>>();
}
/// Larger lane; NaN if either is NaN; +0 above -0.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> maximum(simd<T, N> a, simd<T, N> b) {
  if constexpr (T(0.5) != T(0)) {
    using L = detail::int_lane<T>;
    auto equal = bit_cast<T>(bit_cast<L>(a) & bit_cast<L>(b));
    auto r = select(a == b, equal, select(a > b, a, b));
    return select(a != a, a, r);
  } else {
    return max(a, b);
  }
}
/// Smaller lane; NaN if either is NaN; -0 below +0.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> minimum(simd<T, N> a, simd<T, N> b) {
  if constexpr (T(0.5) != T(0)) {
    using L = detail::int_lane<T>;
    auto equal = bit_cast<T>(bit_cast<L>(a) | bit_cast<L>(b));
    auto r = select(a == b, equal, select(a < b, a, b));
    return select(a != a, a, r);
  } else {
    return min(a, b);
  }
}
/// Square root, correctly rounded.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> sqrt(simd<T, N> x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) * N == 64) {
    if constexpr (sizeof(T) == 4) {
      return simd<T, N>(_mm512_sqrt_ps(x.v));
    } else {
      return simd<T, N>(_mm512_sqrt_pd(x.v));
    }
  }
#endif
#if defined(__AVX__)
  if constexpr (sizeof(T) * N == 32) {
    if constexpr (sizeof(T) == 4) {
      return simd<T, N>(_mm256_sqrt_ps(x.v));
    } else {
      return simd<T, N>(_mm256_sqrt_pd(x.v));
    }
  }
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(T) * N == 16) {
    if constexpr (sizeof(T) == 4) {
      return simd<T, N>(_mm_sqrt_ps(x.v));
    } else {
      return simd<T, N>(_mm_sqrt_pd(x.v));
    }
  }
#endif
  simd<T, N> r;
  for (int i = 0; i < N; ++i) {
    r.v[i] = sizeof(T) == 4 ? T(__builtin_sqrtf(float(x.v[i]))) : T(__builtin_sqrt(x.v[i]));
  }
  return r;
}
/// 1 / sqrt(x).
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> rsqrt(simd<T, N> x) {
  return simd<T, N>(T(1)) / sqrt(x);
}

namespace detail {
/// Mode 0: nearest even, 1: down, 2: up, 3: towards zero.
template <int Mode, class T, int N>
SINTER_FORCE_INLINE simd<T, N> round_mode(simd<T, N> x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) * N == 64) {
    if constexpr (sizeof(T) == 4) {
      return simd<T, N>(_mm512_roundscale_ps(x.v, Mode | 8));
    } else {
      return simd<T, N>(_mm512_roundscale_pd(x.v, Mode | 8));
    }
  }
#endif
#if defined(__AVX__)
  if constexpr (sizeof(T) * N == 32) {
    if constexpr (sizeof(T) == 4) {
      return simd<T, N>(_mm256_round_ps(x.v, Mode | 8));
    } else {
      return simd<T, N>(_mm256_round_pd(x.v, Mode | 8));
    }
  }
#endif
  using V = simd<T, N>;
  const V magic = V(T(sizeof(T) == 4 ? 8388608.0 : 4503599627370496.0));
  V a = abs(x);
  V r = (a + magic) - magic;  // nearest even for a < magic
  if constexpr (Mode == 3) {
    r = select(r > a, r - V(T(1)), r);
  }
  r = copysign(r, x);
  if constexpr (Mode == 1) {
    r = select(r > x, r - V(T(1)), r);
  } else if constexpr (Mode == 2) {
    r = select(r < x, r + V(T(1)), r);
  }
  r = copysign(r, x);
  return select(a < magic, r, x);
}
}  // namespace detail

/// Largest integer not above x.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> floor(simd<T, N> x) {
  return detail::round_mode<1>(x);
}
/// Smallest integer not below x.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> ceil(simd<T, N> x) {
  return detail::round_mode<2>(x);
}
/// x without its fraction.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> trunc(simd<T, N> x) {
  return detail::round_mode<3>(x);
}
/// Nearest integer, halves to even.
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> round(simd<T, N> x) {
  return detail::round_mode<0>(x);
}

namespace detail {

/// Nearest integer of |x| < 2^22 (f32) or 2^51 (f64).
template <class T, int N>
SINTER_FORCE_INLINE simd<T, N> round_small(simd<T, N> x) {
  using V = simd<T, N>;
  const V magic = V(T(sizeof(T) == 4 ? 12582912.0 : 6755399441055744.0));
  return (x + magic) - magic;
}
/// 2^n for integral n in the normal range.
template <int N>
SINTER_FORCE_INLINE simd<float, N> pow2(simd<float, N> n) {
  return bit_cast<float>((convert<int32_t>(n) + simd<int32_t, N>(127)) << 23);
}
template <int N>
SINTER_FORCE_INLINE simd<double, N> pow2(simd<double, N> n) {
  using D = simd<double, N>;
  // The low bits of n + 1.5 * 2^52 hold n as an integer.
  auto bits = bit_cast<int64_t>(n + D(6755399441055744.0));
  return bit_cast<double>((bits + simd<int64_t, N>(int64_t(1023))) << 52);
}
/// p * 2^n for integral n, through denormals and overflow.
template <int N>
SINTER_FORCE_INLINE simd<float, N> scale2(simd<float, N> p, simd<float, N> n) {
#if defined(__AVX512F__)
  if constexpr (N == 16) {
    return simd<float, N>(_mm512_scalef_ps(p.v, n.v));
  }
#endif
  using I = simd<int32_t, N>;
  I e = convert<int32_t>(n);
  I a = e >> 1;
  I b = e - a;
  simd<float, N> sa = bit_cast<float>((a + I(127)) << 23);
  simd<float, N> sb = bit_cast<float>((b + I(127)) << 23);
  return p * sa * sb;
}

/// Applies a f64 function to each half of an f32 vector.
template <int N, class F>
SINTER_FORCE_INLINE simd<float, N> widen(simd<float, N> x, F f) {
  auto a = f(convert<double>(low(x)));
  auto b = f(convert<double>(high(x)));
  return join(convert<float>(a), convert<float>(b));
}
template <int N, class F>
SINTER_FORCE_INLINE simd<float, N> widen(simd<float, N> x, simd<float, N> y, F f) {
  auto a = f(convert<double>(low(x)), convert<double>(low(y)));
  auto b = f(convert<double>(high(x)), convert<double>(high(y)));
  return join(convert<float>(a), convert<float>(b));
}

/// Square root, NaN below zero, without touching errno.
template <class V>
SINTER_FORCE_INLINE V sqrt_any(V x) {
  return SINTER_ISA::sqrt(x);
}

/// e^x clamped to the f32 range's neighbourhood; infinities and NaN pass as in C after rounding to
/// f32.
template <int N>
SINTER_FORCE_INLINE simd<double, N> exp_d(simd<double, N> x) {
  using D = simd<double, N>;
  D c = select(x > D(700.0), D(700.0), x);
  c = select(c < D(-700.0), D(-700.0), c);
  D n = round_small(c * D(1.44269504088896340736));
  D r = fma(n, D(-0.693147180369123816490), c);
  r = fma(n, D(-1.90821492927058770002e-10), r);
  D p = poly(r, 0.499999999999983059, 0.166666666666112898, 0.0416666666681599691,
             0.00833333337104488566, 0.00138888885095024511, 0.000198411849402414894,
             0.0000248019385289280585, 2.76351361694545789e-6, 2.74745595618786923e-7);
  p = fma(r * r, p, r) + D(1.0);
  return p * pow2(n);
}
template <int N>
SINTER_FORCE_INLINE simd<double, N> exp2_d(simd<double, N> x) {
  using D = simd<double, N>;
  D c = select(x > D(1000.0), D(1000.0), x);
  c = select(c < D(-1000.0), D(-1000.0), c);
  D n = round_small(c);
  return exp_d((c - n) * D(0.693147180559945309417)) * pow2(n);
}
/// log(x) for positive normal finite x.
template <int N>
SINTER_FORCE_INLINE simd<double, N> log_d(simd<double, N> x) {
  using D = simd<double, N>;
  using L = simd<int64_t, N>;
  L b = bit_cast<int64_t>(x);
  L t = b - L(int64_t(0x3fe6a09e667f3bcd));
  L e = bit_cast<int64_t>(bit_cast<double>((t >> 52)));
  D m = bit_cast<double>(b - (e << 52));
  D n = bit_cast<double>(e + bit_cast<int64_t>(D(6755399441055744.0))) - D(6755399441055744.0);
  D f = m - D(1.0);
  D s = f / (f + D(2.0));
  D z = s * s;
  D p = poly(z, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17);
  D y = fma(s * z, p, s + s);
  return fma(n, D(0.693147180369123816490), fma(n, D(1.90821492927058770002e-10), y));
}
/// f32 logarithm times a factor, with C's special values.
template <int N>
SINTER_FORCE_INLINE simd<float, N> log_through(simd<float, N> x, double factor) {
  using F = simd<float, N>;
  F y = widen(x, [factor](auto d) { return log_d(d) * decltype(d)(factor); });
  y = select(x > F(0.0f), y, nan<F>());
  y = select(x == F(0.0f), -inf<F>(), y);
  return select((x == inf<F>()) | (x != x), x, y);
}
/// atan(y / x) for y, x >= 0, in [0, pi/2]; (0, 0) gives 0, (inf, inf) gives pi/4.
template <int N>
SINTER_FORCE_INLINE simd<double, N> atan2_d(simd<double, N> y, simd<double, N> x) {
  using D = simd<double, N>;
  auto steep = y > x;
  D num = select(steep, x, y);
  D den = select(steep, y, x);
  D q = num / den;
  q = select(num == D(0.0), D(0.0), q);
  q = select(num == inf<D>(), D(1.0), q);
  auto wide = q > D(0.41421356237309504880);
  D r = select(wide, (q - D(1.0)) / (q + D(1.0)), q);
  D z = r * r;
  D p = poly(z, 0.999999999999974329, -0.333333333308850705, 0.199999996148607592,
             -0.142856908878271234, 0.111103956545214747, -0.0907852381309986155,
             0.0756461003654185197, -0.0587775397364574195, 0.0307097349330906127);
  D a = select(wide, fma(p, r, D(0.78539816339744830962)), p * r);
  a = select(steep, D(1.57079632679489661923) - a, a);
  return select((x != x) | (y != y), nan<D>(), a);
}

/// Bits of 2/pi after the binary point.
inline constexpr uint32_t two_over_pi[10] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                             0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
                                             0xb7246e3a, 0x424dd2e0};
/// Reduces a finite |x| >= 2^24 modulo pi/2: x = (4 j + quadrant) pi/2 + r, |r| <= pi/4 (Payne and
/// Hanek).
static inline double reduce_huge(float x, int64_t* quadrant) {
  uint32_t b = __builtin_bit_cast(uint32_t, x) & 0x7fffffffu;
  int e = int(b >> 23) - 150;  // x = m 2^e, e >= 1
  uint64_t m = (b & 0x7fffffu) | 0x800000u;
  // Bits of 2/pi with weight above 2^(2 - e) only add multiples of 4: start the window there.
  int start = e - 2;
  uint32_t w[4];
  for (int i = 0; i < 4; ++i) {
    int bit = start + 32 * i;
    int word = bit >> 5;
    int shift = bit & 31;
    uint32_t hi = bit < 0 ? 0u : two_over_pi[word];
    uint32_t lo = two_over_pi[word + 1];
    w[i] = shift == 0 ? hi : (hi << shift) | (lo >> (32 - shift));
  }
  // m * w modulo 2^128, w's top two bits being the integer part modulo 4 for m = 1.
  uint64_t carry = 0;
  uint32_t p[4];
  for (int i = 3; i >= 0; --i) {
    uint64_t t = m * w[i] + carry;
    p[i] = uint32_t(t);
    carry = t >> 32;
  }
  uint64_t top = (uint64_t(p[0]) << 32) | p[1];
  uint64_t rest = (uint64_t(p[2]) << 32) | p[3];
  int64_t q = int64_t(top >> 62);
  uint64_t frac = (top << 2) | (rest >> 62);
  rest <<= 2;
  bool up = (frac >> 63) != 0;  // round to the nearest quadrant: fraction in [-1/2, 1/2)
  if (up) {
    ++q;
    frac = ~frac;
    rest = ~rest;
  }
  double r = double(frac) * 0x1p-64 + double(rest) * 0x1p-128;
  r = (up ? -r : r) * 1.57079632679489661923;
  *quadrant = q;
  return r;
}

/// sin (0), cos (1) or tan (2) of an f64 half whose lanes came from f32.
template <int Which, int N>
SINTER_FORCE_INLINE simd<double, N> sincos_d(simd<double, N> x) {
  using D = simd<double, N>;
  using L = simd<int64_t, N>;
  D a = abs(x);
  D n = round_small(a * D(0.63661977236758134308));
  D r = fma(n, D(-1.57079625129699707031), a);
  r = fma(n, D(-7.54978941586159635335e-8), r);
  r = fma(n, D(-5.39030285815811905290e-15), r);
  L q = bit_cast<int64_t>(n + D(6755399441055744.0));
  if (any(a >= D(16777216.0))) {
    for (int i = 0; i < N; ++i) {
      if (a.v[i] >= 16777216.0 && a.v[i] < __builtin_inf()) {
        int64_t k = 0;
        r.v[i] = reduce_huge(float(a.v[i]), &k);
        q.v[i] = k;
      }
    }
  }
  D z = r * r;
  D s = fma(
      r * z,
      poly(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0),
      r);
  D c = poly(z, 1.0, -0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
             -1.0 / 87178291200.0);
  const L one = L(int64_t(1));
  auto swap = mask_cast<double>((q & one) == one);
  D y;
  if constexpr (Which == 2) {
    y = select(swap, -c, s) / select(swap, s, c);
    y = bit_cast<double>(bit_cast<int64_t>(y) ^ (bit_cast<int64_t>(x) & sign_bit<double, N>()));
  } else {
    L k = Which == 1 ? q + one : q;
    auto flip = (k & one) == one;
    y = select(mask_cast<double>(flip), c, s);
    L sign = (k << 62) & sign_bit<double, N>();
    if constexpr (Which == 0) {
      sign = sign ^ (bit_cast<int64_t>(x) & sign_bit<double, N>());
    }
    y = bit_cast<double>(bit_cast<int64_t>(y) ^ sign);
  }
  return select(a < inf<D>(), y, nan<D>());
}
template <int Which, int N>
SINTER_FORCE_INLINE simd<float, N> sincos(simd<float, N> x) {
  simd<float, N> y = widen(x, [](auto d) { return sincos_d<Which>(d); });
  return Which == 1 ? y : select(x == simd<float, N>(0.0f), x, y);
}

/// x - trunc(x / y) y without rounding, by exact shifting subtraction on the bits.
static inline float fmod_scalar(float x, float y) {
  uint32_t ux = __builtin_bit_cast(uint32_t, x);
  uint32_t uy = __builtin_bit_cast(uint32_t, y) & 0x7fffffffu;
  const uint32_t sign = ux & 0x80000000u;
  ux &= 0x7fffffffu;
  if (uy == 0 || ux >= 0x7f800000u || uy > 0x7f800000u) {
    return __builtin_nanf("");
  }
  if (ux < uy) {
    return x;
  }
  if (ux < 0x4b800000u &&
      uy >= 0x3f800000u) {  // |x| < 2^24 <= 2^24 |y|: the f64 quotient is exact enough
    double dx = __builtin_bit_cast(float, ux);
    double dy = __builtin_bit_cast(float, uy);
    double r = dx - double(int64_t(dx / dy)) * dy;
    r = r < 0 ? r + dy : r;
    r = r >= dy ? r - dy : r;
    return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, float(r)) | sign);
  }
  int ex = int(ux >> 23);
  int ey = int(uy >> 23);
  uint64_t mx = ux & 0x7fffffu;
  uint64_t my = uy & 0x7fffffu;
  mx = ex == 0 ? mx : mx | 0x800000u;
  my = ey == 0 ? my : my | 0x800000u;
  ex = ex == 0 ? 1 : ex;
  ey = ey == 0 ? 1 : ey;
  for (int left = ex - ey; left > 0;) {
    const int step = left < 32 ? left : 32;
    mx = (mx << step) % my;
    left -= step;
  }
  mx %= my;
  if (mx == 0) {
    return __builtin_bit_cast(float, sign);
  }
  int e = ey;
  while (mx < 0x800000u && e > 1) {
    mx <<= 1;
    --e;
  }
  const uint32_t bits =
      mx < 0x800000u ? uint32_t(mx) : (uint32_t(e) << 23) | uint32_t(mx & 0x7fffffu);
  return __builtin_bit_cast(float, bits | sign);
}

}  // namespace detail

}  // namespace sinter::portable::SINTER_ISA
