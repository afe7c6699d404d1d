// SPDX-License-Identifier: MIT OR Apache-2.0
// Rule and gradient of cross entropy.
#include <fmt/format.h>

#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/loss/loss.hpp"
#include "sinter/ops/softmax/softmax.hpp"

namespace sinter::ops {
namespace {

int class_dim(const Shape& logits) { return logits.rank() == 1 ? 0 : 1; }

void check_cross_entropy(std::string_view op, const Value& logits, const Value& targets,
                         const Value* weights) {
  check_domain(op, Domain::floating, logits.dtype());
  if (logits.rank() < 1) {
    throw ShapeError(fmt::format("{}: logits need a class dim, got a scalar", op));
  }
  if (!is_integer(targets.dtype())) {
    throw DTypeError(
        fmt::format("{}: targets must be integers (class numbers), got {}; for "
                    "probabilities use soft_cross_entropy",
                    op, name_of(targets.dtype())));
  }
  Shape expected = logits.shape();
  expected.erase(class_dim(expected));
  if (!(targets.shape() == expected)) {
    throw ShapeError(fmt::format("{}: logits {} need targets {}, got {}", op, logits.shape().str(),
                                 expected.str(), targets.shape().str()));
  }
  const std::int64_t classes = logits.shape()[class_dim(logits.shape())];
  if (classes < 1) {
    throw ShapeError(fmt::format("{}: logits {} have no classes", op, logits.shape().str()));
  }
  if (weights && (!(weights->shape() == Shape{classes}) || weights->dtype() != logits.dtype())) {
    throw ShapeError(fmt::format("{}: {} classes need weights [{}] of {}, got {} {}", op, classes,
                                 classes, name_of(logits.dtype()), weights->shape().str(),
                                 name_of(weights->dtype())));
  }
}

template <class Op>
Op with_options(const CrossEntropyOptions& options) {
  Op op;
  static_cast<CrossEntropyOptions&>(op) = options;
  return op;
}

// The gradient of the class weights, which are seldom learnt: by basic ops. The logsumexp is
// computed anew, since the saved one has no gradient with respect to the logits.
Value weight_gradient(const GradCall& call, const CrossEntropyOptions& op) {
  const Value& targets = call.input(1);
  const DType dtype = call.output(1).dtype();
  const Value x = cast(call.input(0), dtype);
  const int dim = class_dim(x.shape());
  const Value lse = op.normalized ? scalar_like(x, 0) : logsumexp(x, {dim}, true);
  const std::int64_t classes = x.size(dim);
  Shape along = Dims::filled(x.rank(), 1);
  along[dim] = classes;
  Dims others;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != dim) {
      others.push_back(i);
    }
  }
  const auto per_class = [&](const Value& terms) {
    return others.empty() ? terms : sum(terms, others);
  };
  const Value numbers = reshape(arange(x.backend(), 0, 1, classes, targets.dtype()), along);
  const Value counted = unsqueeze(not_equal(targets, scalar_like(targets, op.ignore_index)), dim);
  const Value zero = scalar_like(x, 0);
  const Value hits = cast(logical_and(equal(unsqueeze(targets, dim), numbers), counted), dtype);
  const Value share = scalar_like(x, op.label_smoothing / static_cast<double>(classes));
  const Value kept = add(mul(hits, scalar_like(x, 1 - op.label_smoothing)), share);
  const Value terms = where(counted, mul(sub(lse, x), kept), zero);
  const Value g = cast(call.grad(), dtype);
  if (op.reduction == Reduction::none) {
    return per_class(mul(terms, unsqueeze(g, dim)));
  }
  if (op.reduction == Reduction::sum) {
    return mul(per_class(terms), g);
  }
  const Value hit_counts = per_class(hits);
  const Value total = sum(mul(hit_counts, cast(call.input(2), dtype)));
  const Value rest = sub(per_class(terms), mul(hit_counts, cast(call.output(0), dtype)));
  return where(equal(total, zero), zero, mul(div(rest, total), g));
}

}  // namespace

void CrossEntropy::infer(const OpCall& call, Specs& outputs) {
  const auto& op = call.as<CrossEntropy>();
  const Value& logits = call.inputs[0];
  const Value& targets = call.inputs[1];
  check_cross_entropy(info.name, logits, targets,
                      call.inputs.size() > 2 ? &call.inputs[2] : nullptr);
  if (!(op.label_smoothing >= 0 && op.label_smoothing <= 1)) {
    throw ArgumentError(fmt::format("{}: label_smoothing must be in [0, 1], got {}", info.name,
                                    op.label_smoothing));
  }
  outputs.push_back({op.reduction == Reduction::none ? targets.shape() : Shape{}, logits.dtype()});
  outputs.push_back({targets.shape(), size_of(logits.dtype()) < 4 ? DType::f32 : logits.dtype()});
}

void CrossEntropy::backward(GradCall& call) {
  if (!call.grad()) {
    return;
  }
  if (call.num_inputs() > 2 && call.needs(2)) {
    call.set(2, weight_gradient(call, call.op<CrossEntropy>()));
  }
  if (!call.needs(0)) {
    return;
  }
  std::vector<Value> inputs{call.grad(), call.input(0), call.input(1), call.output(1)};
  if (call.num_inputs() > 2) {
    inputs.push_back(call.input(2));
  }
  call.set(0, sinter::apply(with_options<CrossEntropyGrad>(call.op<CrossEntropy>()), inputs)[0]);
}

