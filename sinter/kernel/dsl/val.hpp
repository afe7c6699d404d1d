// SPDX-License-Identifier: MIT OR Apache-2.0
// A value of a kernel whose dtype is chosen while recording: the carrier of formulas.
#pragma once

#include <concepts>

#include "sinter/kernel/dsl/recorder.hpp"
#include "sinter/ops/carrier.hpp"

namespace sinter::dsl {

/// A value of the kernel, or a constant that takes the type of what it meets. Operators on two
/// constants throw ArgumentError: give one a type with `typed`.
class Val {
 public:
  Val() = default;
  explicit Val(NodeId node) : node_(node) {}
  /// A constant without a type of its own.
  static Val literal(double value) {
    Val v;
    v.literal_ = value;
    return v;
  }
  /// A constant of `type`.
  static Val typed(ir::Type type, double value);

  explicit operator bool() const = delete;  // a native `if` would be decided while recording

  [[nodiscard]] bool is_literal() const { return node_ == no_node; }
  [[nodiscard]] double literal() const { return literal_; }
  [[nodiscard]] NodeId node() const;
  [[nodiscard]] ir::Type type() const { return Recorder::current().type_of(node()); }
  /// This value, a literal as a constant of `type`.
  [[nodiscard]] NodeId as(ir::Type type) const;

 private:
  NodeId node_ = no_node;
  double literal_ = 0;
};

/// An instruction whose arguments have one type: literals take it, one lane meets a vector by being
/// repeated.
Val apply(ir::Op op, std::initializer_list<Val> args);
Val choose(Val mask, Val a, Val b);
Val convert(Val x, DType to);
Val reinterpret(Val x, DType to);
Val repeat(Val x, int lanes);

#define SINTER_VAL_BINARY(symbol, name) \
  inline Val operator symbol(Val a, Val b) { return apply(ir::Op::name, {a, b}); }
SINTER_VAL_BINARY(+, add)
SINTER_VAL_BINARY(-, sub)
SINTER_VAL_BINARY(*, mul)
SINTER_VAL_BINARY(/, div)
SINTER_VAL_BINARY(%, rem)
SINTER_VAL_BINARY(&, bit_and)
SINTER_VAL_BINARY(|, bit_or)
SINTER_VAL_BINARY(^, bit_xor)
SINTER_VAL_BINARY(<<, shift_left)
SINTER_VAL_BINARY(>>, shift_right)
SINTER_VAL_BINARY(==, eq)
SINTER_VAL_BINARY(!=, ne)
SINTER_VAL_BINARY(<, lt)
SINTER_VAL_BINARY(<=, le)
SINTER_VAL_BINARY(>, gt)
SINTER_VAL_BINARY(>=, ge)
#undef SINTER_VAL_BINARY
inline Val operator-(Val x) { return apply(ir::Op::neg, {x}); }
inline Val operator!(Val x) { return apply(ir::Op::bit_not, {x}); }
inline Val operator~(Val x) { return apply(ir::Op::bit_not, {x}); }

}  // namespace sinter::dsl

namespace sinter {

/// Formulas recorded into kernels: every function of `math` is an instruction.
template <>
struct Carrier<dsl::Val> {
  using V = dsl::Val;
  using Mask = dsl::Val;
  static constexpr bool is_integer = false;
  static V lit(double c) { return V::literal(c); }
  static V select(V mask, V a, V b) { return dsl::choose(mask, a, b); }

  // An instruction of the same name, where the formula's vocabulary and the IR's agree.
#define SINTER_INSTRUCTION(name, arguments, rule, traits)       \
  template <std::same_as<V>... A>                               \
    requires(sizeof...(A) == (arguments) && sizeof...(A) > 0 && \
             ir::TypeRule::rule == ir::TypeRule::same)          \
  static V name(A... args) {                                    \
    return dsl::apply(ir::Op::name, {args...});                 \
  }
#include "sinter/kernel/ir/instructions.def"
#undef SINTER_INSTRUCTION
  static V fmod(V a, V b) { return dsl::apply(ir::Op::rem, {a, b}); }
  static V quotient(V a, V b) { return dsl::apply(ir::Op::div, {a, b}); }
  static V maximum(V a, V b) { return dsl::apply(ir::Op::max, {a, b}); }
  static V minimum(V a, V b) { return dsl::apply(ir::Op::min, {a, b}); }
};

}  // namespace sinter
