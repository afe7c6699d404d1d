// SPDX-License-Identifier: MIT OR Apache-2.0
// Instructions that a device may lack and that have an exact replacement.
#pragma once

#include "sinter/kernel/passes/math/cell.hpp"
#include "sinter/kernel/passes/math/parts.hpp"

namespace sinter::ir::math {

namespace detail {

/// |x| modulo |y| by long division on their bits, as many bits of the quotient a step as the
/// significand leaves room for.
inline Val rem_lane(Val x, Val y) {
  const Format& format = format_of(x);
  const Val a = magnitude_of(x);
  const Val b = magnitude_of(y);
  const Val implicit = to_exponent(like(a, 1));
  const auto exponent = [&](Val v) {
    const Val e = v >> lit(format.fraction);
    return select(e == 0_k, 1_k, e);
  };
  // Without the implicit one where the number is denormal.
  const auto significand = [&](Val v) {
    return select(v < implicit, v, (v & (implicit - 1_k)) | implicit);
  };
  const Val divisor = significand(b);
  const Val e = exponent(b);
  const Val inf = bits(like(x, infinity));
  const Val none = (b == 0_k) | (a >= inf) | (b > inf);
  const Cell result(select(none, bits(like(x, not_a_number)), a));
  KERNEL_IF (dsl::Expr<bool>((!none) & (a >= b))) {
    const Val most = lit(format.bits - format.fraction - 1);
    const Cell rest(significand(a)), left(exponent(a) - e);
    for ([[maybe_unused]] const int round : dsl::forever()) {
      rest.set(rest.get() % divisor);
      dsl::break_if(dsl::Expr<bool>(left.get() == 0_k));
      const Val step = select(left.get() < most, left.get(), most);
      rest.set(rest.get() << step);
      left.set(left.get() - step);
    }
    // rest 2^(e - bias - fraction), in two steps that are exact where the result is denormal, too.
    const int spare = format.bias - format.fraction;
    const Val half = e >> 1_k;
    const Val first = number(rest.get()) * power_of_two(half + lit(spare / 2));
    result.set(bits(first * power_of_two(e - half + lit(spare - spare / 2))));
  }
  return real(result.get());
}

}  // namespace detail

/// x - trunc(x / y) y, exactly, with the sign of x; a vector goes lane by lane.
inline Val rem(Val x, Val y) {
  const Type type = x.type();
  if (type.lanes == 1) {
    return copysign(detail::rem_lane(x, y), x);
  }
  const Cell xs(x), ys(y), rs(x);
  for (const dsl::Index lane : dsl::range(dsl::Index(static_cast<std::uint32_t>(type.lanes)))) {
    rs.set_lane(lane, detail::rem_lane(xs.get_lane(lane), ys.get_lane(lane)));
  }
  return copysign(rs.get(), x);
}

namespace detail {

/// The upper half of a product of two unsigned numbers of `width` bits, from halves of them.
inline Val mul_high_unsigned(Val a, Val b, int width) {
  const Val half = lit(width / 2);
  const auto low = [&](Val v) { return v & lit(static_cast<double>((1ull << (width / 2)) - 1)); };
  const Val a1 = a >> half;
  const Val b1 = b >> half;
  const Val middle = a1 * low(b) + ((low(a) * low(b)) >> half);
  const Val other = low(a) * b1 + low(middle);
  return a1 * b1 + (middle >> half) + (other >> half);
}

}  // namespace detail

/// The upper half of a product of integers.
inline Val mul_high(Val a, Val b) {
  const DType dtype = a.type().dtype;
  const int width = 8 * static_cast<int>(size_of(dtype));
  if (width < 32) {
    const DType wide = is_unsigned(dtype) ? DType::u32 : DType::i32;
    const Val product = dsl::convert(a, wide) * dsl::convert(b, wide);
    return dsl::convert(product >> lit(width), dtype);
  }
  if (is_unsigned(dtype)) {
    return detail::mul_high_unsigned(a, b, width);
  }
  // The sign bit of a counts as -2^width more than the unsigned reading has.
  const DType as = width == 64 ? DType::u64 : DType::u32;
  const Val high =
      detail::mul_high_unsigned(dsl::reinterpret(a, as), dsl::reinterpret(b, as), width);
  const Val zero = like(a, 0);
  return dsl::reinterpret(high, dtype) - select(a < zero, b, zero) - select(b < zero, a, zero);
}

}  // namespace sinter::ir::math
