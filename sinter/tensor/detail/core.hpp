// SPDX-License-Identifier: MIT OR Apache-2.0
// The compiled core under the tensor templates: everything here works on Value.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include "sinter/graph/value.hpp"
#include "sinter/base/loc.hpp"
#include "sinter/ops/opcode.hpp"
#include "sinter/tensor/device.hpp"
#include "sinter/tensor/slice.hpp"
#include "sinter/types/distribution.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter {

class Gradients;

/// The rank of a tensor whose rank is known at run time only.
inline constexpr int dynamic_rank = -1;
/// The kind of a tensor whose kind is known at run time only.
struct AnyKind {
  static constexpr DType default_dtype = DType::f32;
};

namespace detail {

/// What stands to the right of an operator: a tensor or a number, and the place in the source.
struct Operand {
  const Value* value = nullptr;
  Scalar scalar;
  SourceLoc where;
};

/// Throws ShapeError or DTypeError unless `value` has this rank and kind; -1 accepts any.
void check_type(const Value& value, int rank, int kind);

Value run(OpCode code, const Value& x, SourceLoc where);
/// The same, and gives up `x`.
Value run(OpCode code, Value&& x, SourceLoc where);
Value run(OpCode code, Value x, const Operand& y);
Value run_reversed(OpCode code, Scalar x, const Value& y, SourceLoc where);
Value run3(OpCode code, const Value& a, const Value& b, const Value& c, SourceLoc where);
Value reduce(OpCode code, const Value& x, const Dims& dims, bool keep, SourceLoc where);

Value from_data(const HostData& data, const Device& device);
Value full(const Shape& shape, Scalar value, DType dtype, const Device& device);
Value random(const Shape& shape, const Distribution& distribution, DType dtype, const Device& device);
Value clamp(const Value& x, double low, double high);
Value reshape(const Value& x, const Shape& shape);
Value permute(const Value& x, const Dims& dims);
Value transpose(const Value& x, int a, int b);
Value expand(const Value& x, const Shape& shape);
Value unsqueeze(const Value& x, int dim);
Value squeeze(const Value& x, int dim);
Value flatten(const Value& x, int first, int last);
Value flip(const Value& x, const Dims& dims);
Value narrow(const Value& x, int dim, std::int64_t start, std::int64_t length);
Value contiguous(const Value& x);
Value cast(const Value& x, DType dtype);
Value require_grad(const Value& x);
bool is_tracked(const Value& x);
Value detach(const Value& x);
Gradients backward(const Value& x);
Value gradient(const Value& leaf, const Gradients& gradients);
Value slice(const Value& x, std::span<const SliceItem> items);
Value slice_assign(const Value& x, std::span<const SliceItem> items, const Value& values);
HostData read(const Value& value);
/// The one element; ShapeError for more.
Scalar item(const Value& value);
Device device_of(const Value& value);
Value to_device(const Value& value, const Device& device);
std::string print(const Value& value);
Value number(const Value& like, Scalar value);
/// Shape of nested lists is given; elements of any arithmetic type take `dtype`.
template <class T>
Value from_list(std::span<const T> values, const Shape& shape, DType dtype, const Device& device) {
  return from_data(HostData(shape, values).cast(dtype), device);
}

}  // namespace detail
}  // namespace sinter
