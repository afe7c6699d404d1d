// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules and gradients of row normalisation, and group norm made of it.
#include "sinter/ops/norm/norm.hpp"

#include <fmt/format.h>

#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::ops {
namespace {

DType statistics_dtype(DType dtype) { return size_of(dtype) < 4 ? DType::f32 : dtype; }

// The shape of the rows, and of what is left without them.
Shape row_shape(const Shape& shape, int dims) {
  Shape row;
  for (int i = shape.rank() - dims; i < shape.rank(); ++i) {
    row.push_back(shape[i]);
  }
  return row;
}
Shape batch_shape(const Shape& shape, int dims) {
  Shape batch;
  for (int i = 0; i < shape.rank() - dims; ++i) {
    batch.push_back(shape[i]);
  }
  return batch;
}
Dims row_dims(int dims) {
  Dims list;
  for (int i = -dims; i < 0; ++i) {
    list.push_back(i);
  }
  return list;
}
Dims batch_dims(const Shape& shape, int dims) {
  Dims list;
  for (int i = 0; i < shape.rank() - dims; ++i) {
    list.push_back(i);
  }
  return list;
}

void check_rows(std::string_view op, const Value& x, int dims, std::span<const Value> parameters) {
  check_domain(op, Domain::floating, x.dtype());
  if (dims < 1 || dims > x.rank()) {
    throw ShapeError(
        fmt::format("{}: can't normalise the last {} dims of {}", op, dims, x.shape().str()));
  }
  const Shape row = row_shape(x.shape(), dims);
  for (const Value& parameter : parameters) {
    if (!(parameter.shape() == row) || parameter.dtype() != x.dtype()) {
      throw ShapeError(
          fmt::format("{}: weight and bias must be {} {}, like the normalised dims of {}; "
                      "got {} {}",
                      op, row.str(), name_of(x.dtype()), x.shape().str(), parameter.shape().str(),
                      name_of(parameter.dtype())));
    }
  }
}

// What a gradient gets besides the parameters: g like x, and statistics of each row.
void check_gradient(const OpCall& call, int dims, std::size_t statistics) {
  const Shape& x = call.inputs[1].shape();
  bool fits = call.inputs[0].shape() == x;
  for (std::size_t i = 2; i < 2 + statistics; ++i) {
    fits = fits && call.inputs[i].shape() == batch_shape(x, dims);
  }
  if (!fits) {
    throw ShapeError(fmt::format("{}: gradient and statistics do not fit an input of {}",
                                 call.def->name, x.str()));
  }
}

template <class Op, class From>
Op with_rows(const From& from) {
  Op op;
  static_cast<RowNorm&>(op) = from;
  return op;
}
template <class Op>
Op rows_of(int dims, double eps) {
  Op op;
  op.dims = dims;
  op.eps = eps;
  return op;
}

Value sum_batch(const Value& x, int dims) {
  const Dims list = batch_dims(x.shape(), dims);
  return list.empty() ? x : sum(x, list);
}

// Per-channel parameters [C] seen against [N, C, ...].
Value against_channels(const Value& parameter, const Value& x) {
  Shape shape = Dims::filled(x.rank(), 1);
  shape[1] = x.size(1);
  return reshape(parameter, shape);
}

}  // namespace

void LayerNorm::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  const auto& op = call.as<LayerNorm>();
  check_rows(info.name, x, op.dims, call.inputs.subspan(1));
  outputs.push_back({x.shape(), x.dtype()});
  outputs.push_back({batch_shape(x.shape(), op.dims), statistics_dtype(x.dtype())});
  outputs.push_back({batch_shape(x.shape(), op.dims), statistics_dtype(x.dtype())});
}
void LayerNorm::backward(GradCall& call) {
  std::vector<Value> inputs{call.grad(), call.input(0), call.output(1), call.output(2)};
  if (call.num_inputs() > 1) {
    inputs.push_back(call.input(1));
  }
  const Outputs grads = sinter::apply(with_rows<LayerNormGrad>(call.op<LayerNorm>()), inputs);
  for (std::size_t i = 0; i < call.num_inputs(); ++i) {
    call.set(static_cast<int>(i), grads[i]);
  }
}
void LayerNorm::samples(SampleSink& sink) {
  sink.add(rows_of<LayerNorm>(1, 1e-5), {value_sample({3, 8})});
  sink.add(rows_of<LayerNorm>(1, 1e-3),
           {value_sample({2, 3, 5}), value_sample({5}), value_sample({5})});
  sink.add(rows_of<LayerNorm>(2, 1e-5), {value_sample({3, 2, 4}), value_sample({2, 4})});
}

