// SPDX-License-Identifier: MIT OR Apache-2.0
// Creation, casts, copies and assignment to slices.
#include <algorithm>
#include <cstring>

#include "sinter/backend/portable/blocks.hpp"
#include "sinter/backend/portable/convert.hpp"
#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/base/thread_pool.hpp"
#include "sinter/ops/create.hpp"
#include "sinter/ops/view.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter::backend::portable {
namespace {

template <class T>
void fill_as(const void* element, void* to, std::int64_t n) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  T* out = static_cast<T*>(to);
  parallel_for(n, 4 * parallel_grain, [&](std::int64_t begin, std::int64_t end) {
    std::fill(out + begin, out + end, value);
  });
}

void run_fill(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Scalar value = call.as<ops::Fill>().value;
  const TensorSpec& spec = call.outputs[0];
  Value result = allocate(backend, spec);
  std::byte element[8];
  if (value.kind == Kind::floating) {
    convert_elements(&value.floating, DType::f64, element, spec.dtype, 1);
  } else {
    convert_elements(&value.integer, DType::i64, element, spec.dtype, 1);
  }
  void* to = host(result).data();
  const std::int64_t n = num_elements(spec.shape);
  switch (size_of(spec.dtype)) {
    case 1:
      fill_as<std::uint8_t>(element, to, n);
      break;
    case 2:
      fill_as<std::uint16_t>(element, to, n);
      break;
    case 4:
      fill_as<std::uint32_t>(element, to, n);
      break;
    default:
      fill_as<std::uint64_t>(element, to, n);
      break;
  }
  outputs.push_back(std::move(result));
}

// Numbers computed block by block in `T` (double or int64) and rounded once.
template <class T, class F>
void generate(HostTensor& out, std::int64_t n, F&& value_at) {
  constexpr Carried carried = std::is_same_v<T, double> ? Carried::f64 : Carried::i64;
  const auto size = static_cast<std::int64_t>(sinter::size_of(out.dtype()));
  parallel_for(n, parallel_grain, [&](std::int64_t begin, std::int64_t end) {
    T block[block_elements];
    for (std::int64_t at = begin; at < end; at += block_elements) {
      const std::int64_t count = std::min(block_elements, end - at);
      for (std::int64_t i = 0; i < count; ++i) {
        block[i] = value_at(at + i);
      }
      store_block(carried, block, out.dtype(), out.data() + at * size, count);
    }
  });
}

void run_arange(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Arange>();
  Value result = allocate(backend, call.outputs[0]);
  if (is_floating(op.dtype)) {
    const double start = op.start.as_double();
    const double step = op.step.as_double();
    generate<double>(host(result), op.count,
                     [=](std::int64_t i) { return start + static_cast<double>(i) * step; });
  } else {
    const auto start = static_cast<std::uint64_t>(op.start.as_int64());
    const auto step = static_cast<std::uint64_t>(op.step.as_int64());
    generate<std::int64_t>(host(result), op.count, [=](std::int64_t i) {
      return static_cast<std::int64_t>(start + static_cast<std::uint64_t>(i) * step);
    });
  }
  outputs.push_back(std::move(result));
}

void run_cast(Backend&, const OpCall& call, Outputs& outputs) {
  const Value& x = call.inputs[0];
  const DType dtype = call.outputs[0].dtype;
  outputs.push_back(x.dtype() == dtype ? x : converted(x, dtype));
}

void run_contiguous(Backend&, const OpCall& call, Outputs& outputs) {
  outputs.push_back(densely(call.inputs[0]));
}

// dst[i] += src[i] in the carried type.
void add_block(Carried carried, const void* src, void* dst, std::int64_t n) {
  static const auto& table = kernels().elementwise();
  const void* inputs[] = {dst, src};
  table.rows[static_cast<std::size_t>(carried)][0][static_cast<std::size_t>(OpCode::add)](
      nullptr, inputs, dst, static_cast<std::size_t>(n));
}

// Puts `values`, broadcast to the slice's shape, into the slice of `result` (dense).
void assign(const HostTensor& result, const ops::SliceAssign& op, const Value& values) {
  Layout slice = result.layout();
  for (int i = 0; i < slice.shape.rank(); ++i) {
    slice = slice.slice(i, op.starts[i], op.lengths[i], op.steps[i]);
  }
  const DType dtype = result.dtype();
  const auto size = static_cast<std::int64_t>(sinter::size_of(dtype));
  const Carried carried = carried_of(dtype);
  std::byte* data = static_cast<std::byte*>(result.storage()->data()) + slice.offset * size;
  const Walk walk(slice.shape, slice.shape, slice.strides);
  const Operand operand(values, slice.shape, carried);
  parallel_for(
      num_elements(slice.shape), parallel_grain, [&](std::int64_t begin, std::int64_t end) {
        BlockBuffer buffer;
        BlockBuffer old;
        BlockBuffer sum;
        BlockBuffer stored;
        operand.prepare(buffer, end - begin);
        for (std::int64_t at = begin; at < end; at += block_elements) {
          const std::int64_t n = std::min(block_elements, end - at);
          const void* block = operand.fetch(at, n, buffer);
          if (op.accumulate) {
            std::byte* to = old.data();
            walk.for_runs(at, n, [&](std::int64_t offset, std::int64_t stride, std::int64_t count) {
              gather_run(data + offset * size, stride, static_cast<std::size_t>(size), count, to);
              to += count * size;
            });
            const void* present = load_block(dtype, old.data(), carried, n, sum);
            std::byte* total = present == old.data() ? old.data() : sum.data();
            add_block(carried, block, total, n);
            block = total;
          }
          store_block(carried, block, dtype, stored.data(), n);
          const std::byte* from = stored.data();
          walk.for_runs(at, n, [&](std::int64_t offset, std::int64_t stride, std::int64_t count) {
            scatter_run(from, data + offset * size, stride, static_cast<std::size_t>(size), count);
            from += count * size;
          });
        }
      });
}

void run_slice_assign(Backend& backend, const OpCall& call, Outputs& outputs) {
  const TensorSpec& spec = call.outputs[0];
  const HostTensor& x = host(call.inputs[0]);
  Value result;
  if (may_overwrite(call, 0, spec)) {
    result = call.inputs[0];
  } else {
    result = allocate(backend, spec);
    copy_dense(x.data(), x.layout(), sinter::size_of(spec.dtype), host(result).data());
  }
  assign(host(result), call.as<ops::SliceAssign>(), call.inputs[1]);
  outputs.push_back(std::move(result));
}

}  // namespace

void set_creation(KernelTable& table) {
  table.set<ops::Fill>(run_fill);
  table.set<ops::Arange>(run_arange);
  table.set<ops::Cast>(run_cast);
  table.set<ops::Contiguous>(run_contiguous);
  table.set<ops::SliceAssign>(run_slice_assign);
}

}  // namespace sinter::backend::portable
