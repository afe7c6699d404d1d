// SPDX-License-Identifier: MIT OR Apache-2.0
// The compiled core under the tensor templates: everything here works on Value.
#pragma once

#include <string>
#include <vector>

#include "sinter/base/loc.hpp"
#include "sinter/graph/value.hpp"
#include "sinter/ops/opcode.hpp"
#include "sinter/tensor/detail/kinds.hpp"
#include "sinter/tensor/detail/ops.hpp"
#include "sinter/tensor/device.hpp"
#include "sinter/tensor/slice.hpp"
#include "sinter/types/distribution.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter {

class Gradients;

namespace detail {

/// What stands to the right of an operator: a tensor or a number, and the place in the source.
struct Operand {
  const Value* value = nullptr;
  Scalar scalar;
  SourceLoc where;
};

/// `value`, or ArgumentError that names `caller`'s function when it is unset.
inline const Value& set_value(const Value& value, const SourceLoc& caller) {
  if (!value) [[unlikely]] {
    raise_unset(caller.function_name());
  }
  return value;
}

/// Throws ShapeError or DTypeError unless `value` has this rank and kind; -1 accepts any.
void check_type(const Value& value, int rank, int kind);

Value run(OpCode code, const Value& x, SourceLoc where);
/// The same, and gives up `x`.
Value run(OpCode code, Value&& x, SourceLoc where);
Value run(OpCode code, const Value& x, const Operand& y);
Value run(OpCode code, Value&& x, const Operand& y);
/// x = code(x, y), in x's memory if nobody else holds it; `y` may be `x`. After an error `x` is as
/// it was.
void run_assign(OpCode code, Value& x, const Operand& y);
Value run_reversed(OpCode code, Scalar x, const Value& y, SourceLoc where);
Value run3(OpCode code, const Value& a, const Value& b, const Value& c, SourceLoc where);
Value reduce(OpCode code, const Value& x, const Dims& dims, bool keep, SourceLoc where);

Value from_data(const HostData& data, const Device& device);
Value full(const Shape& shape, Scalar value, DType dtype, const Device& device);
Value random(const Shape& shape, const Distribution& distribution, DType dtype,
             const Device& device);
Value full_like(const Value& like, Scalar value);
Value arange(Scalar start, Scalar end, Scalar step, DType dtype, const Device& device);
Value linspace(double start, double end, std::int64_t count, DType dtype, const Device& device);
Value logspace(double start, double end, std::int64_t count, double base, DType dtype,
               const Device& device);
Value eye(std::int64_t rows, std::int64_t columns, DType dtype, const Device& device);
/// A value in memory of the caller's; `release(data, context)` is called even if this throws.
Value adopt(void* data, const Shape& shape, DType dtype, void (*release)(void*, void*),
            void* context, const Device& device);
/// Max or min along a dim with the index of each: `code` is argmax or argmin.
Outputs extreme_with_indices(OpCode code, const Value& x, int dim, bool keep, SourceLoc where);
Value cast(const Value& x, DType dtype);
Value require_grad(const Value& x);
bool is_tracked(const Value& x);
Value detach(const Value& x);
Gradients backward(const Value& x);
Value gradient(const Value& leaf, const Gradients& gradients);
Value slice(const Value& x, std::span<const SliceItem> items);
/// One position of a dim as a slice that keeps it; IndexError outside.
SliceItem one_position(const Value& x, int dim, std::int64_t position);
Value slice_dim(const Value& x, int dim, const SliceItem& item);
// These may overwrite an `x` that is moved in and has no other handle.
Value slice_assign(Value x, std::span<const SliceItem> items, const Value& values);
Value select_assign(Value x, std::int64_t dim, const Value& index, const Value& values,
                    IndexUpdate update, SourceLoc where);
Value scatter(Value x, std::int64_t dim, const Value& index, const Value& values,
              IndexUpdate update, SourceLoc where);
Value scatter_nd(Value x, const Value& index, const Value& values, IndexUpdate update,
                 SourceLoc where);
/// `a` where the mask holds, else `x`.
Value choose(const Value& mask, const Value& a, Value x, SourceLoc where);
HostData read(const Value& value);
/// The one element; ShapeError for more.
Scalar item(const Value& value);
Device device_of(const Value& value);
Value to_device(const Value& value, const Device& device);
std::string print(const Value& value);
/// A bool tensor of one element, read.
bool truth(const Value& value);
/// A number of `like`'s dtype; DTypeError where it would lose its fraction. `op` names the caller.
Value number(const Value& like, Scalar value, std::string_view op);

/// Numbers of nested lists, and the shape that the lists have.
struct NumberList {
  Shape shape;
  std::vector<Scalar> numbers;
  /// A list of `size` entries at this depth; ShapeError when an earlier one there had another size.
  void enter(int depth, std::size_t size);
  void add(const Scalar& number);
};
template <int rank>
void collect(const NestedList<rank>& values, NumberList& list, int depth) {
  list.enter(depth, values.size());
  for (const auto& entry : values) {
    if constexpr (rank == 1) {
      list.add(entry);
    } else {
      collect<rank - 1>(entry, list, depth + 1);
    }
  }
}
Value from_numbers(const NumberList& list, DType dtype, const Device& device);

}  // namespace detail
}  // namespace sinter
