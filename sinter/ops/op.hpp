// SPDX-License-Identifier: MIT OR Apache-2.0
// The op contract: what an op struct says of itself, and how that becomes an OpDef row.
#pragma once

#include <concepts>
#include <type_traits>

#include "sinter/graph/backend.hpp"
#include "sinter/graph/op_call.hpp"
#include "sinter/ops/attributes.hpp"
#include "sinter/ops/formula.hpp"
#include "sinter/ops/sample.hpp"
#include "sinter/ops/scalar_carrier.hpp"
#include "sinter/ops/value_carrier.hpp"

namespace sinter {

/// Reductions: `init`, `combine`, `finish` (optional) on carriers, and attributes as in
/// `ReduceDims`.
struct ReduceDims {
  Dims dims;  ///< empty: all
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
Value apply(const Op& op, std::initializer_list<Value> inputs,
            SourceLoc where = SourceLoc::current()) {
  return execute(def_of<Op>(), &op, {inputs.begin(), inputs.size()}, 0, where)[0];
}

/// Throws DTypeError unless `dtype` is in `domain`.
void check_domain(std::string_view op, Domain domain, DType dtype);

}  // namespace sinter

#include "sinter/ops/detail/def_of.hpp"
