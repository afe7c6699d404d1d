// SPDX-License-Identifier: MIT OR Apache-2.0
// Ops as functions on values: what gradients, decompositions and decorators are written with.
#pragma once

#include <initializer_list>

#include "sinter/graph/op_call.hpp"
#include "sinter/ops/opcode.hpp"
#include "sinter/types/scalar.hpp"

namespace sinter::ops {

/// Runs an attribute-free op with one output.
Value call(OpCode code, std::initializer_list<Value> inputs,
           SourceLoc where = SourceLoc::current());

#define SINTER_UNARY(Struct, name, group)                                     \
  inline Value name(const Value& a, SourceLoc where = SourceLoc::current()) { \
    return call(OpCode::name, {a}, where);                                    \
  }
#define SINTER_TEST SINTER_UNARY
#define SINTER_BINARY(Struct, name, group)                                                    \
  inline Value name(const Value& a, const Value& b, SourceLoc where = SourceLoc::current()) { \
    return call(OpCode::name, {a, b}, where);                                                 \
  }
#define SINTER_COMPARE SINTER_BINARY
#define SINTER_TERNARY(Struct, name, group)                         \
  inline Value name(const Value& a, const Value& b, const Value& c, \
                    SourceLoc where = SourceLoc::current()) {       \
    return call(OpCode::name, {a, b, c}, where);                    \
  }
#define SINTER_REDUCE(Struct, name, group)                                 \
  Value name(const Value& x, const Dims& dims = {}, bool keep_dim = false, \
             SourceLoc where = SourceLoc::current());
#include "sinter/ops/ops.def"
#undef SINTER_UNARY
#undef SINTER_TEST
#undef SINTER_BINARY
#undef SINTER_COMPARE
#undef SINTER_TERNARY
#undef SINTER_REDUCE

/// A rank-0 tensor of `like`'s dtype on its backend.
Value scalar_like(const Value& like, Scalar value);
Value full(Backend& backend, const Shape& shape, Scalar value, DType dtype,
           SourceLoc where = SourceLoc::current());
Value full_like(const Value& like, Scalar value);
inline Value zeros_like(const Value& like) { return full_like(like, 0); }
Value arange(Backend& backend, Scalar start, Scalar step, std::int64_t count, DType dtype);

Value clamp(const Value& x, double low, double high);
Value cast(const Value& x, DType dtype, SourceLoc where = SourceLoc::current());
Value contiguous(const Value& x, SourceLoc where = SourceLoc::current());

Value reshape(const Value& x, const Shape& shape, SourceLoc where = SourceLoc::current());
Value permute(const Value& x, const Dims& dims, SourceLoc where = SourceLoc::current());
/// Swaps two dims; the last two by default.
Value transpose(const Value& x, int a = -2, int b = -1, SourceLoc where = SourceLoc::current());
Value expand(const Value& x, const Shape& shape, SourceLoc where = SourceLoc::current());
Value unsqueeze(const Value& x, int dim, SourceLoc where = SourceLoc::current());
Value squeeze(const Value& x, int dim, SourceLoc where = SourceLoc::current());
/// `length` elements of `dim` from `start` on.
Value narrow(const Value& x, int dim, std::int64_t start, std::int64_t length,
             SourceLoc where = SourceLoc::current());
Value slice(const Value& x, const Dims& starts, const Dims& lengths, const Dims& steps,
            SourceLoc where = SourceLoc::current());
Value slice_assign(const Value& x, const Value& values, const Dims& starts, const Dims& lengths,
                   const Dims& steps, bool accumulate = false,
                   SourceLoc where = SourceLoc::current());
Value unfold(const Value& x, int dim, std::int64_t size, std::int64_t step,
             SourceLoc where = SourceLoc::current());
Value flip(const Value& x, const Dims& dims, SourceLoc where = SourceLoc::current());

Value matmul(const Value& a, const Value& b);

/// The gradient of a broadcast: `x` summed down to `shape`.
Value sum_to(const Value& x, const Shape& shape);

}  // namespace sinter::ops
