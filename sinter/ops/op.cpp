// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules shared by all ops of a family.
#include "sinter/ops/op.hpp"

#include <fmt/format.h>

#include <deque>
#include <mutex>

#include "sinter/base/error.hpp"

namespace sinter {

void check_domain(std::string_view op, Domain domain, DType dtype) {
  if (is_fp8(dtype)) {
    throw DTypeError(fmt::format("{}: {} is a storage type; cast to f32, f16 or bf16 first", op,
                                 name_of(dtype)));
  }
  const auto reject = [&](std::string_view expected) {
    throw DTypeError(
        fmt::format("{}: expected {}, got {}; convert with cast()", op, expected, name_of(dtype)));
  };
  switch (domain) {
    case Domain::floating:
      if (!is_floating(dtype)) {
        reject("a floating dtype");
      }
      break;
    case Domain::numeric:
      if (dtype == DType::boolean) {
        reject("numbers");
      }
      break;
    case Domain::integer:
      if (!is_integer(dtype)) {
        reject("an integer dtype");
      }
      break;
    case Domain::boolean_or_integer:
      if (is_floating(dtype)) {
        reject("a bool or integer dtype");
      }
      break;
    case Domain::any:
      break;
  }
}

namespace detail {

namespace {

// The usual dtypes pass without a look at the op's name.
void check_domain(const OpInfo& info, DType dtype) {
  if (!(dtype <= DType::bf16 && info.domain <= Domain::numeric)) {
    sinter::check_domain(info.name, info.domain, dtype);
  }
}

}  // namespace

void infer_elementwise(const OpCall& call, Specs& outputs, const OpInfo& info, bool bool_result) {
  const auto arity = static_cast<std::size_t>(call.def->elementwise->arity);
  if (call.inputs.size() != arity) {
    throw ArgumentError(
        fmt::format("{}: expected {} inputs, got {}", info.name, arity, call.inputs.size()));
  }
  // A rank-0 operand is a scalar: it takes the dtype of the tensor it meets when their kinds agree.
  // Built where it stays: copies of shapes are a good part of what a small call costs.
  TensorSpec& spec = outputs.emplace_back(call.inputs[0].shape(), call.inputs[0].dtype());
  for (std::size_t i = 1; i < arity; ++i) {
    const Value& input = call.inputs[i];
    if (input.dtype() != spec.dtype) {
      spec.dtype = promote(spec.dtype, input.dtype());
    }
    if (!(input.shape() == spec.shape)) {
      spec.shape = broadcast(spec.shape, input.shape(), info.name);
    }
  }
  check_domain(info, spec.dtype);
  if (bool_result) {
    spec.dtype = DType::boolean;
  }
}

void infer_gradient(const OpCall& call, Specs& outputs) {
  const Value& gradient = call.inputs.back();
  outputs.push_back({gradient.shape(), gradient.dtype()});
}

void infer_reduce(const OpCall& call, Specs& outputs, const OpInfo& info,
                  const ReduceDims& reduce) {
  const Value& x = call.inputs[0];
  check_domain(info.name, info.domain, x.dtype());
  const Dims dims = normalize_dims(reduce.dims, x.rank(), info.name);
  Shape shape = x.shape();
  for (int i = dims.rank() - 1; i >= 0; --i) {
    const int dim = static_cast<int>(dims[i]);
    if (reduce.keep_dim) {
      shape[dim] = 1;
    } else {
      shape.erase(dim);
    }
  }
  outputs.push_back({shape, x.dtype()});
}

void sample_elementwise(SampleSink& sink, const OpInfo& info, int arity, const void* attributes) {
  const SampleInput full = value_sample({3, 4, 5}, info.low, info.high);
  SampleInput column = full;
  column.shape = Shape{4, 1};
  SampleInput scalar = full;
  scalar.shape = Shape{};
  if (arity == 1) {
    sink.add(attributes, std::span(&full, 1));
  } else if (arity == 2) {
    const SampleInput same[] = {full, full};
    const SampleInput stretched[] = {full, column};
    const SampleInput flipped[] = {scalar, full};
    sink.add(attributes, same);
    sink.add(attributes, stretched);
    sink.add(attributes, flipped);
  }
}

void sample_reduce(SampleSink& sink, const OpInfo&,
                   void (*add)(SampleSink&, const Dims&, bool, const Shape&)) {
  add(sink, {}, false, {2, 3, 4});
  add(sink, {-1}, false, {3, 5});
  add(sink, {0}, true, {4, 3});
  add(sink, {0, 2}, false, {2, 3, 4});
  add(sink, {1}, false, {2, 3, 4});
}

Value run_gradient_row(const OpDef& row, GradCall& call, Reads reads, int arity) {
  const auto read = [&](int bit) { return (static_cast<unsigned>(reads) >> bit & 1u) != 0; };
  Value inputs[5];
  for (int k = 0; k < arity; ++k) {
    inputs[k] = read(k) ? call.input(k) : call.grad();
  }
  inputs[arity] = read(3) ? call.output() : call.grad();
  inputs[arity + 1] = call.grad();
  const std::span<const Value> span(inputs, static_cast<std::size_t>(arity) + 2);
  return execute(row, call.call().attributes, span, 0, call.call().where)[0];
}

std::string_view gradient_name(std::string_view op, int arity, int side) {
  static std::mutex mutex;
  static auto* names = new std::deque<std::string>;  // never freed: rows outlive static destruction
  const std::lock_guard lock(mutex);
  return names->emplace_back(std::string(op) + (arity == 1  ? "_grad"
                                                : side == 0 ? "_grad_a"
                                                            : "_grad_b"));
}

}  // namespace detail
}  // namespace sinter
