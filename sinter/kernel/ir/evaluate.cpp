// SPDX-License-Identifier: MIT OR Apache-2.0
// Scalar semantics, by the carriers that the operations' oracle uses.
#include "sinter/kernel/ir/evaluate.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "sinter/ops/scalar_carrier.hpp"

namespace sinter::ir {

namespace {

using Bits = std::uint64_t;
using Args = std::array<Bits, 3>;
using D = Carrier<double>;

double fused(DType dtype, double a, double b, double c) {
  // A product of two f32 is exact in f64, but the sum is rounded there already.
  return dtype == DType::f64
             ? std::fma(a, b, c)
             : std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
}

/// The instructions that a carrier has under the same name.
template <class C, class T>
std::optional<T> by_carrier(Op op, T a, T b) {
  switch (op) {
#define SINTER_INSTRUCTION(name, arguments, rule, traits) \
  case Op::name:                                          \
    if constexpr (requires { C::name(a); }) {             \
      return C::name(a);                                  \
    } else if constexpr (requires { C::name(a, b); }) {   \
      return C::name(a, b);                               \
    }                                                     \
    break;
#include "sinter/kernel/ir/instructions.def"
#undef SINTER_INSTRUCTION
  }
  return std::nullopt;
}

std::optional<double> on_floats(Op op, DType dtype, double a, double b, double c) {
  switch (op) {
    case Op::neg:
      return -a;
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return a / b;
    case Op::rem:
      return D::fmod(a, b);
    case Op::min:
      return D::minimum(a, b);
    case Op::max:
      return D::maximum(a, b);
    case Op::fma:
      return fused(dtype, a, b, c);
    default:
      return by_carrier<D>(op, a, b);
  }
}

template <class T>
T high_product(DType dtype, T a, T b) {
  const int width = 8 * static_cast<int>(size_of(dtype));
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> width);
}

template <class T>
std::optional<T> on_integers(Op op, DType dtype, T a, T b) {
  using I = Carrier<T>;
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case Op::neg:
      return static_cast<T>(-U(a));
    case Op::abs:
      return I::abs(a);
    case Op::add:
      return static_cast<T>(U(a) + U(b));
    case Op::sub:
      return static_cast<T>(U(a) - U(b));
    case Op::mul:
      return static_cast<T>(U(a) * U(b));
    case Op::div:
      return I::quotient(a, b);
    case Op::rem:
      return I::fmod(a, b);
    case Op::min:
      return I::minimum(a, b);
    case Op::max:
      return I::maximum(a, b);
    case Op::bit_and:
      return I::bit_and(a, b);
    case Op::bit_or:
      return I::bit_or(a, b);
    case Op::bit_xor:
      return I::bit_xor(a, b);
    case Op::bit_not:
      return static_cast<T>(~a);
    case Op::shift_left:
      return I::shift_left(a, b);
    case Op::shift_right:
      return I::shift_right(a, b);
    case Op::mul_high:
      return high_product(dtype, a, b);
    default:
      return std::nullopt;
  }
}

template <class T>
std::optional<bool> compare(Op op, T a, T b) {
  switch (op) {
    case Op::eq:
      return a == b;
    case Op::ne:
      return a != b;
    case Op::lt:
      return a < b;
    case Op::le:
      return a <= b;
    case Op::gt:
      return a > b;
    case Op::ge:
      return a >= b;
    default:
      return std::nullopt;
  }
}

std::optional<bool> compare(Op op, DType dtype, Bits a, Bits b) {
  if (is_floating(dtype)) {
    return compare(op, constant_value(dtype, a), constant_value(dtype, b));
  }
  return is_unsigned(dtype)
             ? compare(op, a, b)
             : compare(op, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
}

std::optional<Bits> on_truth(Op op, Bits a, Bits b) {
  switch (op) {
    case Op::bit_and:
      return a & b;
    case Op::bit_or:
      return a | b;
    case Op::bit_xor:
      return a ^ b;
    case Op::bit_not:
      return a ^ 1;
    default:
      return std::nullopt;
  }
}

/// Floats to integers: toward zero, clamped to the range, NaN gives 0.
Bits to_integer(DType to, double value) {
  if (to == DType::boolean) {
    return value != 0 ? 1 : 0;
  }
  if (std::isnan(value)) {
    return 0;
  }
  const int bits = 8 * static_cast<int>(size_of(to)) - (is_unsigned(to) ? 0 : 1);
  const double limit = std::ldexp(1.0, bits);
  const double least = is_unsigned(to) ? 0 : -limit;
  if (value >= limit) {
    return bits == 64 ? ~Bits{0} : (Bits{1} << bits) - 1;
  }
  if (value <= least) {
    return is_unsigned(to)
               ? 0
               : constant_bits(to, std::numeric_limits<std::int64_t>::min() >> (63 - bits));
  }
  return is_unsigned(to) ? static_cast<Bits>(value)
                         : static_cast<Bits>(static_cast<std::int64_t>(value));
}

Bits cast(DType from, DType to, Bits value) {
  if (is_floating(from)) {
    const double number = constant_value(from, value);
    return is_floating(to) ? constant_bits(to, number) : to_integer(to, number);
  }
  if (to == DType::f64 || !is_floating(to)) {
    return is_floating(to) ? constant_bits(to, constant_value(from, value))
                           : constant_bits(to, static_cast<std::int64_t>(value));
  }
  // Straight to f32: by way of f64 a 64-bit integer would be rounded twice.
  const float narrow = is_unsigned(from) ? static_cast<float>(value)
                                         : static_cast<float>(static_cast<std::int64_t>(value));
  return constant_bits(to, double{narrow});
}

}  // namespace

std::optional<Bits> evaluate(Op op, DType from, DType to, const Args& args) {
  const auto [a, b, c] = args;
  if (op == Op::select) {
    return a != 0 ? b : c;
  }
  if (op == Op::cast) {
    return cast(from, to, a);
  }
  if (op == Op::splat) {
    return a;
  }
  if (traits_of(op).rule == TypeRule::compare) {
    const auto truth = compare(op, from, a, b);
    return truth ? std::optional<Bits>(*truth ? 1 : 0) : std::nullopt;
  }
  if (from == DType::boolean) {
    return on_truth(op, a, b);
  }
  if (is_floating(from)) {
    const auto result = on_floats(op, from, constant_value(from, a), constant_value(from, b),
                                  constant_value(from, c));
    return result ? std::optional(constant_bits(to, *result)) : std::nullopt;
  }
  if (is_unsigned(from)) {
    const auto result = on_integers(op, from, a, b);
    return result ? std::optional(constant_bits(to, static_cast<std::int64_t>(*result)))
                  : std::nullopt;
  }
  const auto result =
      on_integers(op, from, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
  return result ? std::optional(constant_bits(to, *result)) : std::nullopt;
}

}  // namespace sinter::ir
