// SPDX-License-Identifier: MIT OR Apache-2.0
// Types of results: how ranks and kinds follow from those of a method's tensor.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "sinter/base/loc.hpp"
#include "sinter/ops/opcode.hpp"
#include "sinter/types/dtype.hpp"
#include "sinter/types/scalar.hpp"

namespace sinter {

/// The rank of a tensor whose rank is known at run time only.
inline constexpr int dynamic_rank = -1;
/// The kind of a tensor whose kind is known at run time only.
struct AnyKind {
  static constexpr DType default_dtype = DType::f32;
};

template <int D, class K = Float>
class Tensor;

/// A tensor whose rank and kind are known at run time.
using DynTensor = Tensor<dynamic_rank, AnyKind>;

/// Chosen elements, and the index of each along the dim: `auto [values, indices] =
/// x.topk_with_indices(3);`
template <int D, class K>
struct WithIndices {
  Tensor<D, K> values;
  Tensor<D, std::conditional_t<std::is_same_v<K, AnyKind>, AnyKind, Int>> indices;
};

namespace detail {

template <int D, int by>
inline constexpr int rank_plus = D == dynamic_rank ? dynamic_rank : D + by;
// The rank `R` that a method states, unless its tensor's is dynamic.
template <int D, int R>
inline constexpr int rank_or_dynamic = D == dynamic_rank ? dynamic_rank : R;
template <class K, class To>
using kind_or_any = std::conditional_t<std::is_same_v<K, AnyKind>, AnyKind, To>;

// Any and all give bool; sums and products of bool count.
template <OpCode code, class K>
using reduced_kind = std::conditional_t<
    std::is_same_v<K, AnyKind>, AnyKind,
    std::conditional_t<
        code == OpCode::any || code == OpCode::all, Bool,
        std::conditional_t<std::is_same_v<K, Bool> && code != OpCode::max && code != OpCode::min,
                           Int, K>>>;

template <class K>
inline constexpr bool may_be_float = std::is_same_v<K, Float> || std::is_same_v<K, AnyKind>;
template <class K>
inline constexpr bool may_be_number = !std::is_same_v<K, Bool>;
// Which kinds the groups of ops.def take.
template <class K>
inline constexpr bool in_exponential = may_be_float<K>;
template <class K>
inline constexpr bool in_trigonometry = may_be_float<K>;
template <class K>
inline constexpr bool in_activation = may_be_number<K>;
template <class K>
inline constexpr bool in_arithmetic = may_be_number<K>;
template <class K>
inline constexpr bool in_bits = !std::is_same_v<K, Float>;

template <class K>
constexpr int kind_code() {
  if constexpr (std::is_same_v<K, AnyKind>) {
    return -1;
  } else {
    return static_cast<int>(K::kind);
  }
}

/// Nested braces of numbers, `rank` deep.
template <int rank>
struct Nested {
  using Type = std::initializer_list<typename Nested<rank - 1>::Type>;
};
template <>
struct Nested<0> {
  using Type = Scalar;
};
template <int rank>
using NestedList = typename Nested<(rank < 1 ? 1 : rank)>::Type;

}  // namespace detail
}  // namespace sinter
