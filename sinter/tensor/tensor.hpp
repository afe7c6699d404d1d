// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensor<D, K>: a handle to elements on a device, with rank and kind checked by the compiler.
#pragma once

#include <array>
#include <optional>
#include <type_traits>
#include <vector>

#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/tensor/detail/core.hpp"
#include "sinter/tensor/detail/index_methods.hpp"
#include "sinter/tensor/detail/kinds.hpp"
#include "sinter/tensor/detail/math_methods.hpp"
#include "sinter/tensor/detail/order_methods.hpp"
#include "sinter/tensor/detail/shape_methods.hpp"
#include "sinter/tensor/read.hpp"

namespace sinter {

/// A value: copying it copies a handle, not elements. `D` is the rank, `K` the kind (Float, Int,
/// Bool); dtype and shape are known at run time. Operators on `std::move(x)` and on
/// temporaries are computed in place; a tensor that has another live handle is never changed.
///
///     auto x = Tensor<2>::from({{1, 2}, {3, 4}});
///     auto y = (x * 2 + 1).matmul(x);
///     float first = y.slice(0, 0).item<float>();
template <int D, class K>
class Tensor : public detail::ShapeMethods<D, K>,
               public detail::IndexMethods<D, K>,
               public detail::OrderMethods<D, K>,
               public detail::MathMethods<D, K> {
 public:
  static_assert(D >= 0 || D == dynamic_rank, "a tensor's rank is 0 or more");
  static_assert(D <= max_rank, "a tensor has at most 8 dims");
  static constexpr int rank_in_type = D;
  using KindType = K;
  template <int by>
  using Ranked = Tensor<detail::rank_plus<D, by>, K>;
  using BoolTensor = Tensor<D, detail::kind_or_any<K, Bool>>;
  using IntTensor = Tensor<D, detail::kind_or_any<K, Int>>;
  using FloatTensor = Tensor<D, detail::kind_or_any<K, Float>>;

  /// Unset: only assignment and `is_set()` are allowed, all else is an ArgumentError.
  Tensor() = default;
  /// Throws ShapeError or DTypeError unless `value` has this rank and kind.
  explicit Tensor(Value value) : value_(std::move(value)) {
    detail::check_type(value_, D, detail::kind_code<K>());
  }
  /// From another tensor type: always to DynTensor, checked the other way.
  template <int E, class L>
    requires(!std::is_same_v<Tensor<E, L>, Tensor>)
  explicit(!(D == dynamic_rank && std::is_same_v<K, AnyKind>)) Tensor(const Tensor<E, L>& other)
      : Tensor(other.value()) {}

  // ---- Creation. Without a device, on the default one.

  /// Elements, shape and dtype of `data`; DTypeError for another kind, ShapeError for another rank.
  static Tensor from_data(const HostData& data, Device device = {}) {
    return Tensor(detail::from_data(data, device));
  }
  /// From nested lists: `Tensor<2>::from({{1, 2}, {3, 4}})`. ShapeError for rows of different
  /// lengths, DTypeError for numbers that the dtype can't hold.
  static Tensor from(detail::NestedList<D> values, Device device = {},
                     DType dtype = K::default_dtype)
    requires(D != 0 && D <= 6)
  {
    detail::NumberList list;
    detail::collect<(D < 1 ? 1 : D)>(values, list, 0);
    return Tensor(detail::from_numbers(list, dtype, device));
  }
  /// From one number.
  static Tensor from(Scalar value, Device device = {}, DType dtype = K::default_dtype)
    requires(D == 0)
  {
    return full({}, value, device, dtype);
  }
  /// A copy of row-major elements of `shape`, of any element type; the dtype is that type's.
  /// ShapeError unless there are as many as the shape holds.
  template <Element T>
  static Tensor from_span(std::span<const T> values, const Shape& shape, Device device = {}) {
    return from_data(HostData(shape, values), device);
  }
  /// The same from a vector, an array, or a span of elements that are not const.
  template <class R>
    requires requires(const R& r) { std::span(r.data(), r.size()); }
  static Tensor from_span(const R& values, const Shape& shape, Device device = {}) {
    using T = std::remove_cvref_t<decltype(*values.data())>;
    return from_span(std::span<const T>(values.data(), values.size()), shape, device);
  }
  /// Uses row-major memory of the caller's without copying it, where the device computes in host
  /// memory. `release(data)` is called once the last tensor that uses it is gone; until then it
  /// must not change.
  template <Element T, class F>
  static Tensor from_memory(T* data, const Shape& shape, F release, Device device = {}) {
    auto call = [](void* memory, void* context) {
      F* function = static_cast<F*>(context);
      (*function)(static_cast<T*>(memory));
      delete function;
    };
    return Tensor(detail::adopt(data, shape, dtype_of<T>, call, new F(std::move(release)), device));
  }
  static Tensor full(const Shape& shape, Scalar value, Device device = {},
                     DType dtype = K::default_dtype) {
    return Tensor(detail::full(shape, value, dtype, device));
  }
  static Tensor zeros(const Shape& shape, Device device = {}, DType dtype = K::default_dtype) {
    return full(shape, 0, device, dtype);
  }
  static Tensor ones(const Shape& shape, Device device = {}, DType dtype = K::default_dtype) {
    return full(shape, 1, device, dtype);
  }
  /// For elements that will all be written; they are 0 until then.
  static Tensor empty(const Shape& shape, Device device = {}, DType dtype = K::default_dtype) {
    return full(shape, 0, device, dtype);
  }
  /// This tensor's shape, dtype and device.
  [[nodiscard]] Tensor full_like(Scalar value) const {
    return Tensor(detail::full_like(value_, value));
  }
  [[nodiscard]] Tensor zeros_like() const { return full_like(0); }
  [[nodiscard]] Tensor ones_like() const { return full_like(1); }
  [[nodiscard]] Tensor empty_like() const { return full_like(0); }
  /// Numbers of the device's random stream (or the innermost GeneratorScope's).
  static Tensor random(const Shape& shape, Distribution distribution = {}, Device device = {},
                       DType dtype = K::default_dtype) {
    return Tensor(detail::random(shape, distribution, dtype, device));
  }
  [[nodiscard]] Tensor random_like(Distribution distribution = {}) const {
    return Tensor(ops::random_like(value_, distribution, SourceLoc::current()));
  }
  /// 0 … n - 1 in random order.
  static Tensor randperm(std::int64_t n, Device device = {})
    requires(D == 1 && std::is_same_v<K, Int>)
  {
    return Tensor(ops::randperm(device.backend(), n, SourceLoc::current()));
  }
  /// start, start + step, … before `end`.
  static Tensor arange(Scalar start, Scalar end, Scalar step = 1, Device device = {},
                       DType dtype = K::default_dtype)
    requires(D == 1 || D == dynamic_rank)
  {
    return Tensor(detail::arange(start, end, step, dtype, device));
  }
  /// 0, 1, … before `end`.
  static Tensor arange(Scalar end, Device device = {}, DType dtype = K::default_dtype)
    requires(D == 1 || D == dynamic_rank)
  {
    return arange(0, end, 1, device, dtype);
  }
  /// `count` numbers from `start` to `end`, both included.
  static Tensor linspace(double start, double end, std::int64_t count, Device device = {},
                         DType dtype = K::default_dtype)
    requires(D == 1 || D == dynamic_rank)
  {
    return Tensor(detail::linspace(start, end, count, dtype, device));
  }
  /// base^start … base^end.
  static Tensor logspace(double start, double end, std::int64_t count, double base = 10,
                         Device device = {}, DType dtype = K::default_dtype)
    requires(D == 1 || D == dynamic_rank)
  {
    return Tensor(detail::logspace(start, end, count, base, dtype, device));
  }
  /// Ones on the diagonal of a square or `rows` x `columns` matrix.
  static Tensor eye(std::int64_t size, Device device = {}, DType dtype = K::default_dtype)
    requires(D == 2 || D == dynamic_rank)
  {
    return eye(size, size, device, dtype);
  }
  static Tensor eye(std::int64_t rows, std::int64_t columns, Device device = {},
                    DType dtype = K::default_dtype)
    requires(D == 2 || D == dynamic_rank)
  {
    return Tensor(detail::eye(rows, columns, dtype, device));
  }

  // ---- What it is.

  /// It holds a tensor. There is no conversion to bool: `if (x == y)` is written
  /// `if ((x == y).all().item<bool>())`.
  bool is_set() const { return static_cast<bool>(value_); }
  const Value& value() const& { return value_; }
  Value value() && { return std::move(value_); }
  const Shape& shape() const { return value_.shape(); }
  int rank() const { return value_.rank(); }
  DType dtype() const { return value_.dtype(); }
  Device device() const { return detail::device_of(value_); }
  std::int64_t num_elements() const { return value_.num_elements(); }
  /// Size of one dim; negative counts from the end.
  std::int64_t size(int dim) const { return shape()[normalize_dim(dim, rank(), "size")]; }
  /// All sizes, for structured bindings: `auto [rows, columns] = x.dims();`
  auto dims() const
    requires(D >= 0)
  {
    std::array<std::int64_t, static_cast<std::size_t>(D)> sizes{};
    for (int i = 0; i < D; ++i) {
      sizes[static_cast<std::size_t>(i)] = shape()[i];
    }
    return sizes;
  }

  // ---- Reading: waits for the elements.

  HostData to_data() const { return detail::read(value_); }
  /// Reads on another thread: `PendingData data = x.to_data_async(); … data.get()`.
  PendingData to_data_async() const { return PendingData(value_); }
  /// The elements in row-major order, converted to `T`.
  template <Element T>
  std::vector<T> to_vector() const {
    const HostData data = to_data().cast(dtype_of<T>);
    const std::span<const T> elements = data.template as<T>();
    return std::vector<T>(elements.begin(), elements.end());
  }
  /// The one element; ShapeError for a tensor of more.
  template <class T = double>
  T item() const {
    const Scalar scalar = detail::item(value_);
    return scalar.kind == Kind::floating ? static_cast<T>(scalar.floating)
                                         : static_cast<T>(scalar.integer);
  }
  /// Elements, shape, dtype and device as text.
  std::string str() const { return detail::print(value_); }

  // ---- Elementwise, one method for each attribute-free op of ops.def.

#define SINTER_UNARY(Struct, name, group)                                          \
  [[nodiscard]] Tensor name(SourceLoc where = SourceLoc::current()) const&         \
    requires detail::in_                                                           \
  ##group<K> {                                                                     \
    return Tensor(detail::run(OpCode::name, value_, where), Trusted{});            \
  }                                                                                \
  [[nodiscard]] Tensor name(SourceLoc where = SourceLoc::current())&&              \
    requires detail::in_                                                           \
  ##group<K> {                                                                     \
    return Tensor(detail::run(OpCode::name, std::move(value_), where), Trusted{}); \
  }
