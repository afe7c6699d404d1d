// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules and gradients of sorting.
#include "sinter/ops/sort/sort.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/index/index.hpp"
#include "sinter/ops/index/update.hpp"

namespace sinter::ops {
namespace {

// Each gradient goes back to where its value came from.
void permuted_backward(GradCall& call, std::int64_t dim) {
  const Value& g = call.grad(0);
  if (g) {
    const Value zeros = full(g.backend(), call.input_shape(0), 0, g.dtype());
    call.set(0, scatter(zeros, dim, call.output(1), g));
  }
}

void require_elements(std::string_view op, const Shape& shape, int dim) {
  if (shape[dim] == 0) {
    throw ShapeError(
        fmt::format("{}: dim {} of {} has no elements and so none to choose; check for an "
                    "empty tensor first",
                    op, dim, shape.str()));
  }
}

void drop_dim(Shape& shape, int dim, bool keep) {
  if (keep) {
    shape[dim] = 1;
  } else {
    shape.erase(dim);
  }
}

template <class Op>
void infer_extreme(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  const Op& op = call.as<Op>();
  check_domain(Op::info.name, Op::info.domain, x.dtype());
  const int dim = normalize_dim(op.dim, x.rank(), Op::info.name);
  require_elements(Op::info.name, x.shape(), dim);
  Shape shape = x.shape();
  drop_dim(shape, dim, op.keep_dim);
  outputs.push_back({shape, DType::i64});
}

template <class Op>
void add_samples(SampleSink& sink) {
  sink.add(Op{{0, false}}, {distinct_sample({5, 3, 4})});
  sink.add(Op{{1, true}}, {distinct_sample({2, 6, 3})});
  sink.add(Op{{-1, false}}, {distinct_sample({3, 37})});
  sink.add(Op{{0, false}}, {distinct_sample({1})});
}

Value flat(const Value& x) { return reshape(x, {x.num_elements()}); }

}  // namespace

void Sort::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  check_domain("sort", info.domain, x.dtype());
  (void)normalize_dim(call.as<Sort>().dim, x.rank(), "sort");
  outputs.push_back({x.shape(), x.dtype()});
  outputs.push_back({x.shape(), DType::i64});
}
void Sort::backward(GradCall& call) { permuted_backward(call, call.op<Sort>().dim); }
void Sort::samples(SampleSink& sink) {
  sink.add(Sort{-1, false}, {distinct_sample({3, 17})});
  sink.add(Sort{0, true}, {distinct_sample({6, 3})});
  sink.add(Sort{1, false}, {distinct_sample({2, 5, 3})});
  sink.add(Sort{0, false}, {distinct_sample({1})});
}

void TopK::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  const TopK& op = call.as<TopK>();
  check_domain("topk", info.domain, x.dtype());
  const int dim = normalize_dim(op.dim, x.rank(), "topk");
  if (op.k < 0 || op.k > x.size(dim)) {
    throw ArgumentError(fmt::format("topk: k must be in [0, {}] for dim {} of {}, got {}",
                                    x.size(dim), dim, x.shape().str(), op.k));
  }
  Shape shape = x.shape();
  shape[dim] = op.k;
  outputs.push_back({shape, x.dtype()});
  outputs.push_back({shape, DType::i64});
}
void TopK::backward(GradCall& call) { permuted_backward(call, call.op<TopK>().dim); }
void TopK::samples(SampleSink& sink) {
  sink.add(TopK{3, -1, true}, {distinct_sample({3, 17})});
  sink.add(TopK{2, 0, false}, {distinct_sample({6, 3})});
  sink.add(TopK{5, 1, true}, {distinct_sample({2, 5, 3})});
  sink.add(TopK{0, 0, true}, {distinct_sample({4})});
}

void Argmax::infer(const OpCall& call, Specs& outputs) { infer_extreme<Argmax>(call, outputs); }
void Argmax::samples(SampleSink& sink) { add_samples<Argmax>(sink); }
void Argmin::infer(const OpCall& call, Specs& outputs) { infer_extreme<Argmin>(call, outputs); }
void Argmin::samples(SampleSink& sink) { add_samples<Argmin>(sink); }

Outputs sort(const Value& x, std::int64_t dim, bool descending, SourceLoc where) {
  return apply(Sort{dim, descending}, std::span(&x, 1), 0, where);
}
Value argsort(const Value& x, std::int64_t dim, bool descending, SourceLoc where) {
  return sort(x, dim, descending, where)[1];
}
Outputs topk(const Value& x, std::int64_t k, std::int64_t dim, bool largest, SourceLoc where) {
  return apply(TopK{k, dim, largest}, std::span(&x, 1), 0, where);
}
Value argmax(const Value& x, std::int64_t dim, bool keep_dim, SourceLoc where) {
  return apply(Argmax{{dim, keep_dim}}, {x}, where);
}
Value argmin(const Value& x, std::int64_t dim, bool keep_dim, SourceLoc where) {
  return apply(Argmin{{dim, keep_dim}}, {x}, where);
}
Value argmax(const Value& x, SourceLoc where) { return argmax(flat(x), 0, false, where); }
Value argmin(const Value& x, SourceLoc where) { return argmin(flat(x), 0, false, where); }

Outputs median(const Value& x, std::int64_t dim, bool keep_dim, SourceLoc where) {
  const int d = normalize_dim(dim, x.rank(), "median");
  require_elements("median", x.shape(), d);
  const std::int64_t n = x.size(d);
  const Outputs sorted = sort(x, d, false, where);
  Value value = narrow(sorted[0], d, (n - 1) / 2, 1);
  Value index = narrow(sorted[1], d, (n - 1) / 2, 1);
  if (is_floating(x.dtype())) {
    // NaN is last: the first of several has the lowest index.
    const Value last = narrow(sorted[0], d, n - 1, 1);
    const Value first_nan = argmax(x, d, true, where);
    const Value found = is_nan(last);
    value = call(OpCode::where, {found, last, value}, where);
    index = call(OpCode::where, {found, first_nan, index}, where);
  }
  Outputs result;
  result.push_back(keep_dim ? value : squeeze(value, d));
  result.push_back(keep_dim ? index : squeeze(index, d));
  return result;
}
Value median(const Value& x, SourceLoc where) { return median(flat(x), 0, false, where)[0]; }

}  // namespace sinter::ops
