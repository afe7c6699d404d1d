// SPDX-License-Identifier: MIT OR Apache-2.0
// Typed values of a kernel: Expr<T> never changes, Var<T> does.
#pragma once

#include <concepts>
#include <type_traits>

#include "sinter/kernel/dsl/val.hpp"

namespace sinter::dsl {

/// N lanes of T, as one value: Expr<Vec<float, 4>>.
template <class T, int N>
struct Vec {};

template <class T>
struct TypeOf {
  static constexpr ir::Type value{detail::DTypeOf<T>::value, 1};
  using Lane = T;
};
template <class T, int N>
struct TypeOf<Vec<T, N>> {
  static constexpr ir::Type value{detail::DTypeOf<T>::value, N};
  using Lane = T;
};
template <class T>
inline constexpr ir::Type type_of = TypeOf<T>::value;
/// The truth values that comparing two T gives.
template <class T>
struct TruthOf {
  using Type = bool;
};
template <class T, int N>
struct TruthOf<Vec<T, N>> {
  using Type = Vec<bool, N>;
};
template <class T>
using Truth = typename TruthOf<T>::Type;

/// An immutable value. A C++ number becomes a constant of T. It doesn't convert to bool: a native
/// `if` or `&&` would be decided while recording; write KERNEL_IF, `&` and `select`.
template <class T>
class Expr : public Val {
 public:
  explicit Expr(Val v) : Val(v) {}
  Expr(typename TypeOf<T>::Lane constant)
      : Val(Val::typed(type_of<T>, static_cast<double>(constant))) {}
  Expr(typename TypeOf<T>::Lane constant)
    requires std::integral<typename TypeOf<T>::Lane> && (sizeof(typename TypeOf<T>::Lane) == 8)
      : Val(Recorder::current().constant(type_of<T>, static_cast<std::uint64_t>(constant))) {}