#define SINTER_TEST(Struct, name, group)                                        \
  [[nodiscard]] BoolTensor name(SourceLoc where = SourceLoc::current()) const { \
    return BoolTensor(detail::run(OpCode::name, value_, where));                \
  }
#define SINTER_BINARY(Struct, name, group)                                                        \
  [[nodiscard]] Tensor name(const Tensor& other, SourceLoc where = SourceLoc::current()) const& { \
    return Tensor(detail::run(OpCode::name, value_, {&other.value_, {}, where}), Trusted{});      \
  }                                                                                               \
  [[nodiscard]] Tensor name(const Tensor& other, SourceLoc where = SourceLoc::current())&& {      \
    return Tensor(detail::run(OpCode::name, std::move(value_), {&other.value_, {}, where}),       \
                  Trusted{});                                                                     \
  }                                                                                               \
  [[nodiscard]] Tensor name(Scalar other, SourceLoc where = SourceLoc::current()) const& {        \
    return Tensor(detail::run(OpCode::name, value_, {nullptr, other, where}), Trusted{});         \
  }                                                                                               \
  [[nodiscard]] Tensor name(Scalar other, SourceLoc where = SourceLoc::current())&& {             \
    return Tensor(detail::run(OpCode::name, std::move(value_), {nullptr, other, where}),          \
                  Trusted{});                                                                     \
  }
