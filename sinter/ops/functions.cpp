// SPDX-License-Identifier: MIT OR Apache-2.0
// Ops as functions on values.
#include "sinter/ops/functions.hpp"

#include "sinter/ops/arithmetic.hpp"
#include "sinter/ops/create.hpp"
#include "sinter/ops/derived/activations.hpp"
#include "sinter/ops/op.hpp"
#include "sinter/ops/reduce.hpp"
#include "sinter/ops/view.hpp"

namespace sinter::ops {

Value call(OpCode code, std::initializer_list<Value> inputs, SourceLoc where) {
  return execute(op_def(code), nullptr, {inputs.begin(), inputs.size()}, 0, where)[0];
}

#define SINTER_REDUCE(Struct, name, group)                                       \
  Value name(const Value& x, const Dims& dims, bool keep_dim, SourceLoc where) { \
    Struct op;                                                                   \
    op.dims = dims;                                                              \
    op.keep_dim = keep_dim;                                                      \
    return apply(op, {x}, where);                                                \
  }
#include "sinter/ops/ops.def"

Value scalar_like(const Value& like, Scalar value) {
  return like.backend().scalar(value, like.dtype());
}

Value full(Backend& backend, const Shape& shape, Scalar value, DType dtype, SourceLoc where) {
  const Fill op{shape, value, dtype};
  return apply(op, std::span<const Value>(), 0, where, &backend)[0];
}
Value full_like(const Value& like, Scalar value) {
  return full(like.backend(), like.shape(), value, like.dtype());
}
Value arange(Backend& backend, Scalar start, Scalar step, std::int64_t count, DType dtype) {
  const Arange op{start, step, count, dtype};
  return apply(op, std::span<const Value>(), 0, SourceLoc::current(), &backend)[0];
}

Value clamp(const Value& x, double low, double high) { return clamped(x, low, high); }
Value cast(const Value& x, DType dtype, SourceLoc where) {
  return x.dtype() == dtype ? x : apply(Cast{dtype}, {x}, where);
}
Value contiguous(const Value& x, SourceLoc where) { return apply(Contiguous{}, {x}, where); }

Value reshape(const Value& x, const Shape& shape, SourceLoc where) {
  return x.shape() == shape ? x : apply(Reshape{shape}, {x}, where);
}
Value permute(const Value& x, const Dims& dims, SourceLoc where) {
  return apply(Permute{dims}, {x}, where);
}
Value transpose(const Value& x, int a, int b, SourceLoc where) {
  Dims dims;
  for (int i = 0; i < x.rank(); ++i) {
    dims.push_back(i);
  }
  std::swap(dims[normalize_dim(a, x.rank(), "transpose")],
            dims[normalize_dim(b, x.rank(), "transpose")]);
  return permute(x, dims, where);
}
Value expand(const Value& x, const Shape& shape, SourceLoc where) {
  return x.shape() == shape ? x : apply(Expand{shape}, {x}, where);
}
Value unsqueeze(const Value& x, int dim, SourceLoc where) {
  Shape shape = x.shape();
  shape.insert(normalize_dim(dim, x.rank() + 1, "unsqueeze"), 1);
  return apply(Reshape{shape}, {x}, where);
}
Value squeeze(const Value& x, int dim, SourceLoc where) {
  Shape shape = x.shape();
  shape.erase(normalize_dim(dim, x.rank(), "squeeze"));
  return apply(Reshape{shape}, {x}, where);
}

Value slice(const Value& x, const Dims& starts, const Dims& lengths, const Dims& steps,
            SourceLoc where) {
  return apply(Slice{starts, lengths, steps}, {x}, where);
}
Value slice_assign(const Value& x, const Value& values, const Dims& starts, const Dims& lengths,
                   const Dims& steps, bool accumulate, SourceLoc where) {
  return apply(SliceAssign{starts, lengths, steps, accumulate}, {x, values}, where);
}
Value narrow(const Value& x, int dim, std::int64_t start, std::int64_t length, SourceLoc where) {
  Dims starts = Dims::filled(x.rank(), 0);
  Dims lengths = x.shape();
  const int d = normalize_dim(dim, x.rank(), "narrow");
  starts[d] = start;
  lengths[d] = length;
  return slice(x, starts, lengths, Dims::filled(x.rank(), 1), where);
}
Value flip(const Value& x, const Dims& dims, SourceLoc where) {
  Dims starts = Dims::filled(x.rank(), 0);
  Dims steps = Dims::filled(x.rank(), 1);
  for (const std::int64_t dim : normalize_dims(dims, x.rank(), "flip")) {
    starts[static_cast<int>(dim)] = x.size(static_cast<int>(dim)) - 1;
    steps[static_cast<int>(dim)] = -1;
  }
  return slice(x, starts, x.shape(), steps, where);
}
Value unfold(const Value& x, int dim, std::int64_t size, std::int64_t step, SourceLoc where) {
  return apply(Unfold{dim, size, step}, {x}, where);
}

Value matmul(const Value& a, const Value& b) { return call(OpCode::matmul, {a, b}); }

Value sum_to(const Value& x, const Shape& shape) {
  if (x.shape() == shape) {
    return x;
  }
  const int lead = x.rank() - shape.rank();
  Dims dims;
  for (int i = 0; i < x.rank(); ++i) {
    if (i < lead || (shape[i - lead] == 1 && x.size(i) != 1)) {
      dims.push_back(i);
    }
  }
  return reshape(dims.empty() ? x : sum(x, dims, true), shape);
}

}  // namespace sinter::ops
