// SPDX-License-Identifier: MIT OR Apache-2.0
// Methods of Tensor that give the same elements another shape or order.
#pragma once

#include "sinter/tensor/detail/core.hpp"
#include "sinter/tensor/detail/kinds.hpp"

namespace sinter::detail {

template <int D, class K>
class ShapeMethods {
  using Self = Tensor<D, K>;
  template <int by>
  using Plus = Tensor<rank_plus<D, by>, K>;
  const Value& self(SourceLoc caller = SourceLoc::current()) const {
    return set_value(static_cast<const Self*>(this)->value(), caller);
  }

 public:
  /// One size may be -1. `x.reshape({6, -1})` keeps the type's rank; `x.reshape<3>({2, 3, -1})`
  /// sets it.
  template <int E = D>
  [[nodiscard]] Tensor<E, K> reshape(const Shape& shape,
                                     SourceLoc where = SourceLoc::current()) const {
    return Tensor<E, K>(ops::reshape(self(), shape, where));
  }
  /// Dim i of the result is dim `dims[i]` of this tensor.
  [[nodiscard]] Self permute(const Dims& dims, SourceLoc where = SourceLoc::current()) const {
    return Self(ops::permute(self(), dims, where));
  }
  /// Swaps two dims, the last two by default.
  [[nodiscard]] Self transpose(int a = -2, int b = -1,
                               SourceLoc where = SourceLoc::current()) const {
    return Self(ops::transpose(self(), a, b, where));
  }
  [[nodiscard]] Self swap_dims(int a, int b, SourceLoc where = SourceLoc::current()) const {
    return transpose(a, b, where);
  }
  [[nodiscard]] Self t(SourceLoc where = SourceLoc::current()) const {
    return transpose(-2, -1, where);
  }
  /// Dim `from` becomes dim `to`; the others keep their order.
  [[nodiscard]] Self movedim(int from, int to) const {
    return Self(ops::movedim(self(), {from}, {to}));
  }
  [[nodiscard]] Self movedim(const Dims& from, const Dims& to) const {
    return Self(ops::movedim(self(), from, to));
  }
  /// Dims of size 1 repeated without copying; -1 keeps a size. `x.expand<3>({4, 2, 3})` adds a dim
  /// in front.
  template <int E = D>
  [[nodiscard]] Tensor<E, K> expand(const Shape& shape,
                                    SourceLoc where = SourceLoc::current()) const {
    return Tensor<E, K>(ops::expand(self(), shape, where));
  }
  /// A dim of size 1 at place `dim` of the result.
  [[nodiscard]] Plus<1> unsqueeze(int dim, SourceLoc where = SourceLoc::current()) const {
    return Plus<1>(ops::unsqueeze(self(), dim, where));
  }
  /// Dims of size 1 at these places of the result: [3, 4] at {-1, -1} gives [3, 4, 1, 1].
  template <int E = dynamic_rank>
  [[nodiscard]] Tensor<E, K> unsqueeze_dims(const Dims& dims) const {
    return Tensor<E, K>(ops::unsqueeze_dims(self(), {dims.begin(), dims.end()}));
  }
  /// Without this dim, which has size 1: ShapeError otherwise.
  [[nodiscard]] Plus<-1> squeeze(int dim) const {
    return Plus<-1>(ops::squeeze_dims(self(), {dim}));
  }
  /// Without these dims, or without all dims of size 1.
  template <int E = dynamic_rank>
  [[nodiscard]] Tensor<E, K> squeeze_dims(const Dims& dims = {}) const {
    return Tensor<E, K>(ops::squeeze_dims(self(), dims));
  }
  /// Dims `first` … `last` merged into one.
  template <int E = dynamic_rank>
  [[nodiscard]] Tensor<E, K> flatten(int first = 0, int last = -1) const {
    return Tensor<E, K>(ops::flatten(self(), first, last));
  }
  /// Elements of these dims in reverse.
  [[nodiscard]] Self flip(const Dims& dims, SourceLoc where = SourceLoc::current()) const {
    return Self(ops::flip(self(), dims, where));
  }
  /// `length` elements of `dim` from `start` on; IndexError where they are not all there.
  [[nodiscard]] Self narrow(int dim, std::int64_t start, std::int64_t length,
                            SourceLoc where = SourceLoc::current()) const {
    return Self(ops::narrow(self(), dim, start, length, where));
  }
  /// Dense and row-major; a copy only where it is not.
  [[nodiscard]] Self contiguous(SourceLoc where = SourceLoc::current()) const {
    return Self(ops::contiguous(self(), where));
  }
  /// Windows of `size` elements each `step` along `dim`, as a new last dim: [6] by size 3 gives [4,
  /// 3].
  [[nodiscard]] Plus<1> unfold(int dim, std::int64_t size, std::int64_t step = 1,
                               SourceLoc where = SourceLoc::current()) const {
    return Plus<1>(ops::unfold(self(), dim, size, step, where));
  }

