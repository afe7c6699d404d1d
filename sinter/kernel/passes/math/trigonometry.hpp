// SPDX-License-Identifier: MIT OR Apache-2.0
// Trigonometric functions and their inverses on f32 values, all within 2 ulp.
//
// |x| < 2^17 is reduced modulo pi/2 by three pieces of it (Cody and Waite), which fused multiplies
// make exact to a rounding. For larger ones all lanes take the bits of 2/pi that matter (Payne and
// Hanek) in a block that is entered if any lane needs it.
#pragma once

#include <array>

#include "sinter/kernel/passes/math/cell.hpp"
#include "sinter/kernel/passes/math/parts.hpp"

namespace sinter::ir::math {

namespace detail {

inline constexpr double half_pi_high = 1.57079637050628662109375;
inline constexpr double half_pi_low = -4.37113882867379288655e-8;
inline constexpr double half_pi_rest = -1.71512451000588187280e-15;

/// x = quadrant pi/2 + high + low with |high| <= pi/4.
struct Reduced {
  Val high;
  Val low;
  Val quadrant;  ///< u32, of which the low two bits count
};

/// The 128 bits of 2/pi from bit `at` on, 32 zeros being put before its first.
inline std::array<Val, 4> bits_of_two_over_pi(Val at) {
  static constexpr std::uint32_t digits[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                             0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  std::array<Val, 8> word;
  for (std::size_t i = 0; i < word.size(); ++i) {
    word[i] = like(at, digits[i]);
  }
  for (std::size_t step = 4; step > 0; step /= 2) {
    const Val skip = (at & lit(static_cast<double>(32 * step))) != 0_k;
    for (std::size_t i = 0; i < 2 + step && i + step < word.size(); ++i) {
      word[i] = select(skip, word[i + step], word[i]);
    }
  }
  return {word[0], word[1], word[2], word[3]};
}

/// Reduces a finite x >= 2^17.
inline Reduced reduce_huge(Val x) {
  const Val b = bits(x);
  const Val m = (b & 0x7fffff_k) | 0x800000_k;
  // x = m 2^(e - 150); the bits of 2/pi above 2^(152 - e) only add multiples of 4.
  const Val at = (b >> 23_k) - 120_k;
  const std::array<Val, 4> word = bits_of_two_over_pi(at);
  const Val shift = at & 31_k;
  std::array<Val, 3> w;
  for (std::size_t i = 0; i < 3; ++i) {
    w[i] = (word[i] << shift) | ((word[i + 1] >> 1_k) >> (31_k - shift));
  }
  const auto high = [&](Val v) { return dsl::apply(Op::mul_high, {m, v}); };
  const Val p1 = m * w[1] + high(w[2]);
  const Val carry = select(p1 < high(w[2]), like(b, 1), 0_k);
  const Val p0 = m * w[0] + high(w[1]) + carry;
  // Two bits of quadrant, then 64 of fraction, rounded to the nearest: in [-1/2, 1/2).
  const Val frac = (p0 << 2_k) | (p1 >> 30_k);
  const Val rest = (p1 << 2_k) | ((m * w[2]) >> 30_k);
  const Val up = frac >= 0x80000000_k;
  const Val f = select(up, ~frac, frac);
  const Val g = select(up, ~rest, rest);
  const auto number = [](Val v) { return dsl::convert(v, DType::f32); };
  const Val first = number(f & 0xffffff00_k) * lit(0x1p-32);
  const Val second = fma(number(g), lit(0x1p-64), number(f & 0xff_k) * lit(0x1p-32));
  const Pair product = exact_product(first, like(x, half_pi_high));
  const Pair r = quick_sum(
      product.high, fma(first, lit(half_pi_low), fma(second, lit(half_pi_high), product.low)));
  return {select(up, -r.high, r.high), select(up, -r.low, r.low),
          (p0 >> 30_k) + select(up, like(b, 1), 0_k)};
}

/// Reduces any |x|; infinities give NaN.
inline Reduced reduce(Val a) {
  const Val whole = fma(a, lit(0.63661977236758134308), lit(rounder));
  const Val n = whole - lit(rounder);
  const Val first = fma(n, lit(-half_pi_high), a);  // exact
  const Pair second = exact_product(n, like(a, -half_pi_low));
  const Pair r = exact_sum(first, second.high);
  const Cell high(r.high), low(fma(n, lit(-half_pi_rest), r.low + second.low));
  const Cell quadrant(bits(whole));
  const Val large = a >= lit(0x1p17);
  KERNEL_IF (any_lane(large)) {
    const Reduced huge = reduce_huge(a);
    const Val take = large & (a < lit(infinity));
    high.set(select(take, huge.high, high.get()));
    low.set(select(take, huge.low, low.get()));
    quadrant.set(select(take, huge.quadrant, quadrant.get()));
  }
  return {high.get(), low.get(), quadrant.get()};
}

/// sin for |r| <= pi/4.
inline Val sin_near(const Reduced& r) {
  const Val z = r.high * r.high;
  const Val p = poly(z, {-0.166666531922889005, 0.0083320708856534453, -0.000195030689354683706});
  return r.high + fma(r.high * z, p, r.low);
}
inline Val cos_near(const Reduced& r) {
  const Val z = r.high * r.high;
  const Val p = poly(z, {0.0416666431829051004, -0.00138871942304575781, 0.0000244191967878008055});
  return fma(z * z, p, fma(lit(-0.5), z, 1_k)) - r.high * r.low;
}

/// sin or cos of the reduced by the quadrant; `sign` is xored into the sign bit.
inline Val by_quadrant(const Reduced& r, Val quadrant, Val sign) {
  const Val y = select((quadrant & 1_k) != 0_k, cos_near(r), sin_near(r));
  return real(bits(y) ^ ((quadrant << 30_k) & lit(0x80000000)) ^ sign);
}

/// atan(q) for 0 <= q <= 1.
inline Val atan_near(Val q) {
  const Val z = q * q;
  const Val p = poly(
      z, {-0.33333326899896449, 0.199996711174246721, -0.142798328535050381, 0.110582219363574932,
          -0.0881108387932429092, 0.067415787639227104, -0.0446896712899010047,
          0.0225396303596222131, -0.00731784291859668432, 0.00111376571142285309});
  return fma(q * z, p, q);
}

/// pi / 2 - x and pi - x.
inline Val from_half_pi(Val x) { return lit(half_pi_high) - (x - lit(half_pi_low)); }
inline Val from_pi(Val x) { return lit(2 * half_pi_high) - (x - lit(2 * half_pi_low)); }

/// (asin(s) - s) / s for s² = z <= 1/4.
inline Val asin_factor(Val z) {
  return z * poly(z, {0.166667524817362603, 0.0749529765152142789, 0.0454703750762038988,
                      0.0241795183244928766, 0.0421663033385631797});
}

}  // namespace detail

/// Sine.
inline Val sin(Val x) {
  const detail::Reduced r = detail::reduce(abs(x));
  const Val y = detail::by_quadrant(r, r.quadrant, bits(x) & lit(0x80000000));
  return select(x == 0_k, x, y);
}

/// Cosine.
inline Val cos(Val x) {
  const detail::Reduced r = detail::reduce(abs(x));
  return detail::by_quadrant(r, r.quadrant + 1_k, like(bits(x), 0));
}

/// Tangent.
inline Val tan(Val x) {
  const detail::Reduced r = detail::reduce(abs(x));
  const Val z = r.high * r.high;
  const Val p = poly(
      z, {0.333333556121132513, 0.133324577369247096, 0.054083610665032828, 0.0211580524195933971,
          0.0111616030467824798, -0.000327864243021936049, 0.00458402837848374838});
  const Val t = r.high + fma(r.high * z, p, fma(r.low, z, r.low));
  const Val y = select((r.quadrant & 1_k) != 0_k, lit(-1) / t, t);
  return select(x == 0_k, x, real(bits(y) ^ (bits(x) & lit(0x80000000))));
}

/// Inverse sine; NaN beyond 1. Above 1/2 from the half angle: pi/2 - 2 asin(sqrt((1 - |x|) / 2)).
inline Val asin(Val x) {
  const Val a = abs(x);
  const Val far = a > 0.5_k;
  const Val z = select(far, fma(lit(-0.5), a, 0.5_k), a * a);
  const Val s = select(far, sqrt(z), a);
  const Val factor = detail::asin_factor(z);
  const Val twice = s + s;
  const Pair rest = quick_sum(like(x, detail::half_pi_high), -twice);
  const Val outer = rest.high + (fma(-twice, factor, lit(detail::half_pi_low)) + rest.low);
  return copysign(select(far, outer, fma(s, factor, s)), x);
}

/// Inverse cosine; NaN beyond 1.
inline Val acos(Val x) {
  const Val a = abs(x);
  const Val far = a > 0.5_k;
  const Val z = select(far, fma(lit(-0.5), a, 0.5_k), a * a);
  const Val s = select(far, sqrt(z), x);
  const Val y = fma(s, detail::asin_factor(z), s);
  const Val outer = select(x < 0_k, detail::from_pi(y + y), y + y);
  return select(far, outer, detail::from_half_pi(y));
}

/// Inverse tangent.
inline Val atan(Val x) {
  const Val a = abs(x);
  const Val steep = a > 1_k;
  const Val y = detail::atan_near(select(steep, 1_k / a, a));
  return copysign(select(steep, detail::from_half_pi(y), y), x);
}

/// Angle of the point (x, y), in [-pi, pi].
inline Val atan2(Val y, Val x) {
  const Val b = abs(y);
  const Val a = abs(x);
  const Val steep = b > a;
  const Val less = select(steep, a, b);
  const Val more = select(steep, b, a);
  const Val q = select(less == lit(infinity), 1_k, select(more == 0_k, more, less / more));
  const Val near = detail::atan_near(q);
  const Val half = select(steep, detail::from_half_pi(near), near);
  const Val angle = select(bits(x, DType::i32) < 0_k, detail::from_pi(half), half);
  return select(is_nan(x) | is_nan(y), lit(not_a_number), copysign(angle, y));
}

}  // namespace sinter::ir::math
