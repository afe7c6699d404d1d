// SPDX-License-Identifier: MIT OR Apache-2.0
// Execution on a device: kernels where there are some, the host for the rest.
#include "sinter/backend/jit/device_backend.hpp"

#include "sinter/backend/host/user_kernel.hpp"
#include "sinter/backend/jit/group_kernel.hpp"
#include "sinter/backend/portable/portable.hpp"
#include "sinter/ops/create.hpp"

namespace sinter::backend::jit {

namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 30;

// What a storage's context is: memory of the device, given back with the last handle.
struct Held {
  kernel::Runtime* runtime;
  void* memory;
  std::size_t bytes;
};

void release_held(void* /*data*/, void* context) {
  auto* held = static_cast<Held*>(context);
  held->runtime->free(held->memory, held->bytes);
  delete held;
}

kernel::Binding whole(const Value& value) {
  const Ref<Storage>& storage = host(value).storage();
  return {static_cast<Held*>(storage->context())->memory, 0,
          storage->bytes() / size_of(value.dtype())};
}

// The portable kernels, for what the device has none for.
HostBackend& host_kernels() {
  static auto* instance = new HostBackend("portable", portable_kernels());
  return *instance;
}

}  // namespace

DeviceBackend::DeviceBackend(std::string name, std::unique_ptr<kernel::Runtime> runtime)
    : name_(std::move(name)), runtime_(std::move(runtime)), programs_(*runtime_) {}

Value DeviceBackend::make(const TensorSpec& spec) {
  const std::size_t bytes = std::max<std::size_t>(num_bytes(spec.shape, spec.dtype), 4);
  auto* held = new Held{runtime_.get(), runtime_->allocate(bytes), bytes};
  Ref<Storage> storage = Storage::adopt(nullptr, bytes, release_held, held);
  return Value(make_ref<HostTensor>(*this, spec.shape, spec.dtype, std::move(storage)));
}

Value DeviceBackend::from_data(const HostData& data) {
  Value value = make({data.shape(), data.dtype()});
  if (!data.bytes().empty()) {
    runtime_->write(whole(value).memory, 0, data.bytes());
  }
  return value;
}

HostData DeviceBackend::read(const Value& value) {
  HostData data(value.shape(), value.dtype());
  if (data.bytes().empty()) {
    return data;
  }
  const HostTensor& tensor = host(value);
  const std::size_t size = size_of(value.dtype());
  if (tensor.is_contiguous()) {
    runtime_->read(whole(value).memory, static_cast<std::size_t>(tensor.layout().offset) * size,
                   data.bytes());
    return data;
  }
  std::vector<std::byte> all(tensor.storage()->bytes());
  runtime_->read(whole(value).memory, 0, all);
  gather_dense(all.data(), tensor.layout(), size, data.bytes().data());
  return data;
}

bool DeviceBackend::supports(const OpDef& def, DType dtype) const {
  const DType dtypes[] = {dtype, dtype, dtype};
  const std::size_t arity = def.elementwise ? static_cast<std::size_t>(def.elementwise->arity) : 1;
  return def.view != nullptr || def.kernel != nullptr ||
         kernel::joins_expressions(def, {dtypes, std::min<std::size_t>(arity, 3)}, dtype);
}

bool DeviceBackend::joins_groups(const OpCall& call) const {
  return jit::joins_groups(call, 1, most_elements);
}

void DeviceBackend::execute(const OpCall& call, Outputs& outputs) {
  if (call.def->view) {
    outputs.push_back(run_view(call));
  } else if (joins_groups(call)) {
    outputs.push_back(run_alone(call));
  } else if (call.def->kernel) {
    run_user_kernel(call, outputs);
  } else if (call.def == &def_of<ops::Contiguous>()) {
    outputs.push_back(densely(call.inputs[0]));
  } else if (call.def->decompose && !host_kernels().supports(*call.def, DType::f32)) {
    call.def->decompose(call, outputs);
  } else {
    run_on_host(call, outputs);
  }
}

void DeviceBackend::execute_group(Group& group, Outputs& outputs) {
  const GroupPlan plan = plan_group(group, runtime_->properties());
  const kernel::Properties& properties = runtime_->properties();
  const Ref<kernel::Program> program =
      programs_.get(plan.key, [&] { return elementwise_kernel(plan.problem, properties); });
  std::vector<kernel::Binding> bindings;
  for (const Value& input : group.inputs) {
    bindings.push_back(whole(input));
  }
  for (const std::uint32_t result : group.results) {
    outputs.push_back(make(group.specs[result - group.inputs.size()]));
    bindings.push_back(whole(outputs[outputs.size() - 1]));
  }
  const std::vector<std::uint64_t> scalars = plan.launch.scalars(0);
  const std::uint64_t places = plan.places(properties);
  const std::uint64_t cubes = (places + properties.units - 1) / properties.units;
  runtime_->launch(*program, {.cubes = {static_cast<std::uint32_t>(cubes), 1, 1},
                              .buffers = bindings,
                              .scalars = scalars});
}

Value DeviceBackend::run_alone(const OpCall& call) {
  Group group;
  Group::Call alone{call.def, call.attributes, {}, call.where};
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    group.inputs.push_back(call.inputs[i]);
    alone.args.push_back(static_cast<std::uint32_t>(i));
  }
  group.calls.push_back(std::move(alone));
  group.specs.push_back(call.outputs[0]);
  group.results.push_back(group.value_of(0));
  Outputs results;
  execute_group(group, results);
  return std::move(results[0]);
}

/// The same elements in row-major order: a cast to the same dtype is a copy.
Value DeviceBackend::densely(const Value& value) {
  if (host(value).is_contiguous()) {
    return value;
  }
  const ops::Cast same{value.dtype()};
  const TensorSpec spec{value.shape(), value.dtype()};
  return run_alone({.def = &def_of<ops::Cast>(),
                    .attributes = &same,
                    .inputs = {&value, 1},
                    .outputs = {&spec, 1},
                    .donated = 0,
                    .where = {}});
}

void DeviceBackend::run_user_kernel(const OpCall& call, Outputs& outputs) {
  kernel::LaunchPlan plan;
  call.def->kernel(call, plan);
  const Ref<kernel::Program> program =
      programs_.get(user_kernel_key(call, plan), [&] { return record_user_kernel(call, plan); });
  std::vector<Value> inputs;
  std::vector<kernel::Binding> bindings;
  for (const Value& input : call.inputs) {
    inputs.push_back(densely(input));
    if (host(inputs.back()).layout().offset != 0) {
      inputs.back() = from_data(read(inputs.back()));  // kernels count from the buffer's start
    }
    bindings.push_back(whole(inputs.back()));
    bindings.back().length = static_cast<std::uint64_t>(input.num_elements());
  }
  for (const TensorSpec& spec : call.outputs) {
    outputs.push_back(make(spec));
    bindings.push_back(whole(outputs[outputs.size() - 1]));
    bindings.back().length = static_cast<std::uint64_t>(num_elements(spec.shape));
  }
  runtime_->launch(*program, {.cubes = plan.cubes, .buffers = bindings, .scalars = plan.scalars});
}

void DeviceBackend::run_on_host(const OpCall& call, Outputs& outputs) {
  std::vector<Value> inputs;
  for (const Value& input : call.inputs) {
    inputs.push_back(to_backend(input, host_kernels()));
  }
  OpCall there = call;
  there.inputs = inputs;
  there.donated = 0;
  Outputs results;
  host_kernels().execute(there, results);
  for (const Value& result : results) {
    outputs.push_back(to_backend(result, *this));
  }
}

}  // namespace sinter::backend::jit
