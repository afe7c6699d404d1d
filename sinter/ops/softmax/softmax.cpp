// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules and gradients of softmax and its relatives.
#include "sinter/ops/softmax/softmax.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::ops {
namespace {

void infer_along(const OpCall& call, Specs& outputs, const AlongDim& op, std::string_view name) {
  const Value& x = call.inputs[0];
  check_domain(name, Domain::floating, x.dtype());
  (void)normalize_dim(op.dim, x.rank(), name);
  outputs.push_back({x.shape(), x.dtype()});
}

void infer_along_pair(const OpCall& call, Specs& outputs, const AlongDim& op,
                      std::string_view name) {
  infer_along(call, outputs, op, name);
  const Value& y = call.inputs[0];
  const Value& g = call.inputs[1];
  if (!(g.shape() == y.shape()) || g.dtype() != y.dtype()) {
    throw ShapeError(fmt::format("{}: result {} {} and gradient {} {} must agree", name,
                                 y.shape().str(), name_of(y.dtype()), g.shape().str(),
                                 name_of(g.dtype())));
  }
}

template <class Op>
Op along(std::int64_t dim) {
  Op op;
  op.dim = dim;
  return op;
}

template <class Op>
void sample_dims(SampleSink& sink, int inputs) {
  for (const auto& [shape, dim] : {std::pair{Shape{3, 5}, -1}, std::pair{Shape{4, 3}, 0},
                                   std::pair{Shape{2, 5, 3}, 1}, std::pair{Shape{2, 1}, 1}}) {
    const SampleInput input = value_sample(shape);
    if (inputs == 1) {
      sink.add(along<Op>(dim), {input});
    } else {
      sink.add(along<Op>(dim), {input, input});
    }
  }
}

// The maximum that keeps exp() in range, or 0 where it is no number to subtract.
Value shift_of(const Value& x, const Dims& dims) {
  const Value top = max(x, dims, true);
  return where(is_finite(top), top, scalar_like(top, 0));
}

}  // namespace

void Softmax::infer(const OpCall& call, Specs& outputs) {
  infer_along(call, outputs, call.as<Softmax>(), info.name);
}
void Softmax::backward(GradCall& call) {
  call.set(0, apply(along<SoftmaxGrad>(call.op<Softmax>().dim), {call.output(), call.grad()}));
}
void Softmax::decompose(const OpCall& call, Outputs& outputs) {
  const Value& x = call.inputs[0];
  const Dims dims{call.as<Softmax>().dim};
  const Value e = exp(sub(x, max(x, dims, true)));
  outputs.push_back(div(e, sum(e, dims, true)));
}
void Softmax::samples(SampleSink& sink) { sample_dims<Softmax>(sink, 1); }

void LogSoftmax::infer(const OpCall& call, Specs& outputs) {
  infer_along(call, outputs, call.as<LogSoftmax>(), info.name);
}
void LogSoftmax::backward(GradCall& call) {
  call.set(0,
           apply(along<LogSoftmaxGrad>(call.op<LogSoftmax>().dim), {call.output(), call.grad()}));
}
void LogSoftmax::decompose(const OpCall& call, Outputs& outputs) {
  const Value& x = call.inputs[0];
  const Dims dims{call.as<LogSoftmax>().dim};
  const Value shifted = sub(x, max(x, dims, true));
  outputs.push_back(sub(shifted, log(sum(exp(shifted), dims, true))));
}
void LogSoftmax::samples(SampleSink& sink) { sample_dims<LogSoftmax>(sink, 1); }

void SoftmaxGrad::infer(const OpCall& call, Specs& outputs) {
  infer_along_pair(call, outputs, call.as<SoftmaxGrad>(), info.name);
}
void SoftmaxGrad::decompose(const OpCall& call, Outputs& outputs) {
  const Value& y = call.inputs[0];
  const Value& g = call.inputs[1];
  outputs.push_back(mul(y, sub(g, sum(mul(y, g), {call.as<SoftmaxGrad>().dim}, true))));
}
void SoftmaxGrad::samples(SampleSink& sink) { sample_dims<SoftmaxGrad>(sink, 2); }

