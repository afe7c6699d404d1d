// SPDX-License-Identifier: MIT OR Apache-2.0
// The processor with kernels compiled at run time: groups become one kernel each, single calls run
// on the portable kernels.
#include <algorithm>

#include "sinter/backend/host/host_backend.hpp"
#include "sinter/backend/host/user_kernel.hpp"
#include "sinter/backend/jit/device_backend.hpp"
#include "sinter/backend/jit/group_kernel.hpp"
#include "sinter/backend/jit/programs.hpp"
#include "sinter/backend/portable/portable.hpp"
#include "sinter/backend/registry.hpp"
#include "sinter/base/config.hpp"
#include "sinter/kernel/launch/disk_cache.hpp"
#include "sinter/kernel/runtimes/cpu/cpu_runtime.hpp"
#include "sinter/kernel/runtimes/vulkan/vulkan_runtime.hpp"

namespace sinter::backend {
namespace {

// Below this a kernel of its own doesn't pay for its launch; with the setting `fusion` at 2, any.
constexpr std::int64_t least_elements = 4096;
// Elements that one cube walks: a few of these blocks fit the second-level cache.
constexpr std::uint32_t chunk_elements = 16384;
constexpr std::int64_t most_elements = std::int64_t{1} << 31;
constexpr std::size_t most_inputs = 32;

class CpuBackend final : public HostBackend {
 public:
  CpuBackend()
      : HostBackend("jit-cpu", portable_kernels()),
        runtime_(kernel::cpu_runtime()),
        programs_(runtime_) {}

  bool joins_groups(const OpCall& call) const override {
    return jit::joins_groups(call, any_size() ? 1 : least_elements, most_elements);
  }

  void execute_group(Group& group, Outputs& outputs) override {
    if ((group.calls.size() == 1 && !any_size()) || group.inputs.size() > most_inputs) {
      execute_one_by_one(*this, group, outputs);
      return;
    }
    const jit::GroupPlan plan = jit::plan_group(group, runtime_.properties());
    const Ref<kernel::Program> program = find(plan);
    if (!program) {  // it is being compiled
      execute_one_by_one(*this, group, outputs);
      return;
    }
    std::vector<kernel::Binding> bindings;
    for (const Value& input : group.inputs) {
      bindings.push_back(bind(input));
    }
    for (const std::uint32_t result : group.results) {
      const TensorSpec& spec = group.specs[result - group.inputs.size()];
      Value output = result_for(group, spec);
      bindings.push_back(bind(output));
      outputs.push_back(std::move(output));
    }
    launch(*program, plan, bindings);
  }

 protected:
  void run_own_kernel(const OpCall& call, Outputs& outputs) override {
    run_user_kernel(
        *this, call, outputs,
        [&](const kernel::LaunchPlan& plan, std::span<const ir::BufferArg> buffers) {
          const Ref<kernel::Program> program = programs_.get(
              user_kernel_key(call, plan), [&] { return record_user_kernel(call, plan); });
          std::vector<kernel::Binding> bindings;
          for (const ir::BufferArg& buffer : buffers) {
            bindings.push_back({buffer.data, 0, buffer.length});
          }
          runtime_.launch(*program,
                          {.cubes = plan.cubes, .buffers = bindings, .scalars = plan.scalars});
        });
  }

 private:
  static bool any_size() { return config::integer(config::Setting::fusion) >= 2; }
  static kernel::Binding bind(const Value& value) {
    return {host(value).data(), 0, static_cast<std::uint64_t>(value.num_elements())};
  }

  // An input that only the group holds and that lies like the result gives its memory.
  Value result_for(const Group& group, const TensorSpec& spec) {
    for (const Value& input : group.inputs) {
      if (is_reusable(input, spec)) {
        return input;  // and is unique no longer: no other result takes it
      }
    }
    return allocate(*this, spec);
  }

  void launch(const kernel::Program& program, const jit::GroupPlan& plan,
              const std::vector<kernel::Binding>& bindings) {
    const bool by_rows = plan.problem.outer > 0;
    const auto total =
        by_rows ? static_cast<std::uint32_t>(plan.launch.row_count()) : plan.launch.inner;
    const std::uint32_t chunk =
        by_rows ? std::max<std::uint32_t>(1, chunk_elements / plan.launch.inner) : chunk_elements;
    const std::vector<std::uint64_t> scalars = plan.launch.scalars(chunk);
    runtime_.launch(
        program,
        {.cubes = {(total + chunk - 1) / chunk, 1, 1}, .buffers = bindings, .scalars = scalars});
  }

  Ref<kernel::Program> find(const jit::GroupPlan& plan) {
    const auto record = [&] {
      return kernel::elementwise_kernel(plan.problem, runtime_.properties());
    };
    return any_size() ? programs_.get(plan.key, record) : programs_.find(plan.key, record);
  }

  kernel::Runtime& runtime_;
  jit::Programs programs_;
};

}  // namespace

void register_jit();
void register_jit() {
  add({.name = "jit-cpu",
       .description = "kernels compiled for this processor while the program runs",
       .device_count = [] { return kernel::cpu_can_compile() ? 1 : 0; },
       .create = [](int) -> std::unique_ptr<Backend> { return std::make_unique<CpuBackend>(); }});
  add({.name = "jit-vulkan",
       .description = "kernels compiled for a Vulkan device while the program runs",
       .device_count = [] { return static_cast<int>(kernel::vulkan_devices().size()); },
       .create = [](int index) -> std::unique_ptr<Backend> {
         return std::make_unique<jit::DeviceBackend>(
             "jit-vulkan",
             kernel::open_vulkan(index, {.cache = kernel::DiskCache::default_folder()}));
       }});
}

}  // namespace sinter::backend
