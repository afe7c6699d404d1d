// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules and gradients of reading by index.
#include "sinter/ops/index/index.hpp"

#include <fmt/format.h>

#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/index/detail.hpp"
#include "sinter/ops/index/update.hpp"

namespace sinter::ops {

void detail::check_index(std::string_view op, const Value& index) {
  if (!is_integer(index.dtype())) {
    throw DTypeError(fmt::format(
        "{}: the index must be of an integer dtype, got {}; {}", op, name_of(index.dtype()),
        index.dtype() == DType::boolean ? "use mask_select for a mask" : "convert with cast()"));
  }
}

Shape detail::select_shape(std::string_view op, const Shape& x, std::int64_t dim,
                           const Value& index) {
  check_index(op, index);
  if (index.rank() != 1) {
    throw ShapeError(fmt::format("{}: the index must have 1 dim, got {}; use take() for others", op,
                                 index.shape().str()));
  }
  Shape shape = x;
  shape[normalize_dim(dim, x.rank(), op)] = index.size(0);
  return shape;
}

Shape detail::gather_shape(std::string_view op, const Shape& x, std::int64_t dim,
                           const Value& index) {
  check_index(op, index);
  const int d = normalize_dim(dim, x.rank(), op);
  bool fits = index.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) {
    fits = i == d || index.size(i) <= x[i];
  }
  if (!fits) {
    throw ShapeError(
        fmt::format("{}: the index {} must have the rank of {} and be no larger except in "
                    "dim {}",
                    op, index.shape().str(), x.str(), d));
  }
  return index.shape();
}

Shape detail::gather_nd_shape(std::string_view op, const Shape& x, const Value& index) {
  check_index(op, index);
  if (index.rank() < 1 || index.size(-1) > x.rank()) {
    throw ShapeError(
        fmt::format("{}: the last dim of the index {} must be at most the rank {} of {}", op,
                    index.shape().str(), x.rank(), x.str()));
  }
  Shape shape = index.shape();
  const auto depth = static_cast<int>(shape.back());
  shape.erase(shape.rank() - 1);
  for (int i = depth; i < x.rank(); ++i) {
    shape.push_back(x[i]);
  }
  return shape;
}

void Select::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  outputs.push_back(
      {detail::select_shape("select", x.shape(), call.as<Select>().dim, call.inputs[1]),
       x.dtype()});
}
void Select::backward(GradCall& call) {
  const Value& g = call.grad();
  const Value zeros = full(g.backend(), call.input_shape(0), 0, g.dtype());
  call.set(0, select_assign(zeros, call.op<Select>().dim, call.input(1), g));
}
void Select::samples(SampleSink& sink) {
  sink.add(Select{0}, {value_sample({4, 3}), index_sample({6}, 4)});
  sink.add(Select{1}, {value_sample({2, 5, 3}), index_sample({2}, 5)});
  sink.add(Select{-1}, {value_sample({3, 4}), index_sample({1}, 4)});
}

void Gather::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  outputs.push_back(
      {detail::gather_shape("gather", x.shape(), call.as<Gather>().dim, call.inputs[1]),
       x.dtype()});
}
void Gather::backward(GradCall& call) {
  const Value& g = call.grad();
  const Value zeros = full(g.backend(), call.input_shape(0), 0, g.dtype());
  call.set(0, scatter(zeros, call.op<Gather>().dim, call.input(1), g));
}
void Gather::samples(SampleSink& sink) {
  sink.add(Gather{0}, {value_sample({4, 3}), index_sample({6, 3}, 4)});
  sink.add(Gather{1}, {value_sample({2, 5, 3}), index_sample({2, 4, 2}, 5)});
  sink.add(Gather{-1}, {value_sample({3, 4}), index_sample({3, 1}, 4)});
}

void GatherNd::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  outputs.push_back({detail::gather_nd_shape("gather_nd", x.shape(), call.inputs[1]), x.dtype()});
}
void GatherNd::backward(GradCall& call) {
  const Value& g = call.grad();
  const Value zeros = full(g.backend(), call.input_shape(0), 0, g.dtype());
  call.set(0, scatter_nd(zeros, call.input(1), g, IndexUpdate::add));
}
void GatherNd::samples(SampleSink& sink) {
  sink.add(GatherNd{}, {value_sample({4, 4, 3}), index_sample({5, 2}, 4)});
  sink.add(GatherNd{}, {value_sample({5, 2}), index_sample({2, 3, 1}, 5)});
  sink.add(GatherNd{}, {value_sample({3, 3}), index_sample({2}, 3)});
}

void Embedding::infer(const OpCall& call, Specs& outputs) {
  const Value& weight = call.inputs[0];
  detail::check_index("embedding", call.inputs[1]);
  if (weight.rank() != 2) {
    throw ShapeError(fmt::format("embedding: the weight must be [rows, features], got {}",
                                 weight.shape().str()));
  }
  Shape shape = call.inputs[1].shape();
  shape.push_back(weight.size(1));
  outputs.push_back({shape, weight.dtype()});
}
void Embedding::backward(GradCall& call) {
  call.set(0, apply(EmbeddingGrad{call.input_shape(0)[0]}, {call.grad(), call.input(1)}));
}
void Embedding::samples(SampleSink& sink) {
  sink.add(Embedding{}, {value_sample({5, 3}), index_sample({2, 4}, 5)});
  sink.add(Embedding{}, {value_sample({4, 1}), index_sample({}, 4)});
}

