// SPDX-License-Identifier: MIT OR Apache-2.0
// The op contract: what an op struct says of itself, and how that becomes an OpDef row.
#pragma once

#include <concepts>
#include <type_traits>

#include "sinter/graph/backend.hpp"
#include "sinter/graph/op_call.hpp"
#include "sinter/ops/attributes.hpp"
#include "sinter/ops/sample.hpp"
#include "sinter/ops/scalar_carrier.hpp"
#include "sinter/ops/value_carrier.hpp"

namespace sinter {

/// Which dtypes an op takes. `numeric` is floats and integers; f8 types must be cast before computing.
enum class Domain : std::uint8_t { floating, numeric, integer, boolean_or_integer, any };

/// What an elementwise gradient formula reads besides the output's gradient.
enum class Reads : std::uint8_t { none = 0, a = 1, b = 2, c = 4, y = 8, ab = 3, abc = 7, ay = 9, by = 10, aby = 11 };

/// The facts of an op; every op struct has one as `static constexpr OpInfo info`.
struct OpInfo {
  std::string_view name;
  Domain domain = Domain::numeric;
  Reads reads = Reads::none;       ///< elementwise: what `backward` reads
  Saves saves{};                   ///< others: what `backward` reads
  bool cheap = true;               ///< recomputing costs little more than reading the result
  double low = -3;                 ///< sample inputs are drawn from [low, high)
  double high = 3;
  double tolerance = 2e-6;         ///< relative error allowed in f32
};

// Families of elementwise ops: derive the op struct from one of them and write
//   template <class T> static T forward(T a[, T b[, T c]])        (a member when it reads attributes)
//   template <class T> static T backward(T a, T y, T g)           unary: gradient of `a`
//   template <class T> static T grad_a(T a, T b, T y, T g)        binary: gradient of `a`; grad_b too
// `inline_gradient` ops have gradients too simple for a kernel of their own: they run as ops on values.
struct Unary {
  static constexpr int arity = 1;
};
struct Binary {
  static constexpr int arity = 2;
};
struct Ternary {
  static constexpr int arity = 3;
};
/// Binary ops that give bool: forward returns MaskOf<T>.
struct Compare : Binary {};
/// Unary ops that give bool.
struct Test : Unary {};

/// Reductions: `init`, `combine`, `finish` (optional) on carriers, and attributes as in `ReduceDims`.
struct ReduceDims {
  Dims dims;             ///< empty: all
  bool keep_dim = false;
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dims", self.dims);
    visit("keep_dim", self.keep_dim);
  }
};

/// A generated row: the gradient of elementwise op `O` in one pass; `side` is the input's index.
/// Inputs are (x, y, g) for unary ops and (a, b, y, g) for binary ones.
template <class O, int side>
struct GradOf {};

template <class O>
const OpDef& def_of();

/// Applies an op to values of one backend: `apply(Matmul{}, {a, b})`.
template <class Op>
Outputs apply(const Op& op, std::span<const Value> inputs, std::uint64_t donated = 0,
              SourceLoc where = SourceLoc::current(), Backend* backend = nullptr) {
  return execute(def_of<Op>(), &op, inputs, donated, where, backend);
}
template <class Op>
Value apply(const Op& op, std::initializer_list<Value> inputs, SourceLoc where = SourceLoc::current()) {
  return execute(def_of<Op>(), &op, {inputs.begin(), inputs.size()}, 0, where)[0];
}

/// Throws DTypeError unless `dtype` is in `domain`.
void check_domain(std::string_view op, Domain domain, DType dtype);

}  // namespace sinter

#include "sinter/ops/detail/def_of.hpp"
