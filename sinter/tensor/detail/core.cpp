// SPDX-License-Identifier: MIT OR Apache-2.0
// The compiled core of tensors.
#include "sinter/tensor/detail/core.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/op.hpp"
#include "sinter/ops/random/random.hpp"

namespace sinter::detail {
namespace {

// A number takes the dtype of the tensor it meets; one that would lose its fraction is an error.
Value number_beside(const Value& like, Scalar scalar, std::string_view op) {
  if (!is_floating(like.dtype()) && scalar.kind == Kind::floating &&
      scalar.floating != static_cast<double>(scalar.as_int64())) {
    throw DTypeError(fmt::format("{}: {} has a fraction and the tensor is {}; cast the tensor to a "
                                 "floating dtype first",
                                 op, scalar.floating, name_of(like.dtype())));
  }
  return like.backend().scalar(scalar, like.dtype());
}

}  // namespace

void check_type(const Value& value, int rank, int kind) {
  if (!value) {
    return;
  }
  if (rank >= 0 && value.rank() != rank) {
    throw ShapeError(fmt::format("Tensor<{}>: the value has rank {} (shape {}); use Tensor<{}> or DynTensor",
                                 rank, value.rank(), value.shape().str(), value.rank()));
  }
  if (kind >= 0 && static_cast<int>(kind_of(value.dtype())) != kind) {
    throw DTypeError(fmt::format("Tensor of kind {}: the value is {}; cast() it",
                                 name_of(static_cast<Kind>(kind)), name_of(value.dtype())));
  }
}

Value run(OpCode code, const Value& x, SourceLoc where) {
  return std::move(execute(op_def(code), nullptr, {&x, 1}, 0, where)[0]);
}
Value run(OpCode code, Value&& x, SourceLoc where) {
  return std::move(execute(op_def(code), nullptr, {&x, 1}, 1, where)[0]);
}
Value run(OpCode code, Value x, const Operand& y) {
  const OpDef& def = op_def(code);
  Value second = y.value ? *y.value : number_beside(x, y.scalar, def.name);
  const Value inputs[] = {std::move(x), std::move(second)};
  return std::move(execute(def, nullptr, inputs, 1, y.where)[0]);
}
Value run_reversed(OpCode code, Scalar x, const Value& y, SourceLoc where) {
  const OpDef& def = op_def(code);
  const Value inputs[] = {number_beside(y, x, def.name), y};
  return std::move(execute(def, nullptr, inputs, 0, where)[0]);
}
Value run3(OpCode code, const Value& a, const Value& b, const Value& c, SourceLoc where) {
  return ops::call(code, {a, b, c}, where);
}
Value reduce(OpCode code, const Value& x, const Dims& dims, bool keep, SourceLoc where) {
  // All reductions' attributes are ReduceDims and nothing else.
  const ReduceDims attributes{dims, keep};
  return std::move(execute(op_def(code), &attributes, {&x, 1}, 0, where)[0]);
}

Value from_data(const HostData& data, const Device& device) { return device.backend().from_data(data); }
Value full(const Shape& shape, Scalar value, DType dtype, const Device& device) {
  return ops::full(device.backend(), shape, value, dtype);
}
Value random(const Shape& shape, const Distribution& distribution, DType dtype, const Device& device) {
  return ops::random(device.backend(), shape, distribution, dtype);
}
Value slice(const Value& x, std::span<const SliceItem> items) {
  const ResolvedSlice s = resolve_slice(x.shape(), items);
  return ops::reshape(ops::slice(x, s.starts, s.lengths, s.steps), s.result);
}
Value slice_assign(const Value& x, std::span<const SliceItem> items, const Value& values) {
  const ResolvedSlice s = resolve_slice(x.shape(), items);
  // Dropped dims are put back with size 1, so that the values line up with the others.
  Value placed = values;
  if (values.shape() == s.result) {
    placed = ops::reshape(values, s.lengths);
  }
  return ops::slice_assign(x, placed, s.starts, s.lengths, s.steps);
}
HostData read(const Value& value) { return value.backend().read(value); }
Scalar item(const Value& value) {
  if (value.num_elements() != 1) {
    throw ShapeError(fmt::format("item: the tensor has shape {}, not one element; index or reduce it first",
                                 value.shape().str()));
  }
  const HostData data = read(value);
  if (is_floating(data.dtype())) {
    return data.at(0);
  }
  return data.int_at(0);
}
Device device_of(const Value& value) { return Device(value.backend()); }
Value to_device(const Value& value, const Device& device) { return to_backend(value, device.backend()); }
Value number(const Value& like, Scalar value) { return number_beside(like, value, "mask_fill"); }

Value clamp(const Value& x, double low, double high) { return ops::clamp(x, low, high); }
Value reshape(const Value& x, const Shape& shape) { return ops::reshape(x, shape); }
Value permute(const Value& x, const Dims& dims) { return ops::permute(x, dims); }
Value transpose(const Value& x, int a, int b) { return ops::transpose(x, a, b); }
Value expand(const Value& x, const Shape& shape) { return ops::expand(x, shape); }
Value unsqueeze(const Value& x, int dim) { return ops::unsqueeze(x, dim); }
Value squeeze(const Value& x, int dim) {
  const int d = normalize_dim(dim, x.rank(), "squeeze");
  if (x.size(d) != 1) {
    throw ShapeError(fmt::format("squeeze: dim {} of {} has size {}, not 1", dim, x.shape().str(), x.size(d)));
  }
  return ops::squeeze(x, d);
}
Value flatten(const Value& x, int first, int last) {
  if (x.rank() == 0) {
    return ops::reshape(x, {1});
  }
  const int from = normalize_dim(first, x.rank(), "flatten");
  const int to = normalize_dim(last, x.rank(), "flatten");
  if (from > to) {
    throw ArgumentError(fmt::format("flatten: dim {} comes after dim {}", first, last));
  }
  Shape shape;
  std::int64_t merged = 1;
  for (int i = 0; i < x.rank(); ++i) {
    if (i < from || i > to) {
      shape.push_back(x.size(i));
    } else {
      merged *= x.size(i);
      if (i == to) {
        shape.push_back(merged);
      }
    }
  }
  return ops::reshape(x, shape);
}
Value flip(const Value& x, const Dims& dims) { return ops::flip(x, dims); }
Value narrow(const Value& x, int dim, std::int64_t start, std::int64_t length) {
  return ops::narrow(x, dim, start, length);
}
Value contiguous(const Value& x) { return ops::contiguous(x); }
Value cast(const Value& x, DType dtype) { return ops::cast(x, dtype); }

Value require_grad(const Value& x) { return autodiff::require_grad(x); }
bool is_tracked(const Value& x) { return autodiff::is_tracked(x); }
Value detach(const Value& x) { return autodiff::detach(x); }
Gradients backward(const Value& x) { return autodiff::backward(x); }
Value gradient(const Value& leaf, const Gradients& gradients) { return gradients.get(leaf); }

}  // namespace sinter::detail