void LayerNormGrad::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[1];
  const int dims = call.as<LayerNormGrad>().dims;
  check_rows(info.name, x, dims, call.inputs.subspan(4));
  check_gradient(call, dims, 2);
  outputs.push_back({x.shape(), x.dtype()});
  if (call.inputs.size() > 4) {
    outputs.push_back({row_shape(x.shape(), dims), x.dtype()});
    outputs.push_back({row_shape(x.shape(), dims), x.dtype()});
  }
}
// Written from x alone, so that its own gradient sees how the statistics depend on x.
void LayerNormGrad::decompose(const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<LayerNormGrad>();
  const Value& g = call.inputs[0];
  const Value& x = call.inputs[1];
  const Dims dims = row_dims(op.dims);
  const Value centred = sub(x, mean(x, dims, true));
  const Value rstd = rsqrt(add(mean(square(centred), dims, true), scalar_like(x, op.eps)));
  const Value xhat = mul(centred, rstd);
  const Value h = call.inputs.size() > 4 ? mul(g, call.inputs[4]) : g;
  const Value along = mul(xhat, mean(mul(h, xhat), dims, true));
  outputs.push_back(mul(sub(sub(h, mean(h, dims, true)), along), rstd));
  if (call.inputs.size() > 4) {
    outputs.push_back(sum_batch(mul(g, xhat), op.dims));
    outputs.push_back(sum_batch(g, op.dims));
  }
}

void RmsNorm::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  const auto& op = call.as<RmsNorm>();
  check_rows(info.name, x, op.dims, call.inputs.subspan(1));
  outputs.push_back({x.shape(), x.dtype()});
  outputs.push_back({batch_shape(x.shape(), op.dims), statistics_dtype(x.dtype())});
}
void RmsNorm::backward(GradCall& call) {
  std::vector<Value> inputs{call.grad(), call.input(0), call.output(1)};
  if (call.num_inputs() > 1) {
    inputs.push_back(call.input(1));
  }
  const Outputs grads = sinter::apply(with_rows<RmsNormGrad>(call.op<RmsNorm>()), inputs);
  for (std::size_t i = 0; i < call.num_inputs(); ++i) {
    call.set(static_cast<int>(i), grads[i]);
  }
}
void RmsNorm::samples(SampleSink& sink) {
  sink.add(rows_of<RmsNorm>(1, 1e-6), {value_sample({3, 8})});
  sink.add(rows_of<RmsNorm>(1, 1e-5), {value_sample({2, 3, 5}), value_sample({5})});
}

void RmsNormGrad::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[1];
  const int dims = call.as<RmsNormGrad>().dims;
  check_rows(info.name, x, dims, call.inputs.subspan(3));
  check_gradient(call, dims, 1);
  outputs.push_back({x.shape(), x.dtype()});
  if (call.inputs.size() > 3) {
    outputs.push_back({row_shape(x.shape(), dims), x.dtype()});
  }
}
void RmsNormGrad::decompose(const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<RmsNormGrad>();
  const Value& g = call.inputs[0];
  const Value& x = call.inputs[1];
  const Dims dims = row_dims(op.dims);
  const Value factor = rsqrt(add(mean(square(x), dims, true), scalar_like(x, op.eps)));
  const Value xhat = mul(x, factor);
  const Value h = call.inputs.size() > 3 ? mul(g, call.inputs[3]) : g;
  outputs.push_back(mul(sub(h, mul(xhat, mean(mul(h, xhat), dims, true))), factor));
  if (call.inputs.size() > 3) {
    outputs.push_back(sum_batch(mul(g, xhat), op.dims));
  }
}

Value layer_norm(const Value& x, int dims, const Value& weight, const Value& bias, double eps,
                 SourceLoc where) {
  std::vector<Value> inputs{x};
  if (weight || bias) {
    inputs.push_back(weight ? weight : full(x.backend(), bias.shape(), 1, bias.dtype()));
  }
  if (bias) {
    inputs.push_back(bias);
  }
  return apply(rows_of<LayerNorm>(dims, eps), inputs, 0, where)[0];
}
Value rms_norm(const Value& x, int dims, const Value& weight, double eps, SourceLoc where) {
  const RmsNorm op = rows_of<RmsNorm>(dims, eps);
  if (!weight) {
    return apply(op, {x}, where);
  }
  if (dims <= x.rank() && weight.shape() == row_shape(x.shape(), dims)) {
    return apply(op, {x, weight}, where);
  }
  return mul(apply(op, {x}, where), weight, where);
}

Value group_norm(const Value& x, std::int64_t groups, const Value& weight, const Value& bias,
                 double eps, SourceLoc where) {
  if (x.rank() < 3) {
    throw ShapeError(
        fmt::format("group_norm: expected [N, C, ...] of rank 3 or more, got rank {} {}", x.rank(),
                    x.shape().str()));
  }
  if (groups < 1 || x.size(1) % groups != 0) {
    throw ShapeError(
        fmt::format("group_norm: {} channels are not divisible by {} groups", x.size(1), groups));
  }
  for (const Value& parameter : {weight, bias}) {
    if (parameter && !(parameter.shape() == Shape{x.size(1)})) {
      throw ShapeError(fmt::format("group_norm: {} channels need weight and bias [{}], got {}",
                                   x.size(1), x.size(1), parameter.shape().str()));
    }
  }
  const std::int64_t rows = x.size(0) * groups;
  const std::int64_t row = rows == 0 ? 0 : x.num_elements() / rows;
  Value y = reshape(layer_norm(reshape(x, {rows, row}), 1, {}, {}, eps, where), x.shape());
  if (weight) {
    y = mul(y, against_channels(weight, x));
  }
  return bias ? add(y, against_channels(bias, x)) : y;
}
Value instance_norm(const Value& x, const Value& weight, const Value& bias, double eps,
                    SourceLoc where) {
  return group_norm(x, x.rank() > 1 ? x.size(1) : 1, weight, bias, eps, where);
}

}  // namespace sinter::ops
