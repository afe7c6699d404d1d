// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules and gradients of scans.
#include "sinter/ops/scan/scan.hpp"

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/index/update.hpp"

namespace sinter::ops {
namespace {

template <class Op>
void infer_scan(const OpCall& call, Specs& outputs, bool with_indices) {
  const Value& x = call.inputs[0];
  check_domain(Op::info.name, Op::info.domain, x.dtype());
  (void)normalize_dim(call.as<Op>().dim, x.rank(), Op::info.name);
  outputs.push_back({x.shape(), with_indices ? x.dtype() : sum_dtype(x.dtype())});
  if (with_indices) {
    outputs.push_back({x.shape(), DType::i64});
  }
}

// The sum of the elements from each one on.
Value sum_from(const Value& x, std::int64_t dim) {
  return flip(cumsum(flip(x, Dims{dim}), dim), Dims{dim});
}

void extreme_backward(GradCall& call, std::int64_t dim) {
  const Value& g = call.grad(0);
  if (g) {
    const Value zeros = full(g.backend(), call.input_shape(0), 0, g.dtype());
    call.set(0, scatter(zeros, dim, call.output(1), g));
  }
}

template <class Op>
void add_samples(SampleSink& sink) {
  for (const std::int64_t dim : {0, 1, -1}) {
    Op op;
    op.dim = dim;
    sink.add(op, {distinct_sample({3, 5, 4})});
  }
  sink.add(Op{}, {distinct_sample({7})});
  sink.add(Op{}, {distinct_sample({1, 4})});
}

}  // namespace

void Cumsum::infer(const OpCall& call, Specs& outputs) { infer_scan<Cumsum>(call, outputs, false); }
void Cumsum::backward(GradCall& call) { call.set(0, sum_from(call.grad(), call.op<Cumsum>().dim)); }
void Cumsum::samples(SampleSink& sink) { add_samples<Cumsum>(sink); }

void Cumprod::infer(const OpCall& call, Specs& outputs) {
  infer_scan<Cumprod>(call, outputs, false);
}
// Before the first zero of a row the gradient is the sum of g y from there on, over x. At the first
// zero it is that sum with the zero replaced by one. Past it every product holds the zero.
void Cumprod::backward(GradCall& call) {
  const std::int64_t dim = call.op<Cumprod>().dim;
  const Value& x = call.input(0);
  const Value& g = call.grad();
  const Value none = scalar_like(x, 0);
  const Value one = scalar_like(x, 1);
  const Value zero = equal(x, none);
  const Value zeros = cumsum(zero, dim);
  const Value first = logical_and(zero, equal(zeros, scalar_like(zeros, 1)));
  const Value without = cumprod(where(first, one, x), dim);
  const Value before = div(sum_from(mul(g, call.output()), dim), where(zero, one, x));
  const Value at = sum_from(mul(g, without), dim);
  const Value is_before = equal(zeros, scalar_like(zeros, 0));
  call.set(0, where(is_before, before, where(first, at, scalar_like(at, 0))));
}
void Cumprod::samples(SampleSink& sink) { add_samples<Cumprod>(sink); }

void Cummax::infer(const OpCall& call, Specs& outputs) { infer_scan<Cummax>(call, outputs, true); }
void Cummax::backward(GradCall& call) { extreme_backward(call, call.op<Cummax>().dim); }
void Cummax::samples(SampleSink& sink) { add_samples<Cummax>(sink); }

void Cummin::infer(const OpCall& call, Specs& outputs) { infer_scan<Cummin>(call, outputs, true); }
void Cummin::backward(GradCall& call) { extreme_backward(call, call.op<Cummin>().dim); }
void Cummin::samples(SampleSink& sink) { add_samples<Cummin>(sink); }

Value cumsum(const Value& x, std::int64_t dim, SourceLoc where) {
  return apply(Cumsum{{dim}}, {x}, where);
}
Value cumprod(const Value& x, std::int64_t dim, SourceLoc where) {
  return apply(Cumprod{{dim}}, {x}, where);
}
Outputs cummax(const Value& x, std::int64_t dim, SourceLoc where) {
  return apply(Cummax{{dim}}, std::span(&x, 1), 0, where);
}
Outputs cummin(const Value& x, std::int64_t dim, SourceLoc where) {
  return apply(Cummin{{dim}}, std::span(&x, 1), 0, where);
}

}  // namespace sinter::ops
