// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions of several tensors: joining, choosing, products, grids and masks.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sinter/tensor/tensor.hpp"

namespace sinter {

namespace detail {

template <class T>
std::vector<Value> values_of(const T* tensors, std::size_t count) {
  std::vector<Value> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(tensors[i].value());
  }
  return values;
}
Value einsum(std::string_view equation, const std::vector<Value>& operands, SourceLoc where);
std::vector<Value> meshgrid(const std::vector<Value>& vectors);
Value cartesian_grid(const Shape& shape, const Device& device);
/// `triangle`: 0 upper, 1 lower, 2 diagonal.
Value triangle_mask(const Shape& shape, int triangle, std::int64_t k, const Device& device);
template <class First, class... Rest>
struct FirstOf {
  using Type = First;
};

}  // namespace detail

/// The parts one after another along `dim`; they agree in all other dims (ShapeError otherwise).
/// Parts of different dtypes are promoted: `cat({a, b}, 1)`.
template <int D, class K>
[[nodiscard]] Tensor<D, K> cat(const std::vector<Tensor<D, K>>& parts, int dim = 0,
                               SourceLoc where = SourceLoc::current()) {
  return Tensor<D, K>(ops::cat(detail::values_of(parts.data(), parts.size()), dim, where));
}
template <int D, class K>
[[nodiscard]] Tensor<D, K> cat(std::initializer_list<Tensor<D, K>> parts, int dim = 0,
                               SourceLoc where = SourceLoc::current()) {
  return Tensor<D, K>(ops::cat(detail::values_of(parts.begin(), parts.size()), dim, where));
}
/// Parts of equal shape along a new dim.
template <int D, class K>
[[nodiscard]] auto stack(const std::vector<Tensor<D, K>>& parts, int dim = 0,
                         SourceLoc where = SourceLoc::current()) {
  return Tensor<detail::rank_plus<D, 1>, K>(
      ops::stack(detail::values_of(parts.data(), parts.size()), dim, where));
}
template <int D, class K>
[[nodiscard]] auto stack(std::initializer_list<Tensor<D, K>> parts, int dim = 0,
                         SourceLoc where = SourceLoc::current()) {
  return Tensor<detail::rank_plus<D, 1>, K>(
      ops::stack(detail::values_of(parts.begin(), parts.size()), dim, where));
}

/// `a` where `mask` holds, `b` elsewhere; all three broadcast. What is not chosen leaves no trace,
/// in the gradient either.
template <int D, class K, class M>
[[nodiscard]] Tensor<D, K> where(const Tensor<D, M>& mask, const Tensor<D, K>& a,
                                 const Tensor<D, K>& b, SourceLoc where = SourceLoc::current()) {
  return Tensor<D, K>(detail::run3(OpCode::where, mask.value(), a.value(), b.value(), where));
}

/// beta * c + alpha * (a x b); `c` broadcasts to the product.
template <int D, class K, int E>
[[nodiscard]] Tensor<D, K> addmm(const Tensor<E, K>& c, const Tensor<D, K>& a,
                                 const Tensor<D, K>& b, double beta = 1, double alpha = 1,
                                 SourceLoc where = SourceLoc::current()) {
  return Tensor<D, K>(ops::addmm(c.value(), a.value(), b.value(), beta, alpha, where));
}

/// Einstein's summation: `einsum<3>("bij,bjk->bik", a, b)`. Labels are letters; one in several
/// operands is multiplied, one that is not in the result is summed, one twice in an operand takes
/// the diagonal. ArgumentError for a malformed equation, ShapeError where sizes of a label differ.
template <int R = dynamic_rank, class... T>
[[nodiscard]] auto einsum(std::string_view equation, const T&... operands) {
  using K = typename detail::FirstOf<T...>::Type::KindType;
  return Tensor<R, std::conditional_t<R == dynamic_rank, AnyKind, K>>(
      detail::einsum(equation, {operands.value()...}, SourceLoc::current()));
}

/// Sums products over the last `dims` dims of `a` and the first `dims` of `b`.
template <int R = dynamic_rank, int D, int E, class K>
[[nodiscard]] auto tensordot(const Tensor<D, K>& a, const Tensor<E, K>& b, int dims = 2,
                             SourceLoc where = SourceLoc::current()) {
  return Tensor<R, std::conditional_t<R == dynamic_rank, AnyKind, K>>(
      ops::tensordot(a.value(), b.value(), dims, where));
}

/// Sum of products along `dim` divided by the norms, each at least `eps`: without `dim`.
template <int D, class K>
[[nodiscard]] auto cosine_similarity(const Tensor<D, K>& a, const Tensor<D, K>& b, int dim = -1,
                                     double eps = 1e-8, SourceLoc where = SourceLoc::current()) {
  return Tensor<detail::rank_plus<D, -1>, K>(
      ops::cosine_similarity(a.value(), b.value(), dim, eps, where));
}

/// Vectors of sizes n, m, … -> tensors [n, m, …] that repeat them along the other dims:
/// `auto grids = meshgrid(xs, ys);`
template <class K, class... Rest>
[[nodiscard]] auto meshgrid(const Tensor<1, K>& first, const Rest&... rest) {
  std::vector<Tensor<1 + static_cast<int>(sizeof...(Rest)), K>> grids;
  for (Value& value : detail::meshgrid({first.value(), rest.value()...})) {
    grids.emplace_back(std::move(value));
  }
  return grids;
}
/// All positions in `shape`, row-major: [.., rank].
template <int R = dynamic_rank>
[[nodiscard]] auto cartesian_grid(const Shape& shape, Device device = {}) {
  return Tensor<R, std::conditional_t<R == dynamic_rank, AnyKind, Int>>(
      detail::cartesian_grid(shape, device));
}
/// Masks [.., m, n], true on and above, on and below, or on diagonal `k`.
template <int D>
[[nodiscard]] Tensor<D, Bool> triu_mask(const Shape& shape, std::int64_t k = 0,
                                        Device device = {}) {
  return Tensor<D, Bool>(detail::triangle_mask(shape, 0, k, device));
}
template <int D>
[[nodiscard]] Tensor<D, Bool> tril_mask(const Shape& shape, std::int64_t k = 0,
                                        Device device = {}) {
  return Tensor<D, Bool>(detail::triangle_mask(shape, 1, k, device));
}
template <int D>
[[nodiscard]] Tensor<D, Bool> diag_mask(const Shape& shape, std::int64_t k = 0,
                                        Device device = {}) {
  return Tensor<D, Bool>(detail::triangle_mask(shape, 2, k, device));
}

// A tensor of smaller rank on the left; the other way round is an operator of Tensor.
#define SINTER_OPERATOR(symbol, code)                                                  \
  template <int D, int E, class K>                                                     \
    requires(D >= 0 && D < E)                                                          \
  Tensor<E, K> operator symbol(const Tensor<D, K>& a, const Tensor<E, K>& b) {         \
    return Tensor<E, K>(                                                               \
        detail::run(OpCode::code, a.value(), {&b.value(), {}, SourceLoc::current()})); \
  }
SINTER_OPERATOR(+, add)
SINTER_OPERATOR(-, sub)
SINTER_OPERATOR(*, mul)
SINTER_OPERATOR(/, div)
SINTER_OPERATOR(%, remainder)
#undef SINTER_OPERATOR

}  // namespace sinter