#define SINTER_COMPARE(Struct, name, group)                                                   \
  [[nodiscard]] BoolTensor name(const Tensor& other, SourceLoc where = SourceLoc::current())  \
      const {                                                                                 \
    return BoolTensor(detail::run(OpCode::name, value_, {&other.value_, {}, where}));         \
  }                                                                                           \
  [[nodiscard]] BoolTensor name(Scalar other, SourceLoc where = SourceLoc::current()) const { \
    return BoolTensor(detail::run(OpCode::name, value_, {nullptr, other, where}));            \
  }
#define SINTER_TERNARY(Struct, name, group)
  // x.sum() folds all dims, x.sum(1) drops one, x.sum(1, keep_dim) keeps it with size 1,
  // x.sum<1>({0, 2}) drops several and states the rank that is left.
#define SINTER_REDUCE(Struct, name, group)                                                   \
  [[nodiscard]] auto name(SourceLoc where = SourceLoc::current()) const {                    \
    return reduced<OpCode::name, 0>({}, false, where);                                       \
  }                                                                                          \
  [[nodiscard]] auto name(int dim, SourceLoc where = SourceLoc::current()) const {           \
    return reduced<OpCode::name, D - 1>({dim}, false, where);                                \
  }                                                                                          \
  [[nodiscard]] auto name(int dim, KeepDim, SourceLoc where = SourceLoc::current()) const {  \
    return reduced<OpCode::name, D>({dim}, true, where);                                     \
  }                                                                                          \
  [[nodiscard]] auto name(const Dims& dims, KeepDim, SourceLoc where = SourceLoc::current()) \
      const {                                                                                \
    return reduced<OpCode::name, D>(dims, true, where);                                      \
  }                                                                                          \
  template <int E>                                                                           \
  [[nodiscard]] auto name(const Dims& dims, SourceLoc where = SourceLoc::current()) const {  \
    return reduced<OpCode::name, E>(dims, false, where);                                     \
  }
