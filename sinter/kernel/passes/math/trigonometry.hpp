// SPDX-License-Identifier: MIT OR Apache-2.0
// Trigonometric functions and their inverses.
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

/// pi/2 in three pieces.
struct HalfPi {
  double high, low, rest;
};
inline const HalfPi& half_pi(Val x) {
  static constexpr HalfPi single{1.57079637050628662109375, -4.37113882867379288655e-8,
                                 -1.71512451000588187280e-15};
  static constexpr HalfPi wide{1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33};
  return format_of(x).bits == 64 ? wide : single;
}

/// x = quadrant pi/2 + high + low with |high| <= pi/4.
struct Reduced {
  Val high;
  Val low;
  Val quadrant;  ///< an integer, of which the low two bits count
};

/// Four words of 2/pi from bit `at` on, a word of zeros being put before its first.
inline std::array<Val, 4> bits_of_two_over_pi(Val at) {
  static constexpr std::uint64_t digits[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
      0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
      0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
      0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
      0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
  const bool is_wide = format_of(at).bits == 64;
  // The highest `at` is 134 in words of 32 bits, and 1033 in words of 64.
  const std::size_t count = is_wide ? 20 : 8;
  std::array<Val, 20> word;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t digit = i == 0       ? 0
                                : is_wide    ? digits[i - 1]
                                : i % 2 == 1 ? digits[i / 2] >> 32
                                             : digits[i / 2 - 1] & 0xffffffff;
    word[i] = Val(dsl::Recorder::current().constant(at.type(), digit));
  }
  for (std::size_t step = is_wide ? 16 : 4; step > 0; step /= 2) {
    const Val skip = (at & lit(static_cast<double>(step) * format_of(at).bits)) != 0_k;
    for (std::size_t i = 0; i < step + 3 && i + step < count; ++i) {
      word[i] = select(skip, word[i + step], word[i]);
    }
  }
  return {word[0], word[1], word[2], word[3]};
}

/// Three words: the product of m and the bits of 2/pi from `at` on, modulo 4 quadrants.
inline std::array<Val, 3> times_two_over_pi(Val m, Val at) {
  const std::array<Val, 4> word = bits_of_two_over_pi(at);
  const int last = format_of(m).bits - 1;
  const Val shift = at & lit(last);
  std::array<Val, 3> w;
  for (std::size_t i = 0; i < 3; ++i) {
    w[i] = (word[i] << shift) | ((word[i + 1] >> 1_k) >> (lit(last) - shift));
  }
  const auto high = [&](Val v) { return dsl::apply(Op::mul_high, {m, v}); };
  const Val middle = m * w[1] + high(w[2]);
  const Val carry = select(middle < high(w[2]), like(m, 1), 0_k);
  return {m * w[0] + high(w[1]) + carry, middle, m * w[2]};
}

/// Reduces a finite x >= 2^17.
inline Reduced reduce_huge(Val x) {
  const Format& format = format_of(x);
  const Val exponent = bits(x) >> lit(format.fraction);
  const Val m = bits(x) - to_exponent(exponent - 1_k);
  // x = m 2^(exponent - bias - fraction); bits of 2/pi that are too high only add multiples of 4.
  const Val at = exponent - lit(format.bias + format.fraction + 2 - format.bits);
  const auto [p0, p1, p2] = times_two_over_pi(m, at);
  // Two bits of quadrant, then two words of fraction, rounded to the nearest: in [-1/2, 1/2).
  const Val down = lit(format.bits - 2);
  const Val up = ((p0 >> lit(format.bits - 3)) & 1_k) != 0_k;
  const Val frac = (p0 << 2_k) | (p1 >> down);
  const Val rest = (p1 << 2_k) | (p2 >> down);
  const Val f = select(up, ~frac, frac);
  const Val g = select(up, ~rest, rest);
  const Val low_bits = lit(by(x, 0xff, 0x7ff));  // what a float has no room for
  const double word = by(x, 0x1p-32, 0x1p-64);
  const Val first = number(f - (f & low_bits)) * lit(word);
  const Val second = fma(number(g), lit(word * word), number(f & low_bits) * lit(word));
  const HalfPi& pi = half_pi(x);
  const Pair product = exact_product(first, like(x, pi.high));
  const Pair r =
      quick_sum(product.high, fma(first, lit(pi.low), fma(second, lit(pi.high), product.low)));
  return {select(up, -r.high, r.high), select(up, -r.low, r.low),
          (p0 >> down) + select(up, like(m, 1), 0_k)};
}

/// Reduces any x >= 0; infinities give NaN.
inline Reduced reduce(Val a) {
  const HalfPi& pi = half_pi(a);
  const Rounded whole = round_product(a, 0.63661977236758134308, 0);
  const Val first = fma(whole.n, lit(-pi.high), a);  // exact
  const Pair second = exact_product(whole.n, like(a, -pi.low));
  const Pair r = exact_sum(first, second.high);
  const Cell high(r.high), low(fma(whole.n, lit(-pi.rest), r.low + second.low));
  const Cell quadrant(whole.bits);
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
  const Val p = poly(z, {-0.166666531922889005, 0.0083320708856534453, -0.000195030689354683706},
                     {-0.1666666666666663, 0.008333333333322104, -0.0001984126982957809,
                      2.7557313617240504e-06, -2.50507470885519e-08, 1.5896189693580408e-10});
  return r.high + fma(r.high * z, p, r.low);
}
inline Val cos_near(const Reduced& r) {
  const Val z = r.high * r.high;
  const Val p = poly(z, {0.0416666431829051004, -0.00138871942304575781, 0.0000244191967878008055},
                     {0.041666666666666595, -0.0013888888888873036, 2.480158728883919e-05,
                      -2.755731417557684e-07, 2.087570032249618e-09, -1.1358508926373071e-11});
  return fma(z * z, p, fma(lit(-0.5), z, 1_k)) - r.high * r.low;
}

