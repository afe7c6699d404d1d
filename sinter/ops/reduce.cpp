// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules and gradients of reductions.
#include "sinter/ops/reduce.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::ops {
namespace {

// `reduced` with the dims that were folded back as size 1.
Value with_kept_dims(const Value& reduced, const Shape& shape, const ReduceDims& op) {
  Shape kept = shape;
  for (const std::int64_t dim : normalize_dims(op.dims, shape.rank(), "reduce")) {
    kept[static_cast<int>(dim)] = 1;
  }
  return reshape(reduced, kept);
}

std::int64_t count_reduced(const Shape& shape, const ReduceDims& op, std::string_view name) {
  std::int64_t count = 1;
  for (const std::int64_t dim : normalize_dims(op.dims, shape.rank(), name)) {
    count *= shape[static_cast<int>(dim)];
  }
  return count;
}

void require_elements(const OpCall& call, const ReduceDims& op) {
  const Shape& shape = call.inputs[0].shape();
  const std::string_view name = call.def->name;
  if (count_reduced(shape, op, name) == 0) {
    const std::string where = op.dims.empty() ? "" : fmt::format(" along dims {}", op.dims.str());
    throw ShapeError(
        fmt::format("{}: shape {} has no elements{} and so no {}; check for an empty tensor first",
                    name, shape.str(), where, name));
  }
}

void infer_with_dtype(const OpCall& call, Specs& outputs, const OpInfo& info, const ReduceDims& op,
                      DType dtype) {
  sinter::detail::infer_reduce(call, outputs, info, op);
  outputs[0].dtype = dtype;
}

// The elements equal to the extreme share its gradient.
void extreme_backward(GradCall& call, const ReduceDims& op) {
  const Value& x = call.input(0);
  const Value y = with_kept_dims(call.output(), x.shape(), op);
  const Value g = with_kept_dims(call.grad(), x.shape(), op);
  const Value mask = cast(equal(x, y), g.dtype());
  const Value share = div(g, sum(mask, op.dims, true));
  call.set(0, mul(mask, share));
}

}  // namespace

void Sum::infer(const OpCall& call, Specs& outputs) {
  infer_with_dtype(call, outputs, info, call.as<Sum>(), sum_dtype(call.inputs[0].dtype()));
}
void Sum::backward(GradCall& call) {
  const Shape& shape = call.input_shape(0);
  call.set(0, expand(with_kept_dims(call.grad(), shape, call.op<Sum>()), shape));
}

void Prod::infer(const OpCall& call, Specs& outputs) {
  infer_with_dtype(call, outputs, info, call.as<Prod>(), sum_dtype(call.inputs[0].dtype()));
}
// The product of the others: all of them without zeros, only at the zero with one, nowhere with
// two.
void Prod::backward(GradCall& call) {
  const Prod& op = call.op<Prod>();
  const Value& x = call.input(0);
  const Value zero = equal(x, scalar_like(x, 0));
  const Value one = scalar_like(x, 1);
  const Value filled = where(zero, one, x);
  const Value product = prod(filled, op.dims, true);
  const Value zeros = sum(cast(zero, x.dtype()), op.dims, true);
  const Value none = scalar_like(x, 0);
  const Value at_zero = where(equal(zeros, one), product, none);
  const Value elsewhere = where(equal(zeros, none), div(product, filled), none);
  const Value g = with_kept_dims(call.grad(), x.shape(), op);
  call.set(0, mul(g, where(zero, at_zero, elsewhere)));
}

void Mean::backward(GradCall& call) {
  const Shape& shape = call.input_shape(0);
  const Value g = with_kept_dims(call.grad(), shape, call.op<Mean>());
  const auto count = static_cast<double>(count_reduced(shape, call.op<Mean>(), info.name));
  call.set(0, expand(mul(g, scalar_like(g, 1.0 / count)), shape));
}

void Max::infer(const OpCall& call, Specs& outputs) {
  require_elements(call, call.as<Max>());
  infer_with_dtype(call, outputs, info, call.as<Max>(), call.inputs[0].dtype());
}
void Max::backward(GradCall& call) { extreme_backward(call, call.op<Max>()); }

void Min::infer(const OpCall& call, Specs& outputs) {
  require_elements(call, call.as<Min>());
  infer_with_dtype(call, outputs, info, call.as<Min>(), call.inputs[0].dtype());
}
void Min::backward(GradCall& call) { extreme_backward(call, call.op<Min>()); }

void Any::infer(const OpCall& call, Specs& outputs) {
  infer_with_dtype(call, outputs, info, call.as<Any>(), DType::boolean);
}
void All::infer(const OpCall& call, Specs& outputs) {
  infer_with_dtype(call, outputs, info, call.as<All>(), DType::boolean);
}

}  // namespace sinter::ops