  /// Lane `i` of a vector.
  [[nodiscard]] Expr<typename TypeOf<T>::Lane> lane(int i) const {
    return Expr<typename TypeOf<T>::Lane>(Val(
        Recorder::current().value(ir::Op::extract, {this->node()}, static_cast<std::uint64_t>(i))));
  }
};

#define SINTER_EXPR_BINARY(symbol, Result)                                   \
  template <class T>                                                         \
  Expr<Result> operator symbol(Expr<T> a, std::type_identity_t<Expr<T>> b) { \
    return Expr<Result>(Val(a) symbol Val(b));                               \
  }
// A number on the left; C++ turns == and != around by itself.
#define SINTER_EXPR_LEFT(symbol, Result)                                \
  template <class T>                                                    \
  Expr<Result> operator symbol(typename TypeOf<T>::Lane a, Expr<T> b) { \
    return Expr<T>(a) symbol b;                                         \
  }
#define SINTER_EXPR_BOTH(symbol, Result) \
  SINTER_EXPR_BINARY(symbol, Result)     \
  SINTER_EXPR_LEFT(symbol, Result)
SINTER_EXPR_BOTH(+, T)
SINTER_EXPR_BOTH(-, T)
SINTER_EXPR_BOTH(*, T)
SINTER_EXPR_BOTH(/, T)
SINTER_EXPR_BOTH(%, T)
SINTER_EXPR_BOTH(&, T)
SINTER_EXPR_BOTH(|, T)
SINTER_EXPR_BOTH(^, T)
SINTER_EXPR_BOTH(<<, T)
SINTER_EXPR_BOTH(>>, T)
SINTER_EXPR_BOTH(<, Truth<T>)
SINTER_EXPR_BOTH(<=, Truth<T>)
SINTER_EXPR_BOTH(>, Truth<T>)
SINTER_EXPR_BOTH(>=, Truth<T>)
SINTER_EXPR_BINARY(==, Truth<T>)
SINTER_EXPR_BINARY(!=, Truth<T>)
#undef SINTER_EXPR_BOTH
#undef SINTER_EXPR_LEFT
#undef SINTER_EXPR_BINARY

template <class T>
Expr<T> operator-(Expr<T> x) {
  return Expr<T>(-Val(x));
}
template <class T>
Expr<T> operator!(Expr<T> x) {
  return Expr<T>(!Val(x));
}
template <class T>
Expr<T> operator~(Expr<T> x) {
  return Expr<T>(~Val(x));
}
template <class T>
Expr<T> select(Expr<Truth<T>> mask, Expr<T> a, std::type_identity_t<Expr<T>> b) {
  return Expr<T>(choose(mask, a, b));
}
/// a * b + c, rounded once.
template <class T>
Expr<T> fma(Expr<T> a, std::type_identity_t<Expr<T>> b, std::type_identity_t<Expr<T>> c) {
  return Expr<T>(apply(ir::Op::fma, {a, b, c}));
}
/// Floats to integers truncate and clamp; NaN gives 0.
template <class To, class From>
Expr<To> cast(Expr<From> x) {
  return Expr<To>(convert(x, type_of<To>.dtype));
}
template <class To, class From>
Expr<To> bitcast(Expr<From> x) {
  return Expr<To>(reinterpret(x, type_of<To>.dtype));
}
template <int N, class T>
Expr<Vec<T, N>> splat(Expr<T> x) {
  return Expr<Vec<T, N>>(repeat(x, N));
}

/// sqrt(x), exp(x), tanh(x), erf(x), floor(x), min(a, b), pow(a, b) …: every instruction whose
/// arguments have one type, by its name.
#define SINTER_INSTRUCTION(name, arguments, rule, traits)             \
  template <class T, class... Rest>                                   \
    requires(sizeof...(Rest) + 1 == (arguments) && (arguments) < 3 && \
             ir::TypeRule::rule == ir::TypeRule::same &&              \
             (std::convertible_to<Rest, Expr<T>> && ...))             \
  Expr<T> name(Expr<T> x, Rest... rest) {                             \
    return Expr<T>(apply(ir::Op::name, {x, Expr<T>(rest)...}));       \
  }
#include "sinter/kernel/ir/instructions.def"
#undef SINTER_INSTRUCTION

/// An operand together with the line on which it was given to a statement.
template <class T>
struct Given {
  Expr<T> value;
  Loc loc;
  template <class U>
    requires std::convertible_to<U, Expr<T>>
  Given(const U& value, Loc loc = Loc::here()) : value(value), loc(loc) {}
};

/// A cell of one unit; assignments are recorded.
template <class T>
class Var {
 public:
  template <class U>
    requires std::convertible_to<U, Expr<T>>
  Var(const U& first, Loc loc = Loc::here())
      : memory_(Recorder::current().local(type_of<T>.dtype, type_of<T>.lanes)) {
    set(first, loc);
  }
  Var(const Var&) = delete;
  Var& operator=(const Var& other) { return set(other, {}); }
  template <class U>
    requires std::convertible_to<U, Expr<T>>
  Var& operator=(const U& next) {
    return set(next, {});
  }
  Var& operator+=(Given<T> x) { return set(value() + x.value, x.loc); }
  Var& operator-=(Given<T> x) { return set(value() - x.value, x.loc); }
  Var& operator*=(Given<T> x) { return set(value() * x.value, x.loc); }

  operator Expr<T>() const {
    return Expr<T>(Val(Recorder::current().value(ir::Op::load, {zero()}, memory_, type_of<T>)));
  }
  [[nodiscard]] Expr<T> value() const { return *this; }

 private:
  Var& set(Expr<T> next, Loc loc) {
    Recorder::current().statement(ir::Op::store, {zero(), next.node()}, memory_, loc);
    return *this;
  }
  static NodeId zero() { return Recorder::current().constant(ir::index_type, 0); }
  std::uint64_t memory_;
};

}  // namespace sinter::dsl