  /// Elements moved `shift` places up `dim`; those pushed out come back in front.
  [[nodiscard]] Self roll(std::int64_t shift, int dim) const {
    return Self(ops::roll(self(), {shift}, {dim}));
  }
  [[nodiscard]] Self roll(const Dims& shifts, const Dims& dims) const {
    return Self(ops::roll(self(), shifts, dims));
  }
  /// This tensor `times[i]` times along dim i; 0 gives an empty one.
  [[nodiscard]] Self repeat(const Dims& times) const { return Self(ops::repeat(self(), times)); }
  [[nodiscard]] Self repeat_dim(int dim, std::int64_t times) const {
    Dims all = Dims::filled(self().rank(), 1);
    all[normalize_dim(dim, self().rank(), "repeat_dim")] = times;
    return repeat(all);
  }
  /// Each element of `dim` `times` times in a row.
  [[nodiscard]] Self repeat_interleave(std::int64_t times, int dim) const {
    return Self(ops::repeat_interleave(self(), times, dim));
  }

  /// Views of `size` elements of `dim` each; the last one may be smaller.
  [[nodiscard]] std::vector<Self> split(std::int64_t size, int dim = 0) const {
    return typed<Self>(ops::split(self(), size, dim));
  }
  /// Views of these sizes, which must add up to the dim's.
  [[nodiscard]] std::vector<Self> split_with_sizes(const std::vector<std::int64_t>& sizes,
                                                   int dim = 0) const {
    return typed<Self>(ops::split(self(), {sizes.data(), sizes.size()}, dim));
  }
  /// At most `count` equal views: 7 by 3 gives 3, 3, 1.
  [[nodiscard]] std::vector<Self> chunk(std::int64_t count, int dim = 0) const {
    return typed<Self>(ops::chunk(self(), count, dim));
  }
  /// One view for each index of `dim`, without that dim: `for (const auto& row : x.unbind())`.
  [[nodiscard]] auto unbind(int dim = 0) const { return typed<Plus<-1>>(ops::unbind(self(), dim)); }
  /// One view for each index of `dim`, which it keeps with size 1.
  [[nodiscard]] std::vector<Self> iter_dim(int dim) const { return split(1, dim); }

  /// The elements on and above diagonal `k` of the last two dims, 0 elsewhere.
  [[nodiscard]] Self triu(std::int64_t k = 0) const { return Self(ops::triu(self(), k)); }
  /// The elements on and below diagonal `k` of the last two dims, 0 elsewhere.
  [[nodiscard]] Self tril(std::int64_t k = 0) const { return Self(ops::tril(self(), k)); }
  /// A vector on diagonal `k` of a matrix, or diagonal `k` of each matrix [.., m, n] as a vector.
  [[nodiscard]] auto diag(std::int64_t k = 0) const {
    return Tensor<(D == 1 ? 2 : rank_plus<D, -1>), K>(ops::diag(self(), k));
  }
  /// A border around the last dims: `before[i]` elements in front of the i-th of them, `after[i]`
  /// behind. Negative amounts cut off. ArgumentError for a reflection longer than its dim.
  [[nodiscard]] Self pad(const Dims& before, const Dims& after, PadMode mode = PadMode::constant,
                         Scalar value = 0, SourceLoc where = SourceLoc::current()) const {
    return Self(ops::pad(self(), before, after, mode, value, where));
  }

 private:
  template <class T>
  static std::vector<T> typed(std::vector<Value> values) {
    std::vector<T> tensors;
    tensors.reserve(values.size());
    for (Value& value : values) {
      tensors.emplace_back(std::move(value));
    }
    return tensors;
  }
};

}  // namespace sinter::detail
