// SPDX-License-Identifier: MIT OR Apache-2.0
// Formulas on tensors: every operation becomes an op; constants fold.
#include "sinter/ops/value_carrier.hpp"

#include "sinter/graph/backend.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/scalar_carrier.hpp"

namespace sinter {
namespace {

using E = ValueExpr;

// The tensor of `x`; a constant becomes a scalar beside `other`.
Value value_beside(const E& x, const E& other) {
  return x.value ? x.value : ops::scalar_like(other.value, x.constant);
}

E unary(OpCode code, const E& x, double (*fold)(double)) {
  return x.value ? E(ops::call(code, {x.value})) : E::of(fold(x.constant));
}

template <class F>
E binary(OpCode code, const E& a, const E& b, F fold) {
  if (!a.value && !b.value) {
    return E::of(static_cast<double>(fold(a.constant, b.constant)));
  }
  return E(ops::call(code, {value_beside(a, b), value_beside(b, a)}));
}

}  // namespace

#define SINTER_VALUE_BINARY(symbol, code)                                             \
  ValueExpr operator symbol(const ValueExpr& a, const ValueExpr& b) {                 \
    return binary(OpCode::code, a, b, [](double x, double y) { return x symbol y; }); \
  }
SINTER_VALUE_BINARY(+, add)
SINTER_VALUE_BINARY(-, sub)
SINTER_VALUE_BINARY(*, mul)
SINTER_VALUE_BINARY(/, div)
SINTER_VALUE_BINARY(==, equal)
SINTER_VALUE_BINARY(!=, not_equal)
SINTER_VALUE_BINARY(<, less)
SINTER_VALUE_BINARY(<=, less_equal)
SINTER_VALUE_BINARY(>, greater)
SINTER_VALUE_BINARY(>=, greater_equal)
#undef SINTER_VALUE_BINARY
ValueExpr operator&(const ValueExpr& a, const ValueExpr& b) {
  return binary(OpCode::logical_and, a, b, [](double x, double y) { return x != 0 && y != 0; });
}
ValueExpr operator|(const ValueExpr& a, const ValueExpr& b) {
  return binary(OpCode::logical_or, a, b, [](double x, double y) { return x != 0 || y != 0; });
}
ValueExpr operator-(const ValueExpr& a) {
  return unary(OpCode::neg, a, [](double x) { return -x; });
}
ValueExpr operator!(const ValueExpr& a) {
  return unary(OpCode::logical_not, a, [](double x) { return x == 0 ? 1.0 : 0.0; });
}

using C = Carrier<ValueExpr>;

E C::select(const E& mask, const E& a, const E& b) {
  if (!mask.value) {
    return mask.constant != 0 ? a : b;
  }
  // Two constants take f32: the formula's other operands promote it where they are wider.
  const auto side = [&](const E& x, const E& other) {
    return x.value ? x.value
                   : mask.value.backend().scalar(x.constant,
                                                 other.value ? other.value.dtype() : DType::f32);
  };
  return E(ops::where(mask.value, side(a, b), side(b, a)));
}

#define SINTER_VALUE_UNARY(name) \
  E C::name(const E& x) { return unary(OpCode::name, x, Carrier<double>::name); }
SINTER_VALUE_UNARY(abs)
SINTER_VALUE_UNARY(sqrt)
SINTER_VALUE_UNARY(rsqrt)
SINTER_VALUE_UNARY(exp)
SINTER_VALUE_UNARY(exp2)
SINTER_VALUE_UNARY(expm1)
SINTER_VALUE_UNARY(log)
SINTER_VALUE_UNARY(log2)
SINTER_VALUE_UNARY(log10)
SINTER_VALUE_UNARY(log1p)
SINTER_VALUE_UNARY(sin)
SINTER_VALUE_UNARY(cos)
SINTER_VALUE_UNARY(tan)
SINTER_VALUE_UNARY(asin)
SINTER_VALUE_UNARY(acos)
SINTER_VALUE_UNARY(atan)
SINTER_VALUE_UNARY(sinh)
SINTER_VALUE_UNARY(cosh)
SINTER_VALUE_UNARY(tanh)
SINTER_VALUE_UNARY(asinh)
SINTER_VALUE_UNARY(acosh)
SINTER_VALUE_UNARY(atanh)
SINTER_VALUE_UNARY(erf)
SINTER_VALUE_UNARY(floor)
SINTER_VALUE_UNARY(ceil)
SINTER_VALUE_UNARY(trunc)
SINTER_VALUE_UNARY(round)
#undef SINTER_VALUE_UNARY

#define SINTER_VALUE_BINARY(name, code) \
  E C::name(const E& a, const E& b) { return binary(OpCode::code, a, b, Carrier<double>::name); }
SINTER_VALUE_BINARY(pow, pow)
SINTER_VALUE_BINARY(atan2, atan2)
SINTER_VALUE_BINARY(hypot, hypot)
SINTER_VALUE_BINARY(fmod, fmod)
SINTER_VALUE_BINARY(quotient, div)
SINTER_VALUE_BINARY(maximum, maximum)
SINTER_VALUE_BINARY(minimum, minimum)
#undef SINTER_VALUE_BINARY

E C::copysign(const E& a, const E& b) { return select(b < E::of(0), -abs(a), abs(a)); }

}  // namespace sinter
