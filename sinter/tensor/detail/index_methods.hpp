// SPDX-License-Identifier: MIT OR Apache-2.0
// Methods of Tensor that read and write by position, index or mask. Those that write give a copy,
// or the tensor itself where it is a temporary that has no other handle: `x =
// std::move(x).slice_fill(0, range(0, 2))`.
#pragma once

#include "sinter/tensor/detail/core.hpp"
#include "sinter/tensor/detail/kinds.hpp"

namespace sinter::detail {

template <int D, class K>
class IndexMethods {
  using Self = Tensor<D, K>;
  template <int by>
  using Plus = Tensor<rank_plus<D, by>, K>;
  using IndexKind = kind_or_any<K, Int>;
  using Index = Tensor<D, IndexKind>;
  using Vector = Tensor<rank_or_dynamic<D, 1>, IndexKind>;
  using Mask = Tensor<D, kind_or_any<K, Bool>>;
  const Value& self(SourceLoc caller = SourceLoc::current()) const {
    return set_value(static_cast<const Self*>(this)->value(), caller);
  }
  Value take_self(SourceLoc caller = SourceLoc::current()) {
    (void)self(caller);
    return std::move(static_cast<Self&>(*this)).value();
  }

 public:
  /// Python's slicing: `x.slice(range(0, -1), all, 3)`. An integer drops its dim; dims not named
  /// stay whole.
  template <class... Items>
  [[nodiscard]] auto slice(Items... items) const {
    static_assert(D == dynamic_rank || sizeof...(Items) <= static_cast<std::size_t>(D),
                  "slice: more ranges than the tensor has dims");
    const SliceItem list[] = {SliceItem(items)..., SliceItem(none, none, 1)};
    return Plus<-(0 + ... + drops<Items>)>(detail::slice(self(), {list, sizeof...(Items)}));
  }
  /// A copy in which the slice holds `values`, which broadcast to it: `x.slice_assign(y, range(0,
  /// 2), all)`.
  template <class V, class... Items>
  [[nodiscard]] Self slice_assign(const V& values, Items... items) const& {
    const SliceItem list[] = {SliceItem(items)..., SliceItem(none, none, 1)};
    return Self(detail::slice_assign(self(), {list, sizeof...(Items)}, values.value()));
  }
  template <class V, class... Items>
  [[nodiscard]] Self slice_assign(const V& values, Items... items) && {
    const SliceItem list[] = {SliceItem(items)..., SliceItem(none, none, 1)};
    return Self(detail::slice_assign(take_self(), {list, sizeof...(Items)}, values.value()));
  }
  /// A copy in which the slice holds one number.
  template <class... Items>
  [[nodiscard]] Self slice_fill(Scalar fill, Items... items) const& {
    const SliceItem list[] = {SliceItem(items)..., SliceItem(none, none, 1)};
    const Value filled =
        detail::number(static_cast<const Self*>(this)->value(), fill, "slice_fill");
    return Self(detail::slice_assign(self(), {list, sizeof...(Items)}, filled));
  }
  template <class... Items>
  [[nodiscard]] Self slice_fill(Scalar fill, Items... items) && {
    const SliceItem list[] = {SliceItem(items)..., SliceItem(none, none, 1)};
    const Value filled =
        detail::number(static_cast<const Self*>(this)->value(), fill, "slice_fill");
    return Self(detail::slice_assign(take_self(), {list, sizeof...(Items)}, filled));
  }
  /// The slice of one dim: `x.slice_dim(1, range(0, none, 2))`.
  [[nodiscard]] Self slice_dim(int dim, const SliceItem& item) const {
    return Self(detail::slice_dim(self(), dim, item));
  }
  /// Row `position` of dim 0, kept with size 1; negative counts from the end.
  [[nodiscard]] Self index(std::int64_t position) const {
    return Self(detail::slice_dim(self(), 0, detail::one_position(self(), 0, position)));
  }
  /// Position `position` of `dim`, which is dropped; negative counts from the end.
  [[nodiscard]] Plus<-1> select_dim(int dim, std::int64_t position) const {
    const int d = normalize_dim(dim, self().rank(), "select_dim");
    return Plus<-1>(
        ops::squeeze(detail::slice_dim(self(), d, detail::one_position(self(), d, position)), d));
  }