#include "sinter/ops/ops.def"
#undef SINTER_UNARY
#undef SINTER_TEST
#undef SINTER_BINARY
#undef SINTER_COMPARE
#undef SINTER_TERNARY
#undef SINTER_REDUCE

  // ---- Operators. The right side is a tensor of the same or a smaller rank, or a number.

  /// Implicitly made from what may stand to the right of an operator.
  class Right {
   public:
    Right(const Tensor& tensor, SourceLoc where = SourceLoc::current())
        : operand_{&tensor.value_, {}, where} {}
    template <int E>
      requires(E != D && (D == dynamic_rank || E < D))
    Right(const Tensor<E, K>& tensor, SourceLoc where = SourceLoc::current())
        : operand_{&tensor.value(), {}, where} {}
    template <class T>
      requires std::is_arithmetic_v<T>
    Right(T number, SourceLoc where = SourceLoc::current()) : operand_{nullptr, number, where} {}
    const detail::Operand& operand() const { return operand_; }

   private:
    detail::Operand operand_;
  };

#define SINTER_OPERATOR(symbol, code)                                                      \
  friend Tensor operator symbol(const Tensor& a, const Right& b) {                         \
    return Tensor(detail::run(OpCode::code, a.value_, b.operand()), Trusted{});            \
  }                                                                                        \
  friend Tensor operator symbol(Tensor&& a, const Right& b) {                              \
    return Tensor(detail::run(OpCode::code, std::move(a.value_), b.operand()), Trusted{}); \
  }                                                                                        \
  Tensor& operator symbol##=(const Right & b) {                                            \
    detail::run_assign(OpCode::code, value_, b.operand());                                 \
    return *this;                                                                          \
  }
  SINTER_OPERATOR(+, add)
  SINTER_OPERATOR(-, sub)
  SINTER_OPERATOR(*, mul)
  SINTER_OPERATOR(/, div)
  SINTER_OPERATOR(%, remainder)
  SINTER_OPERATOR(<<, bitwise_left_shift)
  SINTER_OPERATOR(>>, bitwise_right_shift)
#undef SINTER_OPERATOR
#define SINTER_OPERATOR(symbol, code)                                                    \
  template <class T>                                                                     \
    requires std::is_arithmetic_v<T>                                                     \
  friend Tensor operator symbol(T a, const Tensor& b) {                                  \
    return Tensor(detail::run_reversed(OpCode::code, a, b.value_, SourceLoc::current()), \
                  Trusted{});                                                            \
  }
  SINTER_OPERATOR(+, add)
  SINTER_OPERATOR(-, sub)
  SINTER_OPERATOR(*, mul)
  SINTER_OPERATOR(/, div)
  SINTER_OPERATOR(%, remainder)
#undef SINTER_OPERATOR
#define SINTER_OPERATOR(symbol, code)                                    \
  friend BoolTensor operator symbol(const Tensor& a, const Right& b) {   \
    return BoolTensor(detail::run(OpCode::code, a.value_, b.operand())); \
  }
  SINTER_OPERATOR(<, less)
  SINTER_OPERATOR(<=, less_equal)
  SINTER_OPERATOR(>, greater)
  SINTER_OPERATOR(>=, greater_equal)
  SINTER_OPERATOR(==, equal)
  SINTER_OPERATOR(!=, not_equal)
