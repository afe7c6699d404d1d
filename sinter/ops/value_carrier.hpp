// SPDX-License-Identifier: MIT OR Apache-2.0
// Formulas carried by tensors: how a derived gradient row is itself differentiated.
#pragma once

#include <cstdint>

#include "sinter/graph/value.hpp"
#include "sinter/ops/carrier.hpp"

namespace sinter {

/// A tensor or a constant inside a formula. Every operation on it is an op on its value.
struct ValueExpr {
  Value value;  ///< empty for a constant
  double constant = 0;

  ValueExpr() = default;
  explicit ValueExpr(Value tensor) : value(std::move(tensor)) {}
  static ValueExpr of(double constant) {
    ValueExpr e;
    e.constant = constant;
    return e;
  }
};

#define SINTER_VALUE_BINARY(symbol) \
  ValueExpr operator symbol(const ValueExpr& a, const ValueExpr& b);
SINTER_VALUE_BINARY(+)
SINTER_VALUE_BINARY(-)
SINTER_VALUE_BINARY(*)
SINTER_VALUE_BINARY(/)
SINTER_VALUE_BINARY(==)
SINTER_VALUE_BINARY(!=)
SINTER_VALUE_BINARY(<)
SINTER_VALUE_BINARY(<=)
SINTER_VALUE_BINARY(>)
SINTER_VALUE_BINARY(>=)
SINTER_VALUE_BINARY(&)
SINTER_VALUE_BINARY(|)
#undef SINTER_VALUE_BINARY
ValueExpr operator-(const ValueExpr& a);
ValueExpr operator!(const ValueExpr& a);

template <>
struct Carrier<ValueExpr> {
  using E = ValueExpr;
  using Mask = ValueExpr;
  static constexpr bool is_integer = false;
  static E lit(double c) { return E::of(c); }
  static E select(const E& mask, const E& a, const E& b);

  static E abs(const E& x);
  static E sqrt(const E& x);
  static E rsqrt(const E& x);
  static E exp(const E& x);
  static E exp2(const E& x);
  static E expm1(const E& x);
  static E log(const E& x);
  static E log2(const E& x);
  static E log10(const E& x);
  static E log1p(const E& x);
  static E sin(const E& x);
  static E cos(const E& x);
  static E tan(const E& x);
  static E asin(const E& x);
  static E acos(const E& x);
  static E atan(const E& x);
  static E sinh(const E& x);
  static E cosh(const E& x);
  static E tanh(const E& x);
  static E asinh(const E& x);
  static E acosh(const E& x);
  static E atanh(const E& x);
  static E erf(const E& x);
  static E floor(const E& x);
  static E ceil(const E& x);
  static E trunc(const E& x);
  static E round(const E& x);
  static E pow(const E& a, const E& b);
  static E atan2(const E& a, const E& b);
  static E hypot(const E& a, const E& b);
  static E fmod(const E& a, const E& b);
  static E quotient(const E& a, const E& b);
  static E maximum(const E& a, const E& b);
  static E minimum(const E& a, const E& b);
  static E copysign(const E& a, const E& b);
};

}  // namespace sinter
