// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensor<D, K>: a handle to elements on a device, with rank and kind checked by the compiler.
#pragma once

#include <array>
#include <future>
#include <optional>
#include <type_traits>
#include <vector>

#include "sinter/tensor/detail/core.hpp"

namespace sinter {

template <int D, class K = Float>
class Tensor;

/// A tensor whose rank and kind are known at run time.
using DynTensor = Tensor<dynamic_rank, AnyKind>;

namespace detail {

template <int D, int by>
inline constexpr int rank_plus = D == dynamic_rank ? dynamic_rank : D + by;
template <class K, class To>
using kind_or_any = std::conditional_t<std::is_same_v<K, AnyKind>, AnyKind, To>;

// Any and all give bool; sums and products of bool count.
template <OpCode code, class K>
using reduced_kind = std::conditional_t<
    std::is_same_v<K, AnyKind>, AnyKind,
    std::conditional_t<code == OpCode::any || code == OpCode::all, Bool,
                       std::conditional_t<std::is_same_v<K, Bool>, Int, K>>>;

template <class K>
constexpr int kind_code() {
  if constexpr (std::is_same_v<K, AnyKind>) {
    return -1;
  } else {
    return static_cast<int>(K::kind);
  }
}

}  // namespace detail

/// A value: copying it copies a handle, not elements. `D` is the rank, `K` the kind (Float, Int, Bool);
/// dtype and shape are known at run time. Operators take their left side by value, so `std::move(x) + y`
/// and temporaries are computed in place; a tensor that has another live handle is never changed.
///
///     auto x = Tensor<2>::from({{1, 2}, {3, 4}});
///     auto y = (x * 2 + 1).matmul(x);
///     float first = y.slice(0, 0).item<float>();
template <int D, class K>
class Tensor {
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

  /// Empty: only assignment and `bool(x)` are allowed.
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