/// sin or cos of what was reduced, by the quadrant; `sign` is xored into the sign bit.
inline Val by_quadrant(const Reduced& r, Val quadrant, Val sign) {
  const Val y = select((quadrant & 1_k) != 0_k, cos_near(r), sin_near(r));
  const Format& format = format_of(y);
  return real(bits(y) ^ ((quadrant << lit(format.bits - 2)) & lit(format.sign)) ^ sign);
}

/// atan(q) for 0 <= q <= 1.
inline Val atan_near(Val q) {
  const Val z = q * q;
  const Val p =
      poly(z,
           {-0.33333326899896449, 0.199996711174246721, -0.142798328535050381, 0.110582219363574932,
            -0.0881108387932429092, 0.067415787639227104, -0.0446896712899010047,
            0.0225396303596222131, -0.00731784291859668432, 0.00111376571142285309},
           {-0.3333333333333307,     0.19999999999951473,    -0.14285714282575848,
            0.11111111007045574,     -0.09090907003297762,   0.07692279842498041,
            -0.06666404081233868,    0.05880527943015918,    -0.05253519079963146,
            0.04722323883897398,     -0.042191830653573174,  0.036641990337134535,
            -0.029903978891594563,   0.021984995836461706,   -0.013900690243303008,
            0.0071965930942977895,   -0.0028849638423766957, 0.0008313376346744077,
            -0.00015216424547629642, 1.3225411156468814e-05});
  return fma(q * z, p, q);
}

/// pi / 2 - x and pi - x.
inline Val from_half_pi(Val x) { return lit(half_pi(x).high) - (x - lit(half_pi(x).low)); }
inline Val from_pi(Val x) { return lit(2 * half_pi(x).high) - (x - lit(2 * half_pi(x).low)); }

/// (asin(s) - s) / s for s² = z <= 1/4.
inline Val asin_factor(Val z) {
  return z *
         poly(z,
              {0.166667524817362603, 0.0749529765152142789, 0.0454703750762038988,
               0.0241795183244928766, 0.0421663033385631797},
              {0.1666666666666676, 0.07499999999970806, 0.04464285717460689, 0.03038194270798017,
               0.02237221498320072, 0.01735161207680289, 0.013980819958608488, 0.01139891586660971,
               0.010780238105802895, 0.003706445325214621, 0.021707398002955763,
               -0.02099904233593521, 0.0326286382352595});
}

}  // namespace detail

/// Sine.
inline Val sin(Val x) {
  const detail::Reduced r = detail::reduce(abs(x));
  const Val y = detail::by_quadrant(r, r.quadrant, sign_of(x));
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
      z,
      {0.333333556121132513, 0.133324577369247096, 0.054083610665032828, 0.0211580524195933971,
       0.0111616030467824798, -0.000327864243021936049, 0.00458402837848374838},
      {0.33333333333332776, 0.1333333333341456, 0.053968253926696644, 0.021869489608351254,
       0.008863219172763937, 0.003592289008532279, 0.0014547583512579394, 0.0005950633056689316,
       0.00022238359585582243, 0.00013651846572553867, -2.6376982882068265e-05,
       8.944448998383067e-05, -4.4872597812891346e-05, 2.086236499591022e-05});
  const Pair t = quick_sum(r.high, fma(r.high * z, p, fma(r.low, z, r.low)));
  // -1 / t, corrected for what both roundings lost.
  const Val inverse = lit(-1) / t.high;
  const Val rest = fma(inverse, t.low, fma(inverse, t.high, 1_k));
  const Val odd = fma(inverse, rest, inverse);
  const Val y = select((r.quadrant & 1_k) != 0_k, odd, t.high);
  return select(x == 0_k, x, real(bits(y) ^ sign_of(x)));
}

/// Inverse sine; NaN beyond 1. Above 1/2 from the half angle: pi/2 - 2 asin(sqrt((1 - |x|) / 2)).
inline Val asin(Val x) {
  const Val a = abs(x);
  const Val far = a > 0.5_k;
  const Val z = select(far, fma(lit(-0.5), a, 0.5_k), a * a);
  const Val s = select(far, sqrt(z), a);
  const Val factor = detail::asin_factor(z);
  const Val twice = s + s;
  const Pair rest = quick_sum(like(x, detail::half_pi(x).high), -twice);
  const Val outer = rest.high + (fma(-twice, factor, lit(detail::half_pi(x).low)) + rest.low);
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
  const Val angle = select(counted_bits(x) < 0_k, detail::from_pi(half), half);
  return select(is_nan(x) | is_nan(y), lit(not_a_number), copysign(angle, y));
}

}  // namespace sinter::ir::math
