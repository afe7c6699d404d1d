// SPDX-License-Identifier: MIT OR Apache-2.0
// Formulas carried by plain numbers: the oracle that every other carrier is held against.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "sinter/ops/carrier.hpp"

namespace sinter {

template <>
struct Carrier<double> {
  using Mask = bool;
  static constexpr bool is_integer = false;
  static double lit(double c) { return c; }
  static double select(bool mask, double a, double b) { return mask ? a : b; }

  static double abs(double x) { return std::fabs(x); }
  static double sqrt(double x) { return std::sqrt(x); }
  static double rsqrt(double x) { return 1 / std::sqrt(x); }
  static double exp(double x) { return std::exp(x); }
  static double exp2(double x) { return std::exp2(x); }
  static double expm1(double x) { return std::expm1(x); }
  static double log(double x) { return std::log(x); }
  static double log2(double x) { return std::log2(x); }
  static double log10(double x) { return std::log10(x); }
  static double log1p(double x) { return std::log1p(x); }
  static double sin(double x) { return std::sin(x); }
  static double cos(double x) { return std::cos(x); }
  static double tan(double x) { return std::tan(x); }
  static double asin(double x) { return std::asin(x); }
  static double acos(double x) { return std::acos(x); }
  static double atan(double x) { return std::atan(x); }
  static double sinh(double x) { return std::sinh(x); }
  static double cosh(double x) { return std::cosh(x); }
  static double tanh(double x) { return std::tanh(x); }
  static double asinh(double x) { return std::asinh(x); }
  static double acosh(double x) { return std::acosh(x); }
  static double atanh(double x) { return std::atanh(x); }
  static double erf(double x) { return std::erf(x); }
  static double floor(double x) { return std::floor(x); }
  static double ceil(double x) { return std::ceil(x); }
  static double trunc(double x) { return std::trunc(x); }
  static double round(double x) { return std::nearbyint(x); }
  static double pow(double a, double b) { return std::pow(a, b); }
  static double atan2(double a, double b) { return std::atan2(a, b); }
  static double hypot(double a, double b) { return std::hypot(a, b); }
  static double fmod(double a, double b) { return std::fmod(a, b); }
  static double quotient(double a, double b) { return a / b; }
  static double maximum(double a, double b) { return a != a || a > b ? a : b; }
  static double minimum(double a, double b) { return a != a || a < b ? a : b; }
  static double copysign(double a, double b) { return std::copysign(a, b); }
};

namespace detail {

// Two's complement throughout: signed results are computed unsigned and wrap.
template <class T>
struct IntegerCarrier {
  using Mask = bool;
  using Bits = std::make_unsigned_t<T>;
  static constexpr bool is_integer = true;
  static T lit(double c) { return static_cast<T>(c); }
  static T select(bool mask, T a, T b) { return mask ? a : b; }

  static T abs(T x) { return std::is_signed_v<T> && x < 0 ? static_cast<T>(-Bits(x)) : x; }
  static T floor(T x) { return x; }
  static T ceil(T x) { return x; }
  static T trunc(T x) { return x; }
  static T round(T x) { return x; }
  static T maximum(T a, T b) { return a > b ? a : b; }
  static T minimum(T a, T b) { return a < b ? a : b; }
  static T quotient(T a, T b) {
    if (b == 0) {
      return 0;
    }
    return is_minus_one(b) ? static_cast<T>(-Bits(a)) : static_cast<T>(a / b);
  }
  static T fmod(T a, T b) { return b == 0 || is_minus_one(b) ? T(0) : static_cast<T>(a % b); }
  static T pow(T a, T b) {
    Bits result = 1;
    Bits base = static_cast<Bits>(a);
    for (Bits e = std::is_signed_v<T> && b < 0 ? Bits(0) : Bits(b); e != 0; e >>= 1) {
      result *= (e & 1) != 0 ? base : Bits(1);
      base *= base;
    }
    return static_cast<T>(result);
  }
  static T bit_and(T a, T b) { return a & b; }
  static T bit_or(T a, T b) { return a | b; }
  static T bit_xor(T a, T b) { return a ^ b; }
  static T shift_left(T a, T b) {
    return Bits(b) < 8 * sizeof(T) ? static_cast<T>(Bits(a) << Bits(b)) : T(0);
  }
  static T shift_right(T a, T b) {
    constexpr Bits last = 8 * sizeof(T) - 1;
    if (Bits(b) > last) {
      return static_cast<T>(std::is_signed_v<T> && a < 0 ? -1 : 0);
    }
    return static_cast<T>(a >> Bits(b));
  }

 private:
  static bool is_minus_one(T b) { return std::is_signed_v<T> && b == static_cast<T>(-1); }
};

}  // namespace detail

template <>
struct Carrier<std::int64_t> : detail::IntegerCarrier<std::int64_t> {};
template <>
struct Carrier<std::uint64_t> : detail::IntegerCarrier<std::uint64_t> {};

}  // namespace sinter
