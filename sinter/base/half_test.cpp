// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the narrow floats, code by code, against values computed from the definition.
#include "sinter/base/half.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sinter {
namespace {

template <class T>
class Half : public ::testing::Test {};
using Types = ::testing::Types<f16, bf16, f8e4m3, f8e5m2>;
TYPED_TEST_SUITE(Half, Types);

template <class T>
constexpr int exponent_bits = T::Format::exponent_bits;
template <class T>
constexpr int mantissa_bits = T::Format::mantissa_bits;
template <class T>
constexpr int sign_code = 1 << (exponent_bits<T> + mantissa_bits<T>);

/// The value of a positive code by the definition; for a code past the largest finite value, what
/// it would be if the exponent had no end.
template <class T>
double slow_value(int code) {
  const int bias = (1 << (exponent_bits<T> - 1)) - 1;
  const int exponent = code >> mantissa_bits<T>;
  const int fraction = code & ((1 << mantissa_bits<T>)-1);
  return exponent == 0
             ? std::ldexp(fraction, 1 - bias - mantissa_bits<T>)
             : std::ldexp(fraction + (1 << mantissa_bits<T>), exponent - bias - mantissa_bits<T>);
}

template <class T>
void expect_same(T got, T want, double from) {
  if (want.is_nan()) {
    ASSERT_TRUE(got.is_nan()) << from;
  } else {
    ASSERT_EQ(int{got.bits}, int{want.bits}) << std::hexfloat << from;
  }
}

template <class T>
T from_code(int code) {
  return T::from_bits(static_cast<typename T::Bits>(code));
}

TYPED_TEST(Half, every_code_has_its_value_and_comes_back) {
  using T = TypeParam;
  for (int code = 0; code < 2 * sign_code<T>; ++code) {
    const T value = from_code<T>(code);
    const int magnitude = code & (sign_code<T> - 1);
    if (magnitude > T::Format::max_code) {
      const bool infinite = T::has_infinity && magnitude == T::Format::overflow_code;
      EXPECT_EQ(value.is_nan(), !infinite);
      EXPECT_EQ(std::isnan(float(value)), !infinite);
      EXPECT_EQ(std::isinf(float(value)), infinite);
    } else {
      const double sign = code >= sign_code<T> ? -1.0 : 1.0;
      ASSERT_EQ(double(value), sign * slow_value<T>(magnitude)) << code;
      ASSERT_FALSE(value.is_nan());
    }
    ASSERT_EQ(std::signbit(float(value)), code >= sign_code<T>);
    expect_same(T(float(value)), value, double(value));
    expect_same(T(double(value)), value, double(value));
  }
}

TYPED_TEST(Half, rounds_to_nearest_even_between_every_two_codes) {
  using T = TypeParam;
  for (int code = 0; code <= T::Format::max_code; ++code) {
    const double low = slow_value<T>(code);
    const double high = slow_value<T>(code + 1);
    const double middle = low + (high - low) / 2;
    const T below = from_code<T>(code);
    const T above = code == T::Format::max_code ? T::infinity() : from_code<T>(code + 1);
    const T even = code % 2 == 0 ? below : above;
    const double before = std::nextafter(middle, -HUGE_VAL);
    const double after = std::nextafter(middle, HUGE_VAL);
    expect_same(T(middle), even, middle);
    expect_same(T(before), below, before);
    expect_same(T(after), above, after);
    expect_same(T(-middle), -even, -middle);
    if (exponent_bits<T> < 8 || code > 0) {
      ASSERT_EQ(double(float(middle)), middle);
      expect_same(T(float(middle)), even, middle);
      expect_same(T(-float(middle)), -even, -middle);
      const float before_f = std::nextafterf(float(middle), -HUGE_VALF);
      const float after_f = std::nextafterf(float(middle), HUGE_VALF);
      expect_same(T(before_f), below, before_f);
      expect_same(T(after_f), above, after_f);
    }
  }
}

TYPED_TEST(Half, float_and_double_paths_agree_on_random_bits) {
  using T = TypeParam;
  std::mt19937 random(7);
  for (int i = 0; i < 2000000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    expect_same(T(value), T(double(value)), value);
  }
}

TYPED_TEST(Half, special_values) {
  using T = TypeParam;
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(T(nan).is_nan());
  EXPECT_TRUE(T(double(nan)).is_nan());
  EXPECT_TRUE(T(std::bit_cast<float>(0x7f800001u)).is_nan());
  EXPECT_EQ(std::isinf(float(T(inf))), T::has_infinity);
  EXPECT_EQ(std::isnan(float(T(1e300))), !T::has_infinity);
  EXPECT_TRUE(std::signbit(float(T(-0.0f))));
  EXPECT_TRUE(std::signbit(float(T(-1e-300))));
  EXPECT_EQ(T(1e-300).bits, 0);
  EXPECT_EQ(float(T(true)), 1.0f);
  EXPECT_FALSE(bool(T(0)));
  EXPECT_EQ(int(T(-3)), -3);
  EXPECT_EQ(float(T::epsilon()), std::ldexp(1.0f, -mantissa_bits<T>));
  EXPECT_LT(T::lowest(), T::max());
  EXPECT_EQ(-T::lowest(), T::max());
  EXPECT_NE(T::quiet_nan(), T::quiet_nan());
}

TEST(Cases, DTY_17_double_and_integers_round_once) {
  EXPECT_EQ(f16(0.1).bits, 0x2e66);
  EXPECT_EQ(bf16(0.1).bits, 0x3dcd);
  // 1 + 2^-11 + 2^-30 lies above a tie of f16; through float it would fall on the tie.
  EXPECT_EQ(f16(1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -30)).bits, 0x3c01);
  EXPECT_EQ(f16(float(1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -30))).bits, 0x3c00);
  // 2^62 + 2^54 is a tie of bf16; one more lies above it, and double can't tell.
  const std::int64_t tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  EXPECT_EQ(bf16(tie).bits, 0x5e80);
  EXPECT_EQ(bf16(tie + 1).bits, 0x5e81);
  EXPECT_EQ(bf16(-tie - 1).bits, 0xde81);
}

TEST(HalfValues, known_constants) {
  EXPECT_EQ(float(f16::max()), 65504.0f);
  EXPECT_EQ(float(f8e4m3::max()), 448.0f);
  EXPECT_EQ(float(f8e5m2::max()), 57344.0f);
  EXPECT_EQ(float(bf16::max()), 3.38953139e38f);
  EXPECT_EQ(float(f16::denorm_min()), 0x1p-24f);
  EXPECT_EQ(float(f8e4m3::denorm_min()), 0x1p-9f);
  EXPECT_EQ(f8e4m3(464.0f).bits, 0x7e);
  EXPECT_TRUE(f8e4m3(465.0f).is_nan());
  EXPECT_EQ(f8e5m2(61440.0f).bits, 0x7c);
  static_assert(f16(1.5f).bits == 0x3e00 && float(bf16(2.0)) == 2.0f);
  static_assert(f16(1.0f) + f16(2.0f) == f16(3.0f));
}

}  // namespace
}  // namespace sinter
