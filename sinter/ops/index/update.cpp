// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules and gradients of writing by index.
#include "sinter/ops/index/update.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/base/function_ref.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/index/detail.hpp"
#include "sinter/ops/index/index.hpp"

namespace sinter::ops {
namespace {

// Checks what all updates share; `target` is the shape that the values must broadcast to.
void infer_update(const OpCall& call, Specs& outputs, IndexUpdate update, const Shape& target) {
  const std::string_view op = call.def->name;
  const Value& x = call.inputs[0];
  const Value& values = call.inputs[2];
  if (x.dtype() != values.dtype()) {
    throw DTypeError(fmt::format("{}: the tensor is {} and the values are {}; cast one", op,
                                 name_of(x.dtype()), name_of(values.dtype())));
  }
  if (update != IndexUpdate::assign) {
    check_domain(op, Domain::numeric, x.dtype());
  }
  if (!(broadcast(values.shape(), target, op) == target)) {
    throw ShapeError(fmt::format("{}: values {} don't fit the indexed elements {}", op,
                                 values.shape().str(), target.str()));
  }
  outputs.push_back({x.shape(), x.dtype()});
}

using Collect = FunctionRef<Value(const Value& from)>;
using Spread = FunctionRef<Value(const Value& onto, const Value& values, IndexUpdate update)>;

// Only the last value written to an element counts.
void assign_backward(GradCall& call, const Shape& target, Collect collect, Spread spread) {
  const Value& g = call.grad();
  if (call.needs(0)) {
    call.set(0, spread(g, scalar_like(g, 0), IndexUpdate::assign));
  }
  if (call.needs(2)) {
    const Value ids = reshape(arange(g.backend(), 0, 1, num_elements(target), DType::i64), target);
    const Value none = full(g.backend(), call.input_shape(0), -1, DType::i64);
    const Value last = equal(collect(spread(none, ids, IndexUpdate::assign)), ids);
    call.set(2, where(last, collect(g), scalar_like(g, 0)));
  }
}

// The product of the other factors: as for prod, right at zeros.
void mul_backward(GradCall& call, Collect collect, Spread spread, const Shape& target) {
  const Value& g = call.grad();
  const Value& x = call.input(0);
  const Value v = expand(call.input(2), target);
  if (call.needs(0)) {
    call.set(0, spread(g, v, IndexUpdate::mul));
  }
  if (call.needs(2)) {
    const Value none = scalar_like(x, 0);
    const Value one = scalar_like(x, 1);
    const Value zero = equal(v, none);
    const Value filled = where(zero, one, v);
    const Value zeros = collect(spread(zeros_like(x), cast(zero, x.dtype()), IndexUpdate::add));
    const Value product = collect(spread(full_like(x, 1), filled, IndexUpdate::mul));
    const Value at_zero = where(equal(zeros, one), product, none);
    const Value elsewhere = where(equal(zeros, none), div(product, filled), none);
    call.set(2, mul(collect(mul(g, x)), where(zero, at_zero, elsewhere)));
  }
}

// The elements and values equal to the extreme share its gradient.
void extreme_backward(GradCall& call, Collect collect, Spread spread, const Shape& target) {
  const Value& g = call.grad();
  const Value& y = call.output();
  const Value kept = cast(equal(call.input(0), y), g.dtype());
  const Value won = cast(equal(expand(call.input(2), target), collect(y)), g.dtype());
  const Value count = maximum(spread(kept, won, IndexUpdate::add), scalar_like(g, 1));
  const Value share = div(g, count);
  if (call.needs(0)) {
    call.set(0, mul(share, kept));
  }
  if (call.needs(2)) {
    call.set(2, mul(collect(share), won));
  }
}

void update_backward(GradCall& call, IndexUpdate update, const Shape& target, Collect collect,
                     Spread spread) {
  switch (update) {
    case IndexUpdate::assign:
      return assign_backward(call, target, collect, spread);
    case IndexUpdate::add:
      if (call.needs(0)) {
        call.set(0, call.grad());
      }
      if (call.needs(2)) {
        call.set(2, collect(call.grad()));
      }
      return;
    case IndexUpdate::mul:
      return mul_backward(call, collect, spread, target);
    case IndexUpdate::min:
    case IndexUpdate::max:
      return extreme_backward(call, collect, spread, target);
  }
}

}  // namespace

void Scatter::infer(const OpCall& call, Specs& outputs) {
  const Scatter& op = call.as<Scatter>();
  infer_update(call, outputs, op.update,
               detail::gather_shape("scatter", call.inputs[0].shape(), op.dim, call.inputs[1]));
}
void Scatter::backward(GradCall& call) {
  const Scatter& op = call.op<Scatter>();
  const Value& index = call.input(1);
  update_backward(
      call, op.update, index.shape(),
      [&](const Value& from) { return gather(from, op.dim, index); },
      [&](const Value& onto, const Value& values, IndexUpdate update) {
        return scatter(onto, op.dim, index, values, update);
      });
}
void Scatter::samples(SampleSink& sink) {
  using enum IndexUpdate;
  for (const IndexUpdate update : {assign, add, mul, min, max}) {
    sink.add(Scatter{1, update},
             {distinct_sample({2, 4, 3}), index_sample({2, 5, 2}, 4), distinct_sample({2, 5, 2})});
  }
  sink.add(Scatter{0, add}, {value_sample({4, 3}), index_sample({2, 3}, 4), value_sample({3})});
}

void SelectAssign::infer(const OpCall& call, Specs& outputs) {
  const SelectAssign& op = call.as<SelectAssign>();
  infer_update(
      call, outputs, op.update,
      detail::select_shape("select_assign", call.inputs[0].shape(), op.dim, call.inputs[1]));
}
void SelectAssign::backward(GradCall& call) {
  const SelectAssign& op = call.op<SelectAssign>();
  const Value& index = call.input(1);
  const Shape target = detail::select_shape("select_assign", call.input_shape(0), op.dim, index);
  update_backward(
      call, op.update, target, [&](const Value& from) { return index_select(from, op.dim, index); },
      [&](const Value& onto, const Value& values, IndexUpdate update) {
        return select_assign(onto, op.dim, index, values, update);
      });
}
void SelectAssign::samples(SampleSink& sink) {
  using enum IndexUpdate;
  for (const IndexUpdate update : {assign, add, mul, min, max}) {
    sink.add(SelectAssign{1, update},
             {distinct_sample({2, 4, 3}), index_sample({5}, 4), distinct_sample({2, 5, 3})});
  }
  sink.add(SelectAssign{0, add},
           {value_sample({4, 3}), index_sample({6}, 4), value_sample({6, 3})});
  sink.add(SelectAssign{-1, assign},
           {value_sample({3, 4}), index_sample({2}, 4), value_sample({3, 1})});
}

void ScatterNd::infer(const OpCall& call, Specs& outputs) {
  infer_update(call, outputs, call.as<ScatterNd>().update,
               detail::gather_nd_shape("scatter_nd", call.inputs[0].shape(), call.inputs[1]));
}
void ScatterNd::backward(GradCall& call) {
  const ScatterNd& op = call.op<ScatterNd>();
  const Value& index = call.input(1);
  const Shape target = detail::gather_nd_shape("scatter_nd", call.input_shape(0), index);
  update_backward(
      call, op.update, target, [&](const Value& from) { return gather_nd(from, index); },
      [&](const Value& onto, const Value& values, IndexUpdate update) {
        return scatter_nd(onto, index, values, update);
      });
}
void ScatterNd::samples(SampleSink& sink) {
  using enum IndexUpdate;
  for (const IndexUpdate update : {assign, add, mul, min, max}) {
    sink.add(ScatterNd{update},
             {distinct_sample({3, 3, 2}), index_sample({5, 2}, 3), distinct_sample({5, 2})});
  }
  sink.add(ScatterNd{add}, {value_sample({4}), index_sample({1, 2, 1}, 4), value_sample({1, 2})});
}

void EmbeddingGrad::infer(const OpCall& call, Specs& outputs) {
  const Value& g = call.inputs[0];
  const Value& index = call.inputs[1];
  detail::check_index("embedding_grad", index);
  check_domain("embedding_grad", info.domain, g.dtype());
  bool fits = g.rank() == index.rank() + 1;
  for (int i = 0; fits && i < index.rank(); ++i) {
    fits = g.size(i) == index.size(i);
  }
  if (!fits) {
    throw ShapeError(fmt::format("embedding_grad: rows {} don't fit the index {}", g.shape().str(),
                                 index.shape().str()));
  }
  outputs.push_back({Shape{call.as<EmbeddingGrad>().rows, g.size(-1)}, g.dtype()});
}
void EmbeddingGrad::backward(GradCall& call) { call.set(0, embedding(call.grad(), call.input(1))); }
void EmbeddingGrad::samples(SampleSink& sink) {
  sink.add(EmbeddingGrad{5}, {value_sample({2, 4, 3}), index_sample({2, 4}, 5)});
}

Value scatter(const Value& x, std::int64_t dim, const Value& index, const Value& values,
              IndexUpdate update, SourceLoc where) {
  return apply(Scatter{dim, update}, {x, index, values}, where);
}
Value select_assign(const Value& x, std::int64_t dim, const Value& index, const Value& values,
                    IndexUpdate update, SourceLoc where) {
  return apply(SelectAssign{dim, update}, {x, index, values}, where);
}
Value scatter_nd(const Value& x, const Value& index, const Value& values, IndexUpdate update,
                 SourceLoc where) {
  return apply(ScatterNd{update}, {x, index, values}, where);
}

}  // namespace sinter::ops