  static Tensor from_data(const HostData& data, Device device = {}) {
    return Tensor(detail::from_data(data, device));
  }
  /// From nested lists; the dtype is the kind's default.
  static Tensor from(std::initializer_list<double> values, Device device = {})
    requires(D == 1 && std::is_same_v<K, Float>)
  {
    return Tensor(detail::from_list<double>({values.begin(), values.size()},
                                            {static_cast<std::int64_t>(values.size())}, DType::f32,
                                            device));
  }
  /// Row-major elements of `shape`, of any element type; the dtype is that type's.
  template <Element T>
  static Tensor from_span(std::span<const T> values, const Shape& shape, Device device = {}) {
    return from_data(HostData(shape, values), device);
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
  static Tensor random(const Shape& shape, Distribution distribution = {}, Device device = {},
                       DType dtype = K::default_dtype) {
    return Tensor(detail::random(shape, distribution, dtype, device));
  }

  // ---- What it is.

  explicit operator bool() const { return static_cast<bool>(value_); }
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
  /// Reads on another thread.
  std::future<HostData> to_data_async() const {
    return std::async(std::launch::async, [value = value_] { return detail::read(value); });
  }
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

#define SINTER_UNARY(Struct, name, group)                                                  \
  [[nodiscard]] Tensor name(SourceLoc where = SourceLoc::current()) const& {               \
    return Tensor(detail::run(OpCode::name, value_, where), Trusted{});                    \
  }                                                                                        \
  [[nodiscard]] Tensor name(SourceLoc where = SourceLoc::current())&& {                    \
    return Tensor(detail::run(OpCode::name, std::move(value_), where), Trusted{});         \
  }
#define SINTER_TEST(Struct, name, group)                                                   \
  [[nodiscard]] BoolTensor name(SourceLoc where = SourceLoc::current()) const {            \
    return BoolTensor(detail::run(OpCode::name, value_, where));                           \
  }
#define SINTER_BINARY(Struct, name, group)                                                 \
  [[nodiscard]] Tensor name(const Tensor& other, SourceLoc where = SourceLoc::current()) const { \
    return Tensor(detail::run(OpCode::name, value_, {&other.value_, {}, where}), Trusted{});     \
  }                                                                                        \
  [[nodiscard]] Tensor name(Scalar other, SourceLoc where = SourceLoc::current()) const {  \
    return Tensor(detail::run(OpCode::name, value_, {nullptr, other, where}), Trusted{});  \
  }
#define SINTER_COMPARE(Struct, name, group)                                                \
  [[nodiscard]] BoolTensor name(const Tensor& other, SourceLoc where = SourceLoc::current()) const { \
    return BoolTensor(detail::run(OpCode::name, value_, {&other.value_, {}, where}));      \
  }                                                                                        \
  [[nodiscard]] BoolTensor name(Scalar other, SourceLoc where = SourceLoc::current()) const { \
    return BoolTensor(detail::run(OpCode::name, value_, {nullptr, other, where}));         \
  }
#define SINTER_TERNARY(Struct, name, group)
  // x.sum() folds all dims, x.sum(1) drops one, x.sum(1, keep_dim) keeps it with size 1.
#define SINTER_REDUCE(Struct, name, group)                                                  \
  [[nodiscard]] auto name(SourceLoc where = SourceLoc::current()) const {                   \
    return reduced<OpCode::name, 0>({}, false, where);                                      \
  }                                                                                         \
  [[nodiscard]] auto name(int dim, SourceLoc where = SourceLoc::current()) const {          \
    return reduced<OpCode::name, D - 1>({dim}, false, where);                               \
  }                                                                                         \
  [[nodiscard]] auto name(int dim, KeepDim, SourceLoc where = SourceLoc::current()) const { \
    return reduced<OpCode::name, D>({dim}, true, where);                                    \
  }                                                                                         \
  [[nodiscard]] auto name(const Dims& dims, KeepDim, SourceLoc where = SourceLoc::current()) const { \
    return reduced<OpCode::name, D>(dims, true, where);                                     \
  }
#include "sinter/ops/ops.def"
#undef SINTER_UNARY
#undef SINTER_TEST
#undef SINTER_BINARY
#undef SINTER_COMPARE
#undef SINTER_TERNARY
#undef SINTER_REDUCE

  [[nodiscard]] Tensor clamp(double low, double high) const {
    return Tensor(detail::clamp(value_, low, high));
  }
  /// Elements of `other` where `mask` holds, this tensor's elsewhere.
  [[nodiscard]] Tensor mask_where(const BoolTensor& mask, const Tensor& other,
                                  SourceLoc where = SourceLoc::current()) const {
    return Tensor(detail::run3(OpCode::where, mask.value(), other.value_, value_, where));
  }
  [[nodiscard]] Tensor mask_fill(const BoolTensor& mask, Scalar fill,
                                 SourceLoc where = SourceLoc::current()) const {
    return Tensor(detail::run3(OpCode::where, mask.value(), detail::number(value_, fill), value_, where));
  }

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

#define SINTER_OPERATOR(symbol, code)                                              \
  friend Tensor operator symbol(Tensor a, const Right& b) {                        \
    return Tensor(detail::run(OpCode::code, std::move(a.value_), b.operand()), Trusted{}); \
  }                                                                                \
  Tensor& operator symbol##=(const Right& b) {                                     \
    value_ = detail::run(OpCode::code, std::move(value_), b.operand());            \
    return *this;                                                                  \
  }
  SINTER_OPERATOR(+, add)
  SINTER_OPERATOR(-, sub)
  SINTER_OPERATOR(*, mul)
  SINTER_OPERATOR(/, div)
  SINTER_OPERATOR(%, remainder)
  SINTER_OPERATOR(<<, bitwise_left_shift)
  SINTER_OPERATOR(>>, bitwise_right_shift)
#undef SINTER_OPERATOR
#define SINTER_OPERATOR(symbol, code)                                              \
  template <class T>                                                               \
    requires std::is_arithmetic_v<T>                                               \
  friend Tensor operator symbol(T a, const Tensor& b) {                            \
    return Tensor(detail::run_reversed(OpCode::code, a, b.value_, SourceLoc::current()), Trusted{}); \
  }
  SINTER_OPERATOR(+, add)
  SINTER_OPERATOR(-, sub)
  SINTER_OPERATOR(*, mul)
  SINTER_OPERATOR(/, div)
  SINTER_OPERATOR(%, remainder)
#undef SINTER_OPERATOR
#define SINTER_OPERATOR(symbol, code)                                              \
  friend BoolTensor operator symbol(const Tensor& a, const Right& b) {             \
    return BoolTensor(detail::run(OpCode::code, Value(a.value_), b.operand()));    \
  }
  SINTER_OPERATOR(<, less)
  SINTER_OPERATOR(<=, less_equal)
  SINTER_OPERATOR(>, greater)
  SINTER_OPERATOR(>=, greater_equal)
  SINTER_OPERATOR(==, equal)
  SINTER_OPERATOR(!=, not_equal)
#undef SINTER_OPERATOR
  // On bool tensors these are logic, on integers bits.
  friend Tensor operator&(const Tensor& a, const Tensor& b) { return a.logic(OpCode::logical_and, OpCode::bitwise_and, b); }
  friend Tensor operator|(const Tensor& a, const Tensor& b) { return a.logic(OpCode::logical_or, OpCode::bitwise_or, b); }
  friend Tensor operator^(const Tensor& a, const Tensor& b) { return a.logic(OpCode::logical_xor, OpCode::bitwise_xor, b); }
  Tensor operator!() const { return Tensor(detail::run(OpCode::logical_not, value_, SourceLoc::current())); }
  Tensor operator-() const& { return neg(); }
  Tensor operator-() && { return std::move(*this).neg(); }

