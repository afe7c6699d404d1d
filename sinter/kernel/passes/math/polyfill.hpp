// SPDX-License-Identifier: MIT OR Apache-2.0
// Instructions that a device may lack and that have an exact replacement.
#pragma once

#include "sinter/kernel/passes/math/cell.hpp"
#include "sinter/kernel/passes/math/parts.hpp"

namespace sinter::ir::math {

namespace detail {

/// |x| modulo |y| of two f32 by long division on their bits, eight bits of the quotient a step.
inline Val rem_lane(Val x, Val y) {
  const Val a = bits(x) & lit(0x7fffffff);
  const Val b = bits(y) & lit(0x7fffffff);
  const auto exponent = [](Val v) { return select((v >> 23_k) == 0_k, like(v, 1), v >> 23_k); };
  const auto mantissa = [](Val v) {
    return (v & 0x7fffff_k) | select((v >> 23_k) == 0_k, 0_k, like(v, 0x800000));
  };
  const Val divisor = mantissa(b);
  const Val e = exponent(b);
  const Val none = (b == 0_k) | (a >= 0x7f800000_k) | (b > 0x7f800000_k);
  const Cell result(select(none, lit(0x7fc00000), a));
  KERNEL_IF (dsl::Expr<bool>((!none) & (a >= b))) {
    const Cell rest(mantissa(a)), left(exponent(a) - e);
    for ([[maybe_unused]] const int round : dsl::forever()) {
      rest.set(rest.get() % divisor);
      dsl::break_if(dsl::Expr<bool>(left.get() == 0_k));
      const Val step = select(left.get() < 8_k, left.get(), 8_k);
      rest.set(rest.get() << step);
      left.set(left.get() - step);
    }
    // rest 2^(e - 150), in two steps that are exact where the result is denormal, too.
    const Val half = e >> 1_k;
    const Val number = dsl::convert(rest.get(), DType::f32);
    const Val first = number * real((half + 52_k) << 23_k);
    result.set(bits(first * real((e - half + 52_k) << 23_k)));
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
