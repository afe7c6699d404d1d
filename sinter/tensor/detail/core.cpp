// SPDX-License-Identifier: MIT OR Apache-2.0
// The compiled core of tensors.
#include "sinter/tensor/detail/core.hpp"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "sinter/backend/host/host_backend.hpp"
#include "sinter/base/error.hpp"
#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/ops/derived/shapes.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/index/index.hpp"
#include "sinter/ops/index/update.hpp"
#include "sinter/ops/join/join.hpp"
#include "sinter/ops/op.hpp"
#include "sinter/ops/random/random.hpp"
#include "sinter/ops/sort/sort.hpp"
#include "sinter/ops/view.hpp"

namespace sinter::detail {
namespace {

const Value& set(const Value& value, std::string_view op) {
  if (!value) {
    raise_unset(op);
  }
  return value;
}

// Whether an integer dtype `T` or bool holds `number` exactly. Bool takes any whole number, as its
// truth. A Scalar keeps the bits of large unsigned integers, so that u64 takes all 64 of them.
template <class T>
bool holds(Scalar number) {
  if (number.kind == Kind::floating) {
    constexpr double end = std::is_same_v<T, std::uint64_t> ? 0x1p64 : 0x1p63;
    const double x = number.floating;
    if (!(x >= -0x1p63 && x < end && x == std::trunc(x))) {
      return false;
    }
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      return x >= 0;
    }
  }
  if constexpr (std::is_same_v<T, bool> || sizeof(T) == 8) {
    return true;
  } else {
    const std::int64_t x = number.as_int64();
    return x == static_cast<T>(x);
  }
}

[[noreturn]] void raise_unheld(Scalar number, DType dtype, std::string_view op) {
  const std::string text = number.kind == Kind::floating ? fmt::format("{}", number.floating)
                                                         : fmt::format("{}", number.integer);
  if (number.kind == Kind::floating && std::isfinite(number.floating) &&
      number.floating != std::trunc(number.floating)) {
    throw DTypeError(
        fmt::format("{}: {} has a fraction and the dtype is {}; use a floating dtype, or cast the "
                    "tensor to one first",
                    op, text, name_of(dtype)));
  }
  throw DTypeError(
      fmt::format("{}: {} can't hold {}; use a dtype that does, or cast the tensor to one first",
                  op, name_of(dtype), text));
}

// DTypeError for a number that `dtype` can't hold. Floating dtypes round.
void check_held(Scalar number, DType dtype, std::string_view op) {
  if (is_floating(dtype)) {
    return;
  }
  const bool held = visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      return holds<T>(number);
    } else {
      return true;
    }
  });
  if (!held) {
    raise_unheld(number, dtype, op);
  }
}

// A number takes the dtype of the tensor it meets, which must be able to hold it.
Value number_beside(const Value& like, Scalar scalar, std::string_view op) {
  check_held(scalar, like.dtype(), op);
  return like.backend().scalar(scalar, like.dtype());
}

// Integers have no negative powers. Exponents in a tensor are read for this, which waits for them.
void check_exponent(const Value& x, const Value& exponent) {
  if (is_integer(x.dtype()) && is_integer(exponent.dtype()) && !is_unsigned(exponent.dtype()) &&
      truth(ops::any(ops::less(exponent, ops::scalar_like(exponent, 0))))) {
    throw ArgumentError(
        fmt::format("pow: a negative exponent of an integer tensor ({}); cast the tensor to a "
                    "floating dtype first",
                    name_of(x.dtype())));
  }
}

// Runs an op that may reuse the memory of its first input.
template <class Op>
Value overwrite(const Op& op, Value x, std::initializer_list<Value> others, SourceLoc where) {
  SmallVector<Value, 4> inputs;
  inputs.push_back(std::move(x));
  for (const Value& other : others) {
    inputs.push_back(other);
  }
  return std::move(apply(op, std::span<const Value>(inputs.data(), inputs.size()), 1, where)[0]);
}

// The right side of an operator, checked.
class SecondOperand {
 public:
  SecondOperand(OpCode code, const Value& x, const Operand& y) : value_(y.value) {
    const std::string_view name = op_def(code).name;
    if (!x || (value_ && !*value_)) {
      raise_unset(name);
    }
    if (!value_) {
      number_ = number_beside(x, y.scalar, name);
      value_ = &number_;
    }
    if (code == OpCode::pow) {
      check_exponent(x, *value_);
    }
  }
  const Value& operator*() const { return *value_; }

 private:
  const Value* value_;
  Value number_;
};

// x = code(x, y), where `donated` says whether `x` may be overwritten.
Value run_binary(OpCode code, const Value& x, const Operand& y, std::uint64_t donated) {
  const SecondOperand second(code, x, y);
  const BorrowedPair inputs(x, *second);
  return std::move(execute(op_def(code), nullptr, inputs.values(), donated, y.where)[0]);
}

}  // namespace