  // ---- Shape.

  /// One size may be -1. `x.reshape({6, -1})` keeps the type's rank; `x.reshape<3>({2, 3, -1})` sets it.
  template <int E = D>
  [[nodiscard]] Tensor<E, K> reshape(const Shape& shape) const {
    return Tensor<E, K>(detail::reshape(value_, shape));
  }
  [[nodiscard]] Tensor permute(const Dims& dims) const { return Tensor(detail::permute(value_, dims)); }
  /// Swaps two dims, the last two by default.
  [[nodiscard]] Tensor transpose(int a = -2, int b = -1) const {
    return Tensor(detail::transpose(value_, a, b));
  }
  [[nodiscard]] Tensor t() const { return transpose(); }
  /// Dims of size 1 repeated without copying; -1 keeps a size.
  template <int E = D>
  [[nodiscard]] Tensor<E, K> expand(const Shape& shape) const {
    return Tensor<E, K>(detail::expand(value_, shape));
  }
  [[nodiscard]] Ranked<1> unsqueeze(int dim) const { return Ranked<1>(detail::unsqueeze(value_, dim)); }
  [[nodiscard]] Ranked<-1> squeeze(int dim) const { return Ranked<-1>(detail::squeeze(value_, dim)); }
  /// Dims `first` … `last` merged into one.
  template <int E = dynamic_rank>
  [[nodiscard]] Tensor<E, K> flatten(int first = 0, int last = -1) const {
    return Tensor<E, K>(detail::flatten(value_, first, last));
  }
  [[nodiscard]] Tensor flip(const Dims& dims) const { return Tensor(detail::flip(value_, dims)); }
  [[nodiscard]] Tensor narrow(int dim, std::int64_t start, std::int64_t length) const {
    return Tensor(detail::narrow(value_, dim, start, length));
  }
  [[nodiscard]] Tensor contiguous() const { return Tensor(detail::contiguous(value_)); }

  /// Python's slicing: `x.slice(range(0, -1), all, 3)`. An integer drops its dim; dims not named stay whole.
  template <class... Items>
  [[nodiscard]] auto slice(Items... items) const {
    static_assert(D == dynamic_rank || sizeof...(Items) <= static_cast<std::size_t>(D),
                  "slice: more ranges than the tensor has dims");
    const SliceItem list[] = {SliceItem(items)..., SliceItem(none, none, 1)};
    return Ranked<-(0 + ... + detail::drops<Items>)>(detail::slice(value_, {list, sizeof...(Items)}));
  }
  /// A copy in which the slice holds `values`, which broadcast to it.
  template <class V, class... Items>
  [[nodiscard]] Tensor slice_assign(const V& values, Items... items) const {
    const SliceItem list[] = {SliceItem(items)..., SliceItem(none, none, 1)};
    return Tensor(detail::slice_assign(value_, {list, sizeof...(Items)}, values.value()));
  }
  /// Row `position` of dim 0, kept with size 1.
  [[nodiscard]] Tensor index(std::int64_t position) const { return narrow(0, position, 1); }

  // ---- Linear algebra.

  /// [..., m, k] x [..., k, n] -> [..., m, n]; leading dims broadcast.
  template <int E = D>
  [[nodiscard]] auto matmul(const Tensor<E, K>& other, SourceLoc where = SourceLoc::current()) const {
    constexpr int rank = D == dynamic_rank || E == dynamic_rank ? dynamic_rank : D > E ? D : E;
    return Tensor<rank, K>(detail::run(OpCode::matmul, value_, {&other.value(), {}, where}));
  }

  // ---- Kinds, dtypes, devices.

  /// Another dtype; the kind may change: `x.cast<Int>(DType::i32)`.
  template <class L = K>
  [[nodiscard]] Tensor<D, L> cast(DType dtype) const {
    return Tensor<D, L>(detail::cast(value_, dtype));
  }
  [[nodiscard]] FloatTensor to_float() const { return FloatTensor(detail::cast(value_, DType::f32)); }
  [[nodiscard]] IntTensor to_int() const { return IntTensor(detail::cast(value_, DType::i64)); }
  [[nodiscard]] BoolTensor to_bool() const { return BoolTensor(detail::cast(value_, DType::boolean)); }
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
    return Tensor<D == dynamic_rank ? dynamic_rank : R, detail::reduced_kind<code, K>>(
        detail::reduce(code, value_, dims, keep, where));
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