void LogSoftmaxGrad::infer(const OpCall& call, Specs& outputs) {
  infer_along_pair(call, outputs, call.as<LogSoftmaxGrad>(), info.name);
}
void LogSoftmaxGrad::decompose(const OpCall& call, Outputs& outputs) {
  const Value& y = call.inputs[0];
  const Value& g = call.inputs[1];
  outputs.push_back(sub(g, mul(exp(y), sum(g, {call.as<LogSoftmaxGrad>().dim}, true))));
}
void LogSoftmaxGrad::samples(SampleSink& sink) { sample_dims<LogSoftmaxGrad>(sink, 2); }

void LogSumExp::infer(const OpCall& call, Specs& outputs) {
  const auto& op = call.as<LogSumExp>();
  const Value& x = call.inputs[0];
  check_domain(info.name, info.domain, x.dtype());
  const Dims dims = normalize_dims(op.dims, x.rank(), info.name);
  Shape shape = x.shape();
  for (int i = x.rank() - 1; i >= 0; --i) {
    for (const std::int64_t dim : dims) {
      if (dim == i && op.keep_dim) {
        shape[i] = 1;
      } else if (dim == i) {
        shape.erase(i);
      }
    }
  }
  outputs.push_back({shape, x.dtype()});
}
void LogSumExp::decompose(const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<LogSumExp>();
  const Value& x = call.inputs[0];
  if (x.num_elements() == 0) {  // the logarithm of a sum of nothing
    outputs.push_back(full(x.backend(), call.outputs[0].shape, -INFINITY, x.dtype()));
    return;
  }
  const Value top = shift_of(x, op.dims);
  const Value y = add(log(sum(exp(sub(x, top)), op.dims, true)), top);
  outputs.push_back(reshape(y, call.outputs[0].shape));
}
void LogSumExp::backward(GradCall& call) {
  const auto& op = call.op<LogSumExp>();
  const Value& x = call.input(0);
  Shape kept = x.shape();
  for (const std::int64_t dim : normalize_dims(op.dims, x.rank(), info.name)) {
    kept[static_cast<int>(dim)] = 1;
  }
  const Value y = reshape(call.output(), kept);
  const Value safe = where(is_finite(y), y, scalar_like(y, 0));
  call.set(0, mul(reshape(call.grad(), kept), exp(sub(x, safe))));
}
void LogSumExp::samples(SampleSink& sink) {
  sink.add(LogSumExp{{-1}, false}, {value_sample({3, 4})});
  sink.add(LogSumExp{{0, 2}, true}, {value_sample({2, 3, 4})});
  sink.add(LogSumExp{}, {value_sample({2, 3})});
}

Value softmax(const Value& x, int dim, SourceLoc where) {
  return apply(along<Softmax>(dim), {x}, where);
}
Value log_softmax(const Value& x, int dim, SourceLoc where) {
  return apply(along<LogSoftmax>(dim), {x}, where);
}
Value logsumexp(const Value& x, const Dims& dims, bool keep_dim, SourceLoc where) {
  return apply(LogSumExp{dims, keep_dim}, {x}, where);
}
Value softmin(const Value& x, int dim, SourceLoc where) { return softmax(neg(x), dim, where); }
Value quiet_softmax(const Value& x, int dim, SourceLoc where) {
  // softmax * s / (1 + s) with s = sum(exp(x)), which is sigmoid(log s).
  const Value quiet = sigmoid(logsumexp(x, {dim}, true, where));
  return mul(softmax(x, dim, where), quiet);
}
Value normalize(const Value& x, int dim, double eps, SourceLoc where) {
  const Value norm = sqrt(sum(square(x, where), {dim}, true));
  // The root's gradient at 0 is infinite, so 0 is replaced before dividing by it.
  const Value small = less(norm, scalar_like(norm, eps));
  const Value total = sum(square(x), {dim}, true);
  const Value safe = sqrt(ops::where(small, scalar_like(total, 1), total));
  return div(x, ops::where(small, scalar_like(norm, eps), safe));
}
Value glu(const Value& x, int dim, SourceLoc where) {
  const int d = normalize_dim(dim, x.rank(), "glu");
  const std::int64_t half = x.size(d) / 2;
  if (x.size(d) % 2 != 0) {
    throw ShapeError(fmt::format("glu: dim {} of {} must have an even size", d, x.shape().str()));
  }
  return mul(narrow(x, d, 0, half), sigmoid(narrow(x, d, half, half), where), where);
}

}  // namespace sinter::ops
