// SPDX-License-Identifier: MIT OR Apache-2.0
// The narrow floating-point storage types: f16, bf16, f8e4m3 and f8e5m2.
#pragma once

#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace sinter {

/// IEEE 754 binary16.
struct F16Format {
  using Bits = std::uint16_t;
  static constexpr int exponent_bits = 5;
  static constexpr int mantissa_bits = 10;
  static constexpr bool has_infinity = true;
  static constexpr Bits max_code = 0x7bff;
  static constexpr Bits overflow_code = 0x7c00;
  static constexpr Bits nan_code = 0x7e00;
};
/// The upper half of an IEEE 754 binary32.
struct BF16Format {
  using Bits = std::uint16_t;
  static constexpr int exponent_bits = 8;
  static constexpr int mantissa_bits = 7;
  static constexpr bool has_infinity = true;
  static constexpr Bits max_code = 0x7f7f;
  static constexpr Bits overflow_code = 0x7f80;
  static constexpr Bits nan_code = 0x7fc0;
};
/// OCP E4M3 without infinity ("fn"): the largest value is 448, and overflow gives NaN.
struct F8E4M3Format {
  using Bits = std::uint8_t;
  static constexpr int exponent_bits = 4;
  static constexpr int mantissa_bits = 3;
  static constexpr bool has_infinity = false;
  static constexpr Bits max_code = 0x7e;
  static constexpr Bits overflow_code = 0x7f;
  static constexpr Bits nan_code = 0x7f;
};
/// OCP E5M2: the largest value is 57344, and overflow gives infinity.
struct F8E5M2Format {
  using Bits = std::uint8_t;
  static constexpr int exponent_bits = 5;
  static constexpr int mantissa_bits = 2;
  static constexpr bool has_infinity = true;
  static constexpr Bits max_code = 0x7b;
  static constexpr Bits overflow_code = 0x7c;
  static constexpr Bits nan_code = 0x7f;
};

namespace detail {

/// Rounds the binary64 `value` to the nearest code of `F`, ties to even, in one step.
template <class F>
[[gnu::always_inline]] constexpr typename F::Bits encode_double(double value) {
  constexpr int mantissa = F::mantissa_bits;
  constexpr int bias = (1 << (F::exponent_bits - 1)) - 1;
  constexpr int drop = 52 - mantissa;
  constexpr std::uint64_t infinity = std::uint64_t{0x7ff} << 52;
  const std::uint64_t whole = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = whole & ~(std::uint64_t{1} << 63);
  const unsigned sign = static_cast<unsigned>(whole >> 63) << (F::exponent_bits + mantissa);
  if (magnitude > infinity) {
    return static_cast<typename F::Bits>(sign | F::nan_code);
  }
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  std::uint64_t code = 0;
  if (exponent >= 1 - bias) {
    const std::uint64_t half = (std::uint64_t{1} << (drop - 1)) - 1;
    code = (magnitude + half + ((magnitude >> drop) & 1)) >> drop;
    code -= static_cast<std::uint64_t>(1023 - bias) << mantissa;
    code = code > F::max_code ? std::uint64_t{F::overflow_code} : code;
  } else {
    // Subnormal result: the implicit one becomes explicit. Below half of the least value it is 0.
    const int shift = drop + (1 - bias) - exponent;
    if (shift <= 53) {
      const std::uint64_t fraction = (magnitude & ((std::uint64_t{1} << 52) - 1));
      const std::uint64_t full = fraction | (std::uint64_t{1} << 52);
      const std::uint64_t half = (std::uint64_t{1} << (shift - 1)) - 1;
      code = (full + half + ((full >> shift) & 1)) >> shift;
    }
  }
  return static_cast<typename F::Bits>(sign | static_cast<unsigned>(code));
}

/// Rounds the binary32 `value` to the nearest code of `F`, ties to even. Free of branches, so that
/// a loop over it vectorises; relies on the default rounding mode.
template <class F>
[[gnu::always_inline]] constexpr typename F::Bits encode_float(float value) {
  constexpr int mantissa = F::mantissa_bits;
  constexpr int bias = (1 << (F::exponent_bits - 1)) - 1;
  constexpr int drop = 23 - mantissa;
  const std::uint32_t whole = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = whole & 0x7fffffffu;
  const std::uint32_t sign = (whole >> 31) << (F::exponent_bits + mantissa);
  const std::uint32_t rounded =
      (magnitude + ((1u << (drop - 1)) - 1) + ((magnitude >> drop) & 1)) >> drop;
  std::uint32_t code = rounded - (static_cast<std::uint32_t>(127 - bias) << mantissa);
  if constexpr (F::exponent_bits < 8) {
    // The unit in the last place of `magic` is the least subnormal of F, so the addition rounds.
    constexpr std::uint32_t magic = static_cast<std::uint32_t>(127 + (1 - bias) - mantissa + 23)
                                    << 23;
    const std::uint32_t low = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) +
                                                           std::bit_cast<float>(magic)) -
                              magic;
    const bool subnormal = magnitude < (static_cast<std::uint32_t>(128 - bias) << 23);
    code = subnormal ? low : code;
    code =
        !subnormal && rounded > (static_cast<std::uint32_t>(127 - bias) << mantissa) + F::max_code
            ? std::uint32_t{F::overflow_code}
            : code;
  }
  code = magnitude > 0x7f800000u ? std::uint32_t{F::nan_code} : code;
  return static_cast<typename F::Bits>(sign | code);
}

