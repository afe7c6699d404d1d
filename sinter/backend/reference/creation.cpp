// SPDX-License-Identifier: MIT OR Apache-2.0
// Creation, casts, copies and assignment to slices.
#include "sinter/backend/reference/oracle.hpp"
#include "sinter/ops/create.hpp"
#include "sinter/ops/view.hpp"

namespace sinter::backend::reference {
namespace {

void fill(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Fill>();
  const auto count = static_cast<std::size_t>(num_elements(op.shape));
  if (op.value.kind == Kind::floating) {
    outputs.push_back(
        write_as(backend, call.outputs[0], std::vector<double>(count, op.value.floating)));
  } else {
    outputs.push_back(
        write_as(backend, call.outputs[0], std::vector<std::int64_t>(count, op.value.integer)));
  }
}

void arange(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Arange>();
  const auto count = static_cast<std::size_t>(op.count);
  if (is_floating(op.dtype)) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = op.start.as_double() + static_cast<double>(i) * op.step.as_double();
    }
    outputs.push_back(write_as(backend, call.outputs[0], values));
    return;
  }
  // Without sign: products may wrap where their sums don't.
  const auto start = static_cast<std::uint64_t>(op.start.as_int64());
  const auto step = static_cast<std::uint64_t>(op.step.as_int64());
  std::vector<std::int64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<std::int64_t>(start + i * step);
  }
  outputs.push_back(write_as(backend, call.outputs[0], values));
}

void cast(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Value& x = call.inputs[0];
  Value out = allocate(backend, call.outputs[0]);
  convert_elements(host(dense(x)).data(), x.dtype(), host(out).data(), out.dtype(),
                   x.num_elements());
  outputs.push_back(out);
}

void contiguous(Backend&, const OpCall& call, Outputs& outputs) {
  outputs.push_back(dense(call.inputs[0]));
}

template <class T>
Value assign(Backend& backend, const OpCall& call) {
  const auto& op = call.as<ops::SliceAssign>();
  const Shape& shape = call.inputs[0].shape();
  std::vector<T> elements = read_as<T>(call.inputs[0]);
  const std::vector<T> values = read_broadcast<T>(call.inputs[1], op.lengths);
  std::size_t next = 0;
  for_each_index(op.lengths, [&](const Dims& index) {
    Dims target = index;
    for (int i = 0; i < shape.rank(); ++i) {
      target[i] = op.starts[i] + index[i] * op.steps[i];
    }
    T& element = elements[flat_index(shape, target)];
    element = op.accumulate ? static_cast<T>(element + values[next]) : values[next];
    ++next;
  });
  return write_as(backend, call.outputs[0], elements);
}

void slice_assign(Backend& backend, const OpCall& call, Outputs& outputs) {
  with_carrier(call.inputs[0].dtype(),
               [&]<class T>() { outputs.push_back(assign<T>(backend, call)); });
}

}  // namespace

void set_creation(KernelTable& table) {
  table.set<ops::Fill>(fill);
  table.set<ops::Arange>(arange);
  table.set<ops::Cast>(cast);
  table.set<ops::Contiguous>(contiguous);
  table.set<ops::SliceAssign>(slice_assign);
}

}  // namespace sinter::backend::reference