void CrossEntropy::samples(SampleSink& sink) {
  CrossEntropy op;
  sink.add(op, {value_sample({4, 5}), index_sample({4}, 5)});
  op.reduction = Reduction::none;
  op.ignore_index = 1;
  sink.add(op, {value_sample({2, 3, 4}), index_sample({2, 4}, 3)});
  op.reduction = Reduction::sum;
  op.label_smoothing = 0.1;
  sink.add(op, {value_sample({3, 4}), index_sample({3}, 4), value_sample({4}, 0.5, 2)});
  op.reduction = Reduction::mean;
  sink.add(op, {value_sample({2, 3, 4}), index_sample({2, 4}, 3), value_sample({3}, 0.5, 2)});
  op.reduction = Reduction::none;
  sink.add(op, {value_sample({4, 3}), index_sample({4}, 3), value_sample({3}, 0.5, 2)});
}

void CrossEntropyGrad::infer(const OpCall& call, Specs& outputs) {
  const Value& logits = call.inputs[1];
  const Value& targets = call.inputs[2];
  check_cross_entropy(info.name, logits, targets,
                      call.inputs.size() > 4 ? &call.inputs[4] : nullptr);
  const bool each = call.as<CrossEntropyGrad>().reduction == Reduction::none;
  if (!(call.inputs[3].shape() == targets.shape()) ||
      !(call.inputs[0].shape() == (each ? targets.shape() : Shape{}))) {
    throw ShapeError(fmt::format("{}: gradient {} and logsumexp {} do not fit targets {}",
                                 info.name, call.inputs[0].shape().str(),
                                 call.inputs[3].shape().str(), targets.shape().str()));
  }
  outputs.push_back({logits.shape(), logits.dtype()});
}

// g_i * ((1 - s) w_y (p - onehot) + s / C (p W - w)), with p the softmax and W the sum of the
// weights.
void CrossEntropyGrad::decompose(const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<CrossEntropyGrad>();
  const Value& logits = call.inputs[1];
  const Value& targets = call.inputs[2];
  const DType dtype = logits.dtype();
  const int dim = class_dim(logits.shape());
  const std::int64_t classes = logits.size(dim);
  Shape along = Dims::filled(logits.rank(), 1);
  along[dim] = classes;
  const Value numbers = reshape(arange(logits.backend(), 0, 1, classes, targets.dtype()), along);
  const Value onehot = cast(equal(unsqueeze(targets, dim), numbers), dtype);
  const Value counted = cast(not_equal(targets, scalar_like(targets, op.ignore_index)), dtype);
  const Value one = scalar_like(logits, 1);
  const Value weights = call.inputs.size() > 4 ? reshape(call.inputs[4], along) : one;
  const Value of_target = mul(sum(mul(onehot, weights), {dim}, true), unsqueeze(counted, dim));
  const double share = op.label_smoothing / static_cast<double>(classes);
  const Value all = call.inputs.size() > 4 ? sum(weights) : scalar_like(logits, classes);
  const Value hard = mul(of_target, scalar_like(logits, 1 - op.label_smoothing));
  const Value soft = mul(unsqueeze(counted, dim), scalar_like(logits, share));
  Value dx = neg(add(mul(hard, onehot), mul(soft, weights)));
  if (!op.normalized) {
    dx = add(dx, mul(softmax(logits, dim), add(hard, mul(soft, all))));
  }
  Value g = call.inputs[0];
  if (op.reduction == Reduction::mean) {
    const Value total = sum(of_target);
    g = div(g, where(equal(total, scalar_like(total, 0)), one, total));
  }
  dx = mul(dx, op.reduction == Reduction::none ? unsqueeze(g, dim) : g);
  // Ignored positions get exactly 0, whatever their logits hold.
  outputs.push_back(
      where(equal(unsqueeze(counted, dim), scalar_like(counted, 0)), scalar_like(dx, 0), dx));
}

Value cross_entropy(const Value& logits, const Value& targets, const CrossEntropyOptions& options,
                    const Value& weights, SourceLoc where) {
  const CrossEntropy op = with_options<CrossEntropy>(options);
  return weights ? apply(op, {logits, targets, weights}, where)
                 : apply(op, {logits, targets}, where);
}
Value nll_loss(const Value& log_probabilities, const Value& targets, CrossEntropyOptions options,
               const Value& weights, SourceLoc where) {
  options.normalized = true;
  return cross_entropy(log_probabilities, targets, options, weights, where);
}
Value cross_entropy_of_probabilities(const Value& probabilities, const Value& targets,
                                     const CrossEntropyOptions& options, const Value& weights,
                                     SourceLoc where) {
  return nll_loss(log(probabilities, where), targets, options, weights, where);
}
Value soft_cross_entropy(const Value& logits, const Value& targets, Reduction reduction,
                         SourceLoc where) {
  if (!(logits.shape() == targets.shape())) {
    throw ShapeError(
        fmt::format("soft_cross_entropy: logits {} and target probabilities {} must have one "
                    "shape",
                    logits.shape().str(), targets.shape().str()));
  }
  const int dim = logits.rank() == 1 ? 0 : 1;
  return reduce_loss(neg(sum(mul(targets, log_softmax(logits, dim, where)), {dim})), reduction);
}

}  // namespace sinter::ops