/// The exact binary32 value of a code of `F`.
template <class F>
[[gnu::always_inline]] constexpr float decode(typename F::Bits bits) {
  constexpr int mantissa = F::mantissa_bits;
  constexpr int bias = (1 << (F::exponent_bits - 1)) - 1;
  constexpr int drop = 23 - mantissa;
  constexpr std::uint32_t mask = (1u << (F::exponent_bits + mantissa)) - 1;
  constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 - bias) << 23;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & (mask + 1))
                             << (31 - F::exponent_bits - mantissa);
  const std::uint32_t magnitude = bits & mask;
  std::uint32_t wide = magnitude << drop;
  if constexpr (F::exponent_bits < 8) {
    // Subnormals: give the fraction an implicit one, then take that one away again.
    constexpr std::uint32_t one = rebias + (1u << 23);
    const std::uint32_t low =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(wide + one) - std::bit_cast<float>(one));
    const std::uint32_t special = F::has_infinity ? wide + 2 * rebias : 0x7fc00000u;
    const std::uint32_t normal = magnitude > F::max_code ? special : wide + rebias;
    wide = magnitude < (1u << mantissa) ? low : normal;
  }
  return std::bit_cast<float>(sign | wide);
}

}  // namespace detail

/// A narrow float: storage with conversions. Arithmetic is done in float and rounded once, which
/// equals the correctly rounded result for + - * and /. Conversions round to nearest even, and one
/// from double or from an integer rounds once. The default-constructed value is indeterminate.
template <class F>
struct PackedFloat {
  using Format = F;
  using Bits = typename F::Bits;

  Bits bits;

  PackedFloat() = default;
  explicit constexpr PackedFloat(float value) : bits(detail::encode_float<F>(value)) {}
  explicit constexpr PackedFloat(double value) : bits(detail::encode_double<F>(value)) {}
  template <std::integral T>
  explicit constexpr PackedFloat(T value) : bits(detail::encode_double<F>(odd_double(value))) {}
  template <class G>
    requires(!std::same_as<F, G>)
  explicit constexpr PackedFloat(PackedFloat<G> value) : PackedFloat(value.to_float()) {}

  static constexpr PackedFloat from_bits(Bits bits) {
    PackedFloat result{};
    result.bits = bits;
    return result;
  }

  constexpr float to_float() const { return detail::decode<F>(bits); }
  template <class T>
    requires std::is_arithmetic_v<T>
  explicit constexpr operator T() const {
    return static_cast<T>(to_float());
  }

  static constexpr int digits = F::mantissa_bits + 1;
  static constexpr bool has_infinity = F::has_infinity;
  static constexpr PackedFloat max() { return from_bits(F::max_code); }
  static constexpr PackedFloat lowest() { return -max(); }
  /// The least positive normal value.
  static constexpr PackedFloat min() { return from_bits(Bits{1} << F::mantissa_bits); }
  static constexpr PackedFloat denorm_min() { return from_bits(1); }
  /// The distance from 1 to the next value.
  static constexpr PackedFloat epsilon() {
    return PackedFloat(1.0 / static_cast<double>(1 << F::mantissa_bits));
  }
  /// NaN for a format that has no infinity.
  static constexpr PackedFloat infinity() { return from_bits(F::overflow_code); }
  static constexpr PackedFloat quiet_nan() { return from_bits(F::nan_code); }

  constexpr bool is_nan() const {
    return (bits & (sign_bit - 1)) > (F::has_infinity ? F::overflow_code : F::max_code);
  }

  friend constexpr PackedFloat operator-(PackedFloat a) {
    return from_bits(static_cast<Bits>(a.bits ^ sign_bit));
  }
  friend constexpr PackedFloat operator+(PackedFloat a, PackedFloat b) {
    return PackedFloat(a.to_float() + b.to_float());
  }
  friend constexpr PackedFloat operator-(PackedFloat a, PackedFloat b) {
    return PackedFloat(a.to_float() - b.to_float());
  }
  friend constexpr PackedFloat operator*(PackedFloat a, PackedFloat b) {
    return PackedFloat(a.to_float() * b.to_float());
  }
  friend constexpr PackedFloat operator/(PackedFloat a, PackedFloat b) {
    return PackedFloat(a.to_float() / b.to_float());
  }
  friend constexpr bool operator==(PackedFloat a, PackedFloat b) {
    return a.to_float() == b.to_float();
  }
  friend constexpr std::partial_ordering operator<=>(PackedFloat a, PackedFloat b) {
    return a.to_float() <=> b.to_float();
  }

 private:
  static constexpr unsigned sign_bit = 1u << (F::exponent_bits + F::mantissa_bits);

  // A double within 2^-42 of the integer that never lies on a rounding boundary of F unless the
  // integer does: above 2^53 the bits that don't fit are folded into one sticky bit.
  template <class T>
  static constexpr double odd_double(T value) {
    if constexpr (sizeof(T) < 8) {
      return static_cast<double>(value);
    } else {
      const bool negative = value < 0;
      std::uint64_t magnitude = static_cast<std::uint64_t>(value);
      magnitude = negative ? 0 - magnitude : magnitude;
      if (magnitude >> 53 != 0) {
        const std::uint64_t sticky = (magnitude & 0x7ff) != 0 ? 0x800u : 0u;
        magnitude = (magnitude & ~std::uint64_t{0x7ff}) | sticky;
      }
      const double result = static_cast<double>(magnitude);
      return negative ? -result : result;
    }
  }
};

using f16 = PackedFloat<F16Format>;
using bf16 = PackedFloat<BF16Format>;
using f8e4m3 = PackedFloat<F8E4M3Format>;
using f8e5m2 = PackedFloat<F8E5M2Format>;

static_assert(std::is_trivially_copyable_v<f16> && std::is_trivially_default_constructible_v<f16>);
static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2 && sizeof(f8e4m3) == 1 && sizeof(f8e5m2) == 1);

}  // namespace sinter
