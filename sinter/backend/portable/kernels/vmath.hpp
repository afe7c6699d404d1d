// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementary functions over simd<float, N> (within 2 ulp) and simd<double, N> (libm, lane by lane).
//
// The f32 functions keep C's special values: NaN in gives NaN out (except pow(x, 0) and pow(1, y)),
// infinities, signed zeros and denormals are right. The hot ones (exp, expm1, log, log1p, tanh,
// erf) work in f32; the rest run on two halves in f64 with short polynomials, which makes their
// accuracy a matter of one final rounding.
#pragma once

#include "sinter/backend/portable/kernels/vmath_core.hpp"

namespace sinter::portable::SINTER_ISA {

// ---- f32, hot ----

/// e^x.
template <int N>
SINTER_FORCE_INLINE simd<float, N> exp(simd<float, N> x) {
  using F = simd<float, N>;
  F c = select(x > F(89.0f), F(89.0f), x);
  c = select(c < F(-105.0f), F(-105.0f), c);
  F n = detail::round_small(c * F(1.44269504088896341f));
  F r = fma(n, F(-0.693359375f), c);
  r = fma(n, F(2.12194440e-4f), r);
  F p = detail::poly(r, 0.499999935262077971f, 0.166665203462132389f, 0.0416683483191370659f,
                     0.00836875474575416137f, 0.00138174847270795706f);
  p = fma(r * r, p, r) + F(1.0f);
  return detail::scale2(p, n);
}

/// e^x - 1, accurate near zero.
template <int N>
SINTER_FORCE_INLINE simd<float, N> expm1(simd<float, N> x) {
  using F = simd<float, N>;
  F c = select(x > F(89.0f), F(89.0f), x);
  c = select(c < F(-30.0f), F(-30.0f), c);
  F n = detail::round_small(c * F(1.44269504088896341f));
  F r = fma(n, F(-0.693359375f), c);
  r = fma(n, F(2.12194440e-4f), r);
  F p = detail::poly(r, 0.500000004396611964f, 0.166666663472644227f, 0.0416663610578763883f,
                     0.00833339427385274911f, 0.00139406455425088235f, 0.000198434870531241563f);
  p = fma(r * r, p, r);
  F half = detail::pow2(n - F(1.0f));
  F y = fma(half, p, half - F(0.5f));
  y = y + y;
  return select((n == F(0.0f)) | (x != x), select(x == F(0.0f), x, p), y);
}

namespace detail {
/// log(x) + extra for positive finite x.
template <int N>
SINTER_FORCE_INLINE simd<float, N> log_core(simd<float, N> x, simd<float, N> extra) {
  using F = simd<float, N>;
  using I = simd<int32_t, N>;
  auto tiny = x < F(1.17549435e-38f);
  x = select(tiny, x * F(16777216.0f), x);
  I b = bit_cast<int32_t>(x);
  I e = (b - I(0x3f3504f3)) >> 23;
  F f = bit_cast<float>(b - (e << 23)) - F(1.0f);
  F n = convert<float>(e) - select(tiny, F(24.0f), F(0.0f));
  F p = poly(f, 0.333333125565443059f, -0.250000096964598377f, 0.20002123159999346f,
             -0.166679956053043688f, 0.142194533082477854f, -0.124055149332375103f,
             0.118888088014538251f, -0.116763818065905197f, 0.0674615223178644978f);
  F f2 = f * f;
  F tail = fma(f2 * f, p, fma(n, F(-2.12194440e-4f), extra));
  tail = fma(F(-0.5f), f2, tail);
  return fma(n, F(0.693359375f), f + tail);
}
}  // namespace detail

/// Natural logarithm: log(0) = -inf, negative gives NaN.
template <int N>
SINTER_FORCE_INLINE simd<float, N> log(simd<float, N> x) {
  using F = simd<float, N>;
  F y = detail::log_core(x, F(0.0f));
  y = select(x > F(0.0f), y, detail::nan<F>());
  y = select(x == F(0.0f), -detail::inf<F>(), y);
  return select((x == detail::inf<F>()) | (x != x), x, y);
}

/// log(1 + x), accurate near zero.
template <int N>
SINTER_FORCE_INLINE simd<float, N> log1p(simd<float, N> x) {
  using F = simd<float, N>;
  F u = x + F(1.0f);
  F big = max(x, F(1.0f));
  F small = select(x > F(1.0f), F(1.0f), x);
  F c = (small - (u - big)) / u;
  F y = detail::log_core(u, c);
  auto near = (u == F(1.0f));
  y = select(near, x, y);
  y = select(x > F(-1.0f), y, detail::nan<F>());
  y = select(x == F(-1.0f), -detail::inf<F>(), y);
  return select((x == detail::inf<F>()) | (x != x), x, y);
}

/// Hyperbolic tangent.
template <int N>
SINTER_FORCE_INLINE simd<float, N> tanh(simd<float, N> x) {
  using F = simd<float, N>;
  F a = abs(x);
  F z = a * a;
  F s = detail::poly(z, -0.333332818724527329f, 0.133314391953742037f, -0.0537394639967929731f,
                     0.0206383571555932917f, -0.00570429514791606788f);
  s = fma(x * z, s, x);
  F e = exp(min(F(10.0f), a) * F(2.0f));
  F l = F(1.0f) - F(2.0f) / (e + F(1.0f));
  return select(x != x, x, copysign(select(a < F(0.625f), s, l), x));
}

/// Error function.
template <int N>
SINTER_FORCE_INLINE simd<float, N> erf(simd<float, N> x) {
  using F = simd<float, N>;
  F a = abs(x);
  F z = a * a;
  F s = detail::poly(z, 0.1283791666453588f, -0.376126338148368484f, 0.112836967438041534f,
                     -0.0268594684295437588f, 0.00520120789503131527f, -0.000814470926611991288f,
                     0.0000837861703331021441f);
  s = fma(x, s, x);
  F t = min(F(3.95f), a);
  F g =
      detail::poly(t, 0.000160600066688050208f, -1.12943518229228206f, -0.633540967700199835f,
                   -0.108015216805698081f, 0.0248978055604774492f, -0.00405473829929500609f,
                   0.000397081183456717727f, -0.0000143741765073197077f, -5.17392327833476772e-7f);
  F l = copysign(F(1.0f) - exp(g), x);
  return select(x != x, x, select(a < F(0.92f), s, l));
}

// ---- f32, through f64 ----

/// 2^x.
template <int N>
SINTER_FORCE_INLINE simd<float, N> exp2(simd<float, N> x) {
  return detail::widen(x, [](auto d) { return detail::exp2_d(d); });
}
/// Base-2 logarithm.
template <int N>
SINTER_FORCE_INLINE simd<float, N> log2(simd<float, N> x) {
  return detail::log_through(x, 1.44269504088896340736);
}
/// Base-10 logarithm.
template <int N>
SINTER_FORCE_INLINE simd<float, N> log10(simd<float, N> x) {
  return detail::log_through(x, 0.434294481903251827651);
}
/// x^y by C99's rules: pow(x, 0) = 1, pow(1, y) = 1, negative x with an integer y, signed zeros and
/// infinities.
template <int N>
SINTER_FORCE_INLINE simd<float, N> pow(simd<float, N> x, simd<float, N> y) {
  using F = simd<float, N>;
  F ax = abs(x);
  F r = detail::widen(ax, y, [](auto a, auto b) {
    using D = decltype(a);
    D l = detail::log_d(a);
    l = select(a == D(0.0), -detail::inf<D>(), l);
    l = select(a == detail::inf<D>(), detail::inf<D>(), l);
    return detail::exp_d(b * l);
  });
  r = select((x != x) | (y != y), detail::nan<F>(), r);
  auto integer = trunc(y) == y;
  F half = y * F(0.5f);
  auto odd = integer & (trunc(half) != half) & (abs(y) < F(16777216.0f));
  auto negative = bit_cast<int32_t>(x) < simd<int32_t, N>(0);
  auto neg = mask_cast<float>(negative);
  r = select(neg & odd, -r, r);
  r = select((x < F(0.0f)) & !integer & (ax != detail::inf<F>()), detail::nan<F>(), r);
  r = select((ax == F(1.0f)) & (abs(y) == detail::inf<F>()), F(1.0f), r);
  return select((y == F(0.0f)) | (x == F(1.0f)), F(1.0f), r);
}
/// Sine, any finite argument.
template <int N>
SINTER_FORCE_INLINE simd<float, N> sin(simd<float, N> x) {
  return detail::sincos<0>(x);
}
/// Cosine, any finite argument.
template <int N>
SINTER_FORCE_INLINE simd<float, N> cos(simd<float, N> x) {
  return detail::sincos<1>(x);
}
/// Tangent, any finite argument.
template <int N>
SINTER_FORCE_INLINE simd<float, N> tan(simd<float, N> x) {
  return detail::sincos<2>(x);
}
/// Inverse tangent.
template <int N>
SINTER_FORCE_INLINE simd<float, N> atan(simd<float, N> x) {
  return select(x == simd<float, N>(0.0f), x, detail::widen(x, [](auto d) {
                  using D = decltype(d);
                  return copysign(detail::atan2_d(abs(d), D(1.0)), d);
                }));
}
/// Angle of the point (x, y), in [-pi, pi].
template <int N>
SINTER_FORCE_INLINE simd<float, N> atan2(simd<float, N> y, simd<float, N> x) {
  return detail::widen(y, x, [](auto b, auto a) {
    using D = decltype(a);
    D r = detail::atan2_d(abs(b), abs(a));
    auto neg = mask_cast<double>(bit_cast<int64_t>(a) < simd<int64_t, D::size>(int64_t(0)));
    r = select(neg, D(3.14159265358979323846) - r, r);
    r = copysign(r, b);
    return select((a != a) | (b != b), detail::nan<D>(), r);
  });
}
/// Inverse sine; NaN outside [-1, 1].
template <int N>
SINTER_FORCE_INLINE simd<float, N> asin(simd<float, N> x) {
  using F = simd<float, N>;
  F r = detail::widen(x, [](auto d) {
    using D = decltype(d);
    D c = detail::sqrt_any((D(1.0) - d) * (D(1.0) + d));
    return copysign(detail::atan2_d(abs(d), c), d);
  });
  r = select(abs(x) <= F(1.0f), r, detail::nan<F>());
  return select(x == F(0.0f), x, r);
}
/// Inverse cosine; NaN outside [-1, 1].
template <int N>
SINTER_FORCE_INLINE simd<float, N> acos(simd<float, N> x) {
  using F = simd<float, N>;
  F r = detail::widen(x, [](auto d) {
    using D = decltype(d);
    D c = detail::sqrt_any((D(1.0) - d) * (D(1.0) + d));
    D t = detail::atan2_d(c, abs(d));
    return select(d < D(0.0), D(3.14159265358979323846) - t, t);
  });
  return select(abs(x) <= F(1.0f), r, detail::nan<F>());
}
/// Hyperbolic sine.
template <int N>
SINTER_FORCE_INLINE simd<float, N> sinh(simd<float, N> x) {
  return detail::widen(x, [](auto d) {
    using D = decltype(d);
    D z = d * d;
    D s = d * detail::poly(z, 1.0, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800);
    D e = detail::exp_d(d);
    return select(abs(d) < D(0.5), s, D(0.5) * (e - D(1.0) / e));
  });
}
/// Hyperbolic cosine.
template <int N>
SINTER_FORCE_INLINE simd<float, N> cosh(simd<float, N> x) {
  return detail::widen(x, [](auto d) {
    using D = decltype(d);
    D e = detail::exp_d(d);
    return D(0.5) * (e + D(1.0) / e);
  });
}
/// Inverse hyperbolic sine.
template <int N>
SINTER_FORCE_INLINE simd<float, N> asinh(simd<float, N> x) {
  using F = simd<float, N>;
  F r = detail::widen(x, [](auto d) {
    using D = decltype(d);
    D a = abs(d);
    D l = detail::log_d(a + detail::sqrt_any(a * a + D(1.0)));
    D s = fma(a * a * a, D(-1.0 / 6), a);
    return copysign(select(a < D(1e-3), s, l), d);
  });
  return select((abs(x) == detail::inf<F>()) | (x != x), x, r);
}
/// Inverse hyperbolic cosine; NaN below 1.
template <int N>
SINTER_FORCE_INLINE simd<float, N> acosh(simd<float, N> x) {
  using F = simd<float, N>;
  F r = detail::widen(x, [](auto d) {
    using D = decltype(d);
    return detail::log_d(d + detail::sqrt_any((d - D(1.0)) * (d + D(1.0))));
  });
  r = select(x >= F(1.0f), r, detail::nan<F>());
  return select(x == detail::inf<F>(), x, r);
}
/// Inverse hyperbolic tangent; ±inf at ±1, NaN outside.
template <int N>
SINTER_FORCE_INLINE simd<float, N> atanh(simd<float, N> x) {
  using F = simd<float, N>;
  F r = detail::widen(x, [](auto d) {
    using D = decltype(d);
    D l = D(0.5) * detail::log_d((D(1.0) + d) / (D(1.0) - d));
    D z = d * d;
    D s = d * detail::poly(z, 1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7);
    return select(abs(d) < D(0.015), s, l);
  });
  r = select(abs(x) < F(1.0f), r, detail::nan<F>());
  return select(abs(x) == F(1.0f), copysign(detail::inf<F>(), x), r);
}

// ---- f64: libm per lane ----

#define SINTER_LIBM1(name)                                      \
  template <int N>                                              \
  SINTER_FORCE_INLINE simd<double, N> name(simd<double, N> x) { \
    simd<double, N> r;                                          \
    for (int i = 0; i < N; ++i) {                               \
      r.v[i] = __builtin_##name(x.v[i]);                        \
    }                                                           \
    return r;                                                   \
  }
#define SINTER_LIBM2(name)                                                         \
  template <int N>                                                                 \
  SINTER_FORCE_INLINE simd<double, N> name(simd<double, N> x, simd<double, N> y) { \
    simd<double, N> r;                                                             \
    for (int i = 0; i < N; ++i) {                                                  \
      r.v[i] = __builtin_##name(x.v[i], y.v[i]);                                   \
    }                                                                              \
    return r;                                                                      \
  }
SINTER_LIBM1(exp)
SINTER_LIBM1(exp2)
SINTER_LIBM1(expm1)
SINTER_LIBM1(log)
SINTER_LIBM1(log2)
SINTER_LIBM1(log10)
SINTER_LIBM1(log1p)
SINTER_LIBM1(tanh)
SINTER_LIBM1(erf)
SINTER_LIBM1(sin)
SINTER_LIBM1(cos)
SINTER_LIBM1(tan)
SINTER_LIBM1(asin)
SINTER_LIBM1(acos)
SINTER_LIBM1(atan)
SINTER_LIBM1(sinh)
SINTER_LIBM1(cosh)
SINTER_LIBM1(asinh)
SINTER_LIBM1(acosh)
SINTER_LIBM1(atanh)
SINTER_LIBM2(pow)
SINTER_LIBM2(atan2)
SINTER_LIBM2(fmod)
SINTER_LIBM2(hypot)
#undef SINTER_LIBM1
#undef SINTER_LIBM2

/// sqrt(x² + y²) without overflow in between; inf wins over NaN.
template <int N>
SINTER_FORCE_INLINE simd<float, N> hypot(simd<float, N> x, simd<float, N> y) {
  using F = simd<float, N>;
  F r = detail::widen(x, y, [](auto a, auto b) { return detail::sqrt_any(a * a + b * b); });
  return select(is_inf(x) | is_inf(y), detail::inf<F>(), r);
}
/// Remainder of x / y with the sign of x (exact).
template <int N>
SINTER_FORCE_INLINE simd<float, N> fmod(simd<float, N> x, simd<float, N> y) {
  simd<float, N> r;
  for (int i = 0; i < N; ++i) {
    r.v[i] = detail::fmod_scalar(x.v[i], y.v[i]);
  }
  return r;
}

/// The same functions under one qualified name, for carrier-generic formulas.
namespace math {
using SINTER_ISA::abs, SINTER_ISA::acos, SINTER_ISA::acosh, SINTER_ISA::asin, SINTER_ISA::asinh;
using SINTER_ISA::atan, SINTER_ISA::atan2, SINTER_ISA::atanh, SINTER_ISA::ceil;
using SINTER_ISA::copysign, SINTER_ISA::cos, SINTER_ISA::cosh, SINTER_ISA::erf, SINTER_ISA::exp;
using SINTER_ISA::exp2, SINTER_ISA::expm1, SINTER_ISA::floor, SINTER_ISA::fma, SINTER_ISA::fmod,
    SINTER_ISA::hypot;
using SINTER_ISA::is_inf, SINTER_ISA::is_nan, SINTER_ISA::log, SINTER_ISA::log10;
using SINTER_ISA::log1p, SINTER_ISA::log2, SINTER_ISA::maximum, SINTER_ISA::minimum;
using SINTER_ISA::pow, SINTER_ISA::round, SINTER_ISA::rsqrt, SINTER_ISA::sin, SINTER_ISA::sinh;
using SINTER_ISA::sqrt, SINTER_ISA::tan, SINTER_ISA::tanh, SINTER_ISA::trunc;
}  // namespace math

}  // namespace sinter::portable::SINTER_ISA
