// SPDX-License-Identifier: MIT OR Apache-2.0
// Checking and running the user's kernels.
#include "sinter/backend/host/user_kernel.hpp"

#include <fmt/format.h>

#include "sinter/backend/host/host_backend.hpp"
#include "sinter/base/error.hpp"
#include "sinter/base/hash.hpp"

namespace sinter::backend {

namespace {

template <class... Args>
[[noreturn]] void raise_mismatch(const OpCall& call, const ir::Kernel& kernel,
                                 fmt::format_string<Args...> format, Args&&... args) {
  throw ArgumentError(fmt::format("{}: kernel {}: {}", describe(call), kernel.name,
                                  fmt::format(format, std::forward<Args>(args)...)));
}

void check_buffer(const OpCall& call, const ir::Kernel& kernel, const ir::Memory& memory,
                  std::size_t place) {
  const std::size_t inputs = call.inputs.size();
  if (place >= inputs + call.outputs.size()) {
    raise_mismatch(call, kernel, "declares more buffers than the {} inputs and {} outputs", inputs,
                   call.outputs.size());
  }
  const bool is_input = place < inputs;
  const DType dtype = is_input ? call.inputs[place].dtype() : call.outputs[place - inputs].dtype;
  if (memory.dtype != dtype) {
    raise_mismatch(call, kernel, "buffer {} is declared {}, but the {} is {}", memory.name,
                   name_of(memory.dtype), is_input ? "input" : "output", name_of(dtype));
  }
  if (is_input && memory.access != ir::Access::read) {
    raise_mismatch(call, kernel, "buffer {} is an input; declare it ir::Access::read", memory.name);
  }
}

}  // namespace

ir::Kernel record_user_kernel(const OpCall& call, const kernel::LaunchPlan& plan) {
  if (!plan.record) {
    throw ArgumentError(fmt::format("{}: its kernel() sets no `record`", describe(call)));
  }
  ir::Kernel kernel = plan.record();
  std::size_t buffers = 0;
  for (const ir::Memory& memory : kernel.memories) {
    if (memory.space == ir::Space::buffer) {
      check_buffer(call, kernel, memory, buffers++);
    }
  }
  if (buffers != call.inputs.size() + call.outputs.size()) {
    raise_mismatch(call, kernel, "declares {} buffers for {} inputs and {} outputs", buffers,
                   call.inputs.size(), call.outputs.size());
  }
  if (kernel.scalars.size() != plan.scalars.size()) {
    raise_mismatch(call, kernel, "declares {} scalars, but the call gives {}",
                   kernel.scalars.size(), plan.scalars.size());
  }
  return kernel;
}

std::vector<std::uint64_t> user_kernel_key(const OpCall& call, const kernel::LaunchPlan& plan) {
  std::vector<std::uint64_t> key{reinterpret_cast<std::uintptr_t>(call.def),
                                 hash_bytes(plan.variant.data(), plan.variant.size())};
  for (const Value& input : call.inputs) {
    key.push_back(static_cast<std::uint64_t>(input.dtype()));
  }
  for (const TensorSpec& output : call.outputs) {
    key.push_back(static_cast<std::uint64_t>(output.dtype));
  }
  return key;
}

void run_user_kernel(Backend& backend, const OpCall& call, Outputs& outputs, HostLaunch launch) {
  kernel::LaunchPlan plan;
  call.def->kernel(call, plan);
  SmallVector<Value, 4> inputs;
  std::vector<ir::BufferArg> buffers;
  const auto bind = [&](const Value& value) {
    buffers.push_back({host(value).data(), static_cast<std::uint64_t>(value.num_elements())});
  };
  for (const Value& input : call.inputs) {
    inputs.push_back(dense(input));
    bind(inputs[inputs.size() - 1]);
  }
  for (const TensorSpec& spec : call.outputs) {
    outputs.push_back(allocate(backend, spec));
    bind(outputs[outputs.size() - 1]);
  }
  launch(plan, buffers);
}

void interpret_user_kernel(Backend& backend, const OpCall& call, Outputs& outputs) {
  run_user_kernel(backend, call, outputs,
                  [&](const kernel::LaunchPlan& plan, std::span<const ir::BufferArg> buffers) {
                    const ir::Kernel kernel = record_user_kernel(call, plan);
                    ir::interpret(
                        kernel, {.cubes = plan.cubes, .buffers = buffers, .scalars = plan.scalars});
                  });
}

}  // namespace sinter::backend