void check_type(const Value& value, int rank, int kind) {
  if (!value) {
    return;
  }
  if (rank >= 0 && value.rank() != rank) {
    throw ShapeError(
        fmt::format("Tensor<{}>: the value has rank {} (shape {}); use Tensor<{}> or DynTensor",
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
Value run(OpCode code, const Value& x, const Operand& y) { return run_binary(code, x, y, 0); }
Value run(OpCode code, Value&& x, const Operand& y) {
  const Value owned = std::move(x);
  return run_binary(code, owned, y, 1);
}
void run_assign(OpCode code, Value& x, const Operand& y) {
  // `y` may be `x`: then it is no input that can be given up.
  x = run_binary(code, x, y, y.value == &x ? 0 : 1);
}
Value run_reversed(OpCode code, Scalar x, const Value& y, SourceLoc where) {
  const OpDef& def = op_def(code);
  const Value inputs[] = {number_beside(set(y, def.name), x, def.name), y};
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

Value from_data(const HostData& data, const Device& device) {
  return device.backend().from_data(data);
}
Value full(const Shape& shape, Scalar value, DType dtype, const Device& device) {
  check_held(value, dtype, "full");
  return ops::full(device.backend(), shape, value, dtype, SourceLoc{});
}
Value random(const Shape& shape, const Distribution& distribution, DType dtype,
             const Device& device) {
  return ops::random(device.backend(), shape, distribution, dtype);
}
Value full_like(const Value& like, Scalar value) {
  check_held(value, set(like, "full_like").dtype(), "full_like");
  return ops::full_like(like, value);
}
Value arange(Scalar start, Scalar end, Scalar step, DType dtype, const Device& device) {
  Value x = ops::arange_to(device.backend(), start, end, step, dtype);
  const std::int64_t count = x.num_elements();
  if (count > 0 && start.kind != Kind::floating && step.kind != Kind::floating) {
    check_held(start, dtype, "arange");
    check_held(start.integer + (count - 1) * step.integer, dtype, "arange");
  }
  return x;
}
Value linspace(double start, double end, std::int64_t count, DType dtype, const Device& device) {
  return ops::linspace(device.backend(), start, end, count, dtype);
}
Value logspace(double start, double end, std::int64_t count, double base, DType dtype,
               const Device& device) {
  return ops::logspace(device.backend(), start, end, count, base, dtype);
}
Value eye(std::int64_t rows, std::int64_t columns, DType dtype, const Device& device) {
  return ops::eye(device.backend(), rows, columns, dtype);
}

Value adopt(void* data, const Shape& shape, DType dtype, void (*release)(void*, void*),
            void* context, const Device& device) {
  const std::size_t bytes = num_bytes(shape, dtype);
  Ref<backend::Storage> storage = backend::Storage::adopt(data, bytes, release, context);
  std::vector<Backend*> decorators;
  Backend* leaf = &device.backend();
  while (Backend* inner = leaf->inner()) {
    decorators.push_back(leaf);
    leaf = inner;
  }
  if (!dynamic_cast<backend::HostBackend*>(leaf)) {
    const auto* first = static_cast<const std::byte*>(data);
    return device.backend().from_data(
        HostData(shape, dtype, std::vector<std::byte>(first, first + bytes)));
  }
  Value value(Ref<ValueImpl>(new backend::HostTensor(*leaf, shape, dtype, std::move(storage))));
  while (!decorators.empty()) {
    value = decorators.back()->wrap(value);
    decorators.pop_back();
  }
  return value;
}

Outputs extreme_with_indices(OpCode code, const Value& x, int dim, bool keep, SourceLoc where) {
  const int d = normalize_dim(dim, x.rank(), op_def(code).name);
  Value indices =
      code == OpCode::argmax ? ops::argmax(x, d, true, where) : ops::argmin(x, d, true, where);
  Value values = ops::gather(x, d, indices, where);
  Outputs both;
  both.push_back(keep ? std::move(values) : ops::squeeze(values, d));
  both.push_back(keep ? std::move(indices) : ops::squeeze(indices, d));
  return both;
}

void NumberList::enter(int depth, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (shape.rank() <= depth) {
    shape.push_back(count);
  } else if (shape[depth] != count) {
    throw ShapeError(
        fmt::format("Tensor::from: lists of {} and {} entries at depth {}; all must be as long",
                    shape[depth], count, depth));
  }
}

void NumberList::add(const Scalar& number) { numbers.push_back(number); }

Value from_numbers(const NumberList& list, DType dtype, const Device& device) {
  Shape shape = list.shape;
  if (list.numbers.empty() && shape.back() != 0) {
    shape.push_back(0);
  }
  HostData data(shape, is_floating(dtype) ? DType::f64 : DType::i64);
  for (std::size_t i = 0; i < list.numbers.size(); ++i) {
    const Scalar number = list.numbers[i];
    if (is_floating(dtype)) {
      data.as<double>()[i] = number.as_double();
    } else {
      check_held(number, dtype, "Tensor::from");
      const bool large = number.kind == Kind::floating && number.floating >= 0x1p63;
      data.as<std::int64_t>()[i] =
          large ? static_cast<std::int64_t>(static_cast<std::uint64_t>(number.floating))
                : number.as_int64();
    }
  }
  return from_data(data.cast(dtype), device);
}

SliceItem one_position(const Value& x, int dim, std::int64_t position) {
  const int d = normalize_dim(dim, x.rank(), "index");
  const std::int64_t size = x.size(d);
  const std::int64_t start = position < 0 ? position + size : position;
  if (start < 0 || start >= size) {
    throw IndexError(fmt::format("index: position {} of dim {} of shape {}; it must be in [{}, {})",
                                 position, d, x.shape().str(), -size, size));
  }
  return SliceItem(start, start + 1, 1);
}
Value slice_dim(const Value& x, int dim, const SliceItem& item) {
  const int d = normalize_dim(dim, x.rank(), "slice_dim");
  std::vector<SliceItem> items(static_cast<std::size_t>(d), SliceItem(all));
  items.push_back(item.drops_dim && item.start.value ? one_position(x, d, *item.start.value)
                                                     : item);
  const ResolvedSlice s = resolve_slice(x.shape(), items);
  return ops::slice(x, s.starts, s.lengths, s.steps);
}

Value slice(const Value& x, std::span<const SliceItem> items) {
  const ResolvedSlice s = resolve_slice(x.shape(), items);
  return ops::reshape(ops::slice(x, s.starts, s.lengths, s.steps), s.result);
}
Value slice_assign(Value x, std::span<const SliceItem> items, const Value& values) {
  const ResolvedSlice s = resolve_slice(x.shape(), items);
  // Dropped dims are put back with size 1, so that the values line up with the others.
  Value placed = values;
  if (values.shape() == s.result) {
    placed = ops::reshape(values, s.lengths);
  }
  return overwrite(ops::SliceAssign{s.starts, s.lengths, s.steps, false}, std::move(x),
                   {std::move(placed)}, SourceLoc{});  // a pack of ranges leaves it no place
}
Value select_assign(Value x, std::int64_t dim, const Value& index, const Value& values,
                    IndexUpdate update, SourceLoc where) {
  return overwrite(ops::SelectAssign{dim, update}, std::move(x), {index, values}, where);
}
Value scatter(Value x, std::int64_t dim, const Value& index, const Value& values,
              IndexUpdate update, SourceLoc where) {
  return overwrite(ops::Scatter{dim, update}, std::move(x), {index, values}, where);
}
Value scatter_nd(Value x, const Value& index, const Value& values, IndexUpdate update,
                 SourceLoc where) {
  return overwrite(ops::ScatterNd{update}, std::move(x), {index, values}, where);
}
Value choose(const Value& mask, const Value& a, Value x, SourceLoc where) {
  const Value inputs[] = {mask, a, std::move(x)};
  return std::move(execute(op_def(OpCode::where), nullptr, inputs, 4, where)[0]);
}
HostData read(const Value& value) { return set(value, "to_data").backend().read(value); }
Scalar item(const Value& value) {
  (void)set(value, "item");
  if (value.num_elements() != 1) {
    throw ShapeError(
        fmt::format("item: the tensor has shape {}, not one element; index or reduce it first",
                    value.shape().str()));
  }
  const HostData data = read(value);
  if (is_floating(data.dtype())) {
    return data.at(0);
  }
  return data.int_at(0);
}
Device device_of(const Value& value) { return Device(value.backend()); }
Value to_device(const Value& value, const Device& device) {
  return to_backend(set(value, "to_device"), device.backend());
}
Value number(const Value& like, Scalar value, std::string_view op) {
  return number_beside(set(like, op), value, op);
}
bool truth(const Value& value) { return read(value).at(0) != 0; }

Value cast(const Value& x, DType dtype) { return ops::cast(set(x, "cast"), dtype); }

Value require_grad(const Value& x) { return autodiff::require_grad(set(x, "require_grad")); }
bool is_tracked(const Value& x) { return autodiff::is_tracked(set(x, "is_require_grad")); }
Value detach(const Value& x) { return autodiff::detach(set(x, "detach")); }
Gradients backward(const Value& x) { return autodiff::backward(set(x, "backward")); }
Value gradient(const Value& leaf, const Gradients& gradients) {
  return gradients.get(set(leaf, "grad"));
}

}  // namespace sinter::detail