#undef SINTER_OPERATOR
  // On bool tensors these are logic, on integers bits.
  friend Tensor operator&(const Tensor& a, const Tensor& b) {
    return a.logic(OpCode::logical_and, OpCode::bitwise_and, b);
  }
  friend Tensor operator|(const Tensor& a, const Tensor& b) {
    return a.logic(OpCode::logical_or, OpCode::bitwise_or, b);
  }
  friend Tensor operator^(const Tensor& a, const Tensor& b) {
    return a.logic(OpCode::logical_xor, OpCode::bitwise_xor, b);
  }
  Tensor operator!() const
    requires(std::is_same_v<K, Bool> || std::is_same_v<K, AnyKind>)
  {
    return Tensor(detail::run(OpCode::logical_not, value_, SourceLoc::current()));
  }
  Tensor operator-() const& { return neg(); }
  Tensor operator-() && { return std::move(*this).neg(); }

  // ---- Linear algebra.

  /// [..., m, k] x [..., k, n] -> [..., m, n]; leading dims broadcast.
  template <int E = D>
  [[nodiscard]] auto matmul(const Tensor<E, K>& other,
                            SourceLoc where = SourceLoc::current()) const {
    constexpr int rank = D == dynamic_rank || E == dynamic_rank ? dynamic_rank : D > E ? D : E;
    return Tensor<rank, K>(detail::run(OpCode::matmul, value_, {&other.value(), {}, where}));
  }

  // ---- Kinds, dtypes, devices.

  /// Another dtype; the kind may change: `x.cast<Int>(DType::i32)`.
  template <class L = K>
  [[nodiscard]] Tensor<D, L> cast(DType dtype) const {
    return Tensor<D, L>(detail::cast(value_, dtype));
  }
  [[nodiscard]] FloatTensor to_float() const {
    return FloatTensor(detail::cast(value_, DType::f32));
  }
  [[nodiscard]] IntTensor to_int() const { return IntTensor(detail::cast(value_, DType::i64)); }
  [[nodiscard]] BoolTensor to_bool() const {
    return BoolTensor(detail::cast(value_, DType::boolean));
  }
  [[nodiscard]] Tensor to_device(Device device) const {
    return Tensor(detail::to_device(value_, device));
  }

  // ---- Gradients: devices with autodiff only.

  /// A leaf whose gradient backward() computes.
  [[nodiscard]] Tensor require_grad() const { return Tensor(detail::require_grad(value_)); }
  [[nodiscard]] bool is_require_grad() const { return detail::is_tracked(value_); }
  /// The same elements without history.
  [[nodiscard]] Tensor detach() const { return Tensor(detail::detach(value_)); }
  /// On the device under autodiff.
  [[nodiscard]] Tensor inner() const { return Tensor(value_.backend().unwrap(value_)); }
  /// A tensor of `device.inner()` brought to `device`.
  static Tensor from_inner(const Tensor& inner, Device device) {
    return Tensor(device.backend().wrap(inner.value_));
  }
  /// Gradients of this one-element tensor with respect to all leaves.
  [[nodiscard]] Gradients backward() const;
  /// The gradient of this leaf, on the device under autodiff; nullopt if it took no part.
  [[nodiscard]] std::optional<Tensor> grad(const Gradients& gradients) const;

 private:
  struct Trusted {};
  // A result whose rank and kind follow from the op's rule.
  Tensor(Value value, Trusted) : value_(std::move(value)) {}
  template <OpCode code, int R>
  auto reduced(const Dims& dims, bool keep, SourceLoc where) const {
    return Tensor < D == dynamic_rank ? dynamic_rank : R, detail::reduced_kind < code,
           K >> (detail::reduce(code, value_, dims, keep, where));
  }
  Tensor logic(OpCode on_bool, OpCode on_integers, const Tensor& other) const {
    const OpCode code = dtype() == DType::boolean ? on_bool : on_integers;
    return Tensor(detail::run(code, value_, {&other.value_, {}, SourceLoc::current()}));
  }
  Value value_;
};

template <int D, class K>
Gradients Tensor<D, K>::backward() const {
  return detail::backward(value_);
}

template <int D, class K>
std::optional<Tensor<D, K>> Tensor<D, K>::grad(const Gradients& gradients) const {
  Value gradient = detail::gradient(value_, gradients);
  return gradient ? std::optional(Tensor(std::move(gradient))) : std::nullopt;
}

}  // namespace sinter
