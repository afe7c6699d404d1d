// SPDX-License-Identifier: MIT OR Apache-2.0
// Products of vectors and matrices as formulas over matmul, reshape and permute.
#pragma once

#include <span>
#include <string_view>

#include "sinter/graph/op_call.hpp"
#include "sinter/types/scalar.hpp"

namespace sinter::ops {

/// [n] . [n] -> [].
Value dot(const Value& a, const Value& b, SourceLoc where = SourceLoc::current());
/// [m], [n] -> [m, n]: all products.
Value outer(const Value& a, const Value& b, SourceLoc where = SourceLoc::current());
/// [.., m, k] x [k] -> [.., m].
Value matvec(const Value& a, const Value& x, SourceLoc where = SourceLoc::current());
/// [.., m, n] -> [..]: the sum of the main diagonal.
Value trace(const Value& x, SourceLoc where = SourceLoc::current());
/// beta * c + alpha * (a x b); `c` broadcasts to the product. With beta 0, c's NaN leave no trace.
Value addmm(const Value& c, const Value& a, const Value& b, double beta = 1, double alpha = 1,
            SourceLoc where = SourceLoc::current());
/// Kronecker product: [m, n], [p, q] -> [m * p, n * q].
Value kron(const Value& a, const Value& b, SourceLoc where = SourceLoc::current());
/// Sums products over the last `dims` dims of `a` and the first `dims` of `b`.
Value tensordot(const Value& a, const Value& b, int dims = 2,
                SourceLoc where = SourceLoc::current());

/// Einstein's summation: "bij,bjk->bik". Labels are letters; a label in several operands is
/// multiplied, one that is not in the result is summed. Without "->" the result has the labels that
/// occur once, in alphabetical order. A label twice in one operand takes the diagonal: "ii->i".
/// ArgumentError for a malformed equation, ShapeError where sizes of a label differ.
Value einsum(std::string_view equation, std::span<const Value> operands,
             SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