void OneHot::infer(const OpCall& call, Specs& outputs) {
  const OneHot& op = call.as<OneHot>();
  detail::check_index("one_hot", call.inputs[0]);
  if (op.classes < 0) {
    throw ArgumentError(
        fmt::format("one_hot: the number of classes must not be negative, got {}", op.classes));
  }
  Shape shape = call.inputs[0].shape();
  shape.push_back(op.classes);
  outputs.push_back({shape, op.dtype});
}
void OneHot::samples(SampleSink& sink) {
  sink.add(OneHot{5}, {index_sample({2, 3}, 5)});
  sink.add(OneHot{3, DType::f32}, {index_sample({4}, 3)});
}

Value index_select(const Value& x, std::int64_t dim, const Value& index, SourceLoc where) {
  return apply(Select{dim}, {x, index}, where);
}
Value gather(const Value& x, std::int64_t dim, const Value& index, SourceLoc where) {
  return apply(Gather{dim}, {x, index}, where);
}
Value gather_nd(const Value& x, const Value& index, SourceLoc where) {
  return apply(GatherNd{}, {x, index}, where);
}
Value embedding(const Value& weight, const Value& index, SourceLoc where) {
  return apply(Embedding{}, {weight, index}, where);
}
Value one_hot(const Value& index, std::int64_t classes, DType dtype, SourceLoc where) {
  return apply(OneHot{classes, dtype}, {index}, where);
}

Value take(const Value& x, std::int64_t dim, const Value& index, SourceLoc where) {
  const int d = normalize_dim(dim, x.rank(), "take");
  Shape shape = x.shape();
  shape.erase(d);
  for (int i = 0; i < index.rank(); ++i) {
    shape.insert(d + i, index.size(i));
  }
  return reshape(index_select(x, d, reshape(index, {index.num_elements()}), where), shape);
}

Value take_along_dim(const Value& x, std::int64_t dim, const Value& index, SourceLoc where) {
  const int d = normalize_dim(dim, x.rank(), "take_along_dim");
  if (index.rank() != x.rank()) {
    throw ShapeError(fmt::format("take_along_dim: the index {} must have the rank of {}",
                                 index.shape().str(), x.shape().str()));
  }
  Shape x_shape = x.shape();
  Shape index_shape = index.shape();
  x_shape[d] = 1;
  index_shape[d] = 1;
  const Shape common = broadcast(x_shape, index_shape, "take_along_dim");
  x_shape = common;
  index_shape = common;
  x_shape[d] = x.size(d);
  index_shape[d] = index.size(d);
  return gather(expand(x, x_shape), d, expand(index, index_shape), where);
}

Value mask_fill(const Value& x, const Value& mask, Scalar value, SourceLoc where) {
  if (mask.dtype() != DType::boolean) {
    throw DTypeError(fmt::format("mask_fill: the mask must be bool, got {}; compare it with 0",
                                 name_of(mask.dtype())));
  }
  return call(OpCode::where, {mask, scalar_like(x, value), x}, where);
}

Value nonzero(const Value& x, SourceLoc where) {
  const Value truth =
      x.dtype() == DType::boolean ? x : call(OpCode::not_equal, {x, scalar_like(x, 0)}, where);
  const HostData data = x.backend().read(truth);
  const std::span<const bool> flags = data.as<bool>();
  const Shape& shape = x.shape();
  std::vector<std::int64_t> positions;
  Dims index = Dims::filled(shape.rank(), 0);
  std::int64_t count = 0;
  for (const bool flag : flags) {
    if (flag) {
      positions.insert(positions.end(), index.begin(), index.end());
      ++count;
    }
    for (int dim = shape.rank() - 1; dim >= 0 && ++index[dim] == shape[dim]; --dim) {
      index[dim] = 0;
    }
  }
  return x.backend().from_data(
      HostData(Shape{count, shape.rank()}, std::span<const std::int64_t>(positions)));
}

Value mask_select(const Value& x, const Value& mask, SourceLoc where) {
  if (mask.dtype() != DType::boolean) {
    throw DTypeError(fmt::format("mask_select: the mask must be bool, got {}; compare it with 0",
                                 name_of(mask.dtype())));
  }
  const Shape shape = broadcast(x.shape(), mask.shape(), "mask_select");
  const HostData data = x.backend().read(expand(mask, shape));
  std::vector<std::int64_t> positions;
  std::int64_t position = 0;
  for (const bool flag : data.as<bool>()) {
    if (flag) {
      positions.push_back(position);
    }
    ++position;
  }
  const Value index =
      x.backend().from_data(HostData(Shape{static_cast<std::int64_t>(positions.size())},
                                     std::span<const std::int64_t>(positions)));
  return index_select(reshape(expand(x, shape), {num_elements(shape)}), 0, index, where);
}

}  // namespace sinter::ops