  /// Slices of `dim` named by a vector of indices: [.., index[i], ..] in place i. IndexError
  /// outside the dim.
  [[nodiscard]] Self select(int dim, const Vector& index,
                            SourceLoc where = SourceLoc::current()) const {
    return Self(ops::index_select(self(), dim, index.value(), where));
  }
  /// A copy with slices of `dim` written where `select` would read them; repeated indices act in
  /// order.
  [[nodiscard]] Self select_assign(int dim, const Vector& index, const Self& values,
                                   IndexUpdate update = IndexUpdate::add,
                                   SourceLoc where = SourceLoc::current()) const& {
    return Self(detail::select_assign(self(), dim, index.value(), values.value(), update, where));
  }
  [[nodiscard]] Self select_assign(int dim, const Vector& index, const Self& values,
                                   IndexUpdate update = IndexUpdate::add,
                                   SourceLoc where = SourceLoc::current()) && {
    return Self(
        detail::select_assign(take_self(), dim, index.value(), values.value(), update, where));
  }
  /// For dim 1: out[i, j, k] = x[i, index[i, j, k], k].
  [[nodiscard]] Self gather(int dim, const Index& index,
                            SourceLoc where = SourceLoc::current()) const {
    return Self(ops::gather(self(), dim, index.value(), where));
  }
  /// A copy with `values` written where `gather` would read them.
  [[nodiscard]] Self scatter(int dim, const Index& index, const Self& values,
                             IndexUpdate update = IndexUpdate::add,
                             SourceLoc where = SourceLoc::current()) const& {
    return Self(detail::scatter(self(), dim, index.value(), values.value(), update, where));
  }
  [[nodiscard]] Self scatter(int dim, const Index& index, const Self& values,
                             IndexUpdate update = IndexUpdate::add,
                             SourceLoc where = SourceLoc::current()) && {
    return Self(detail::scatter(take_self(), dim, index.value(), values.value(), update, where));
  }
  /// Each row of the index [.., k] is a position in the first k dims: [.., the other dims].
  template <int R = dynamic_rank, int E>
  [[nodiscard]] Tensor<R, K> gather_nd(const Tensor<E, IndexKind>& index,
                                       SourceLoc where = SourceLoc::current()) const {
    return Tensor<R, K>(ops::gather_nd(self(), index.value(), where));
  }
  /// A copy with `values` written where `gather_nd` would read them.
  template <int E, int V>
  [[nodiscard]] Self scatter_nd(const Tensor<E, IndexKind>& index, const Tensor<V, K>& values,
                                IndexUpdate update = IndexUpdate::assign,
                                SourceLoc where = SourceLoc::current()) const& {
    return Self(detail::scatter_nd(self(), index.value(), values.value(), update, where));
  }
  template <int E, int V>
  [[nodiscard]] Self scatter_nd(const Tensor<E, IndexKind>& index, const Tensor<V, K>& values,
                                IndexUpdate update = IndexUpdate::assign,
                                SourceLoc where = SourceLoc::current()) && {
    return Self(detail::scatter_nd(take_self(), index.value(), values.value(), update, where));
  }
  /// Replaces `dim` by the dims of an index of any shape.
  template <int E>
  [[nodiscard]] auto take(int dim, const Tensor<E, IndexKind>& index,
                          SourceLoc where = SourceLoc::current()) const {
    return Plus<E - 1>(ops::take(self(), dim, index.value(), where));
  }
  /// `gather` with the index broadcast to this tensor in the other dims.
  [[nodiscard]] Self take_along_dim(int dim, const Index& index,
                                    SourceLoc where = SourceLoc::current()) const {
    return Self(ops::take_along_dim(self(), dim, index.value(), where));
  }

  /// Elements of `other` where `mask` holds, this tensor's elsewhere.
  [[nodiscard]] Self mask_where(const Mask& mask, const Self& other,
                                SourceLoc where = SourceLoc::current()) const& {
    return Self(detail::choose(mask.value(), other.value(), self(), where));
  }
  [[nodiscard]] Self mask_where(const Mask& mask, const Self& other,
                                SourceLoc where = SourceLoc::current()) && {
    return Self(detail::choose(mask.value(), other.value(), take_self(), where));
  }
  /// `fill` where `mask` holds, this tensor's elements elsewhere.
  [[nodiscard]] Self mask_fill(const Mask& mask, Scalar fill,
                               SourceLoc where = SourceLoc::current()) const& {
    const Value filled = number(static_cast<const Self*>(this)->value(), fill, "mask_fill");
    return Self(detail::choose(mask.value(), filled, self(), where));
  }
  [[nodiscard]] Self mask_fill(const Mask& mask, Scalar fill,
                               SourceLoc where = SourceLoc::current()) && {
    const Value filled = number(static_cast<const Self*>(this)->value(), fill, "mask_fill");
    return Self(detail::choose(mask.value(), filled, take_self(), where));
  }
  /// The elements where `mask` holds, in row-major order: [count]. Waits for the mask.
  [[nodiscard]] Tensor<rank_or_dynamic<D, 1>, K> mask_select(
      const Mask& mask, SourceLoc where = SourceLoc::current()) const {
    return Tensor<rank_or_dynamic<D, 1>, K>(ops::mask_select(self(), mask.value(), where));
  }
  /// Positions of the elements that are not 0, row-major: [count, rank]. Waits for the elements.
  [[nodiscard]] auto nonzero(SourceLoc where = SourceLoc::current()) const {
    return Tensor<rank_or_dynamic<D, 2>, IndexKind>(ops::nonzero(self(), where));
  }
  [[nodiscard]] auto argwhere(SourceLoc where = SourceLoc::current()) const {
    return nonzero(where);
  }
  /// Classes to rows with `on` at the class and `off` elsewhere: [..] -> [.., classes]. IndexError
  /// for a class outside [0, classes).
  [[nodiscard]] auto one_hot(std::int64_t classes, SourceLoc where = SourceLoc::current()) const
    requires(!std::is_same_v<K, Float> && may_be_number<K>)
  {
    return Plus<1>(ops::one_hot(self(), classes, DType::i64, where));
  }
};

}  // namespace sinter::detail
