// SPDX-License-Identifier: MIT OR Apache-2.0
// From kernels to pipelines.
#if __has_include(<vulkan/vulkan_core.h>)

#include <algorithm>

#include <fmt/format.h>

#include "sinter/kernel/compile_error.hpp"
#include "sinter/kernel/runtimes/vulkan/detail/program.hpp"

namespace sinter::kernel::vulkan {

namespace {

bool uses_planes(const ir::Kernel& kernel) {
  return std::any_of(kernel.insts.begin(), kernel.insts.end(), [](const ir::Inst& inst) {
    return inst.op == ir::Op::plane_dim || inst.op == ir::Op::plane_pos ||
           (ir::traits_of(inst.op).is(ir::together) && inst.op != ir::Op::barrier);
  });
}

}  // namespace

VulkanProgram::VulkanProgram(std::shared_ptr<Device> device, const ir::Kernel& kernel,
                             const spirv::Features& features, VkPipelineCache cache)
    : Program(kernel.name),
      device_(std::move(device)),
      parameters_(spirv::parameters_of(kernel, features)) {
  for (const ir::Memory& memory : kernel.memories) {
    if (memory.space == ir::Space::buffer) {
      buffers_.push_back({memory.name, memory.dtype});
    }
  }
  for (const ir::Scalar& scalar : kernel.scalars) {
    scalars_.push_back(scalar.dtype);
  }
  require_limits(kernel);
  try {
    make_layouts();
    make_pipeline(kernel, features, cache);
  } catch (...) {
    release_handles();
    throw;
  }
}

VulkanProgram::~VulkanProgram() { release_handles(); }

void VulkanProgram::release_handles() noexcept {
  const Api& vk = device_->vk;
  vk.vkDestroyPipeline(device_->handle, pipeline_, nullptr);
  vk.vkDestroyPipelineLayout(device_->handle, layout_, nullptr);
  vk.vkDestroyDescriptorSetLayout(device_->handle, set_layout_, nullptr);
}

void VulkanProgram::require_limits(const ir::Kernel& kernel) const {
  const VkPhysicalDeviceLimits& limits = device_->limits;
  const auto require = [&](std::uint64_t most, std::uint64_t got, const char* what) {
    if (got > most) {
      throw CompileError(fmt::format("kernel {}: {} has at most {} {}, got {}", kernel.name,
                                     device_->properties.device, most, what, got));
    }
  };
  require(device_->properties.most_units, kernel.units(), "units in a cube");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    require(limits.maxComputeWorkGroupSize[axis], kernel.cube[axis], "units along an axis");
  }
  require(limits.maxComputeSharedMemorySize, spirv::shared_bytes_of(kernel),
          "bytes of shared memory");
  require(
      std::min(limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers),
      bindings(), "buffers in a kernel");
}

void VulkanProgram::make_layouts() {
  std::vector<VkDescriptorSetLayoutBinding> list(bindings());
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    list[i] = {};
    list[i].binding = i;
    list[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    list[i].descriptorCount = 1;
    list[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  VkDescriptorSetLayoutCreateInfo set{};
  set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  set.bindingCount = bindings();
  set.pBindings = list.data();
  Device& device = *device_;
  device.check(device.vk.vkCreateDescriptorSetLayout(device.handle, &set, nullptr, &set_layout_),
               "a kernel's layout");
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, 4 * parameters_.words};
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.setLayoutCount = 1;
  info.pSetLayouts = &set_layout_;
  if (parameters_.words != 0 && !parameters_.in_buffer) {
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
  }
  device.check(device.vk.vkCreatePipelineLayout(device.handle, &info, nullptr, &layout_),
               "a kernel's layout");
}

void VulkanProgram::make_pipeline(const ir::Kernel& kernel, const spirv::Features& features,
                                  VkPipelineCache cache) {
  const std::vector<std::uint32_t> words = spirv::compile(kernel, features);
  Device& device = *device_;
  VkShaderModuleCreateInfo code{};
  code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  code.codeSize = 4 * words.size();
  code.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  device.check(device.vk.vkCreateShaderModule(device.handle, &code, nullptr, &module),
               "a kernel's module");
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo planes{};
  planes.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
  planes.requiredSubgroupSize = device.properties.plane;
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  if (uses_planes(kernel) && device.fixed_planes) {
    info.stage.pNext = &planes;
    if (device.full_planes && kernel.cube.x % device.properties.plane == 0) {
      info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
  }
  info.layout = layout_;
  const VkResult result =
      device.vk.vkCreateComputePipelines(device.handle, cache, 1, &info, nullptr, &pipeline_);
  device.vk.vkDestroyShaderModule(device.handle, module, nullptr);
  if (result < 0 && result != VK_ERROR_OUT_OF_DEVICE_MEMORY &&
      result != VK_ERROR_OUT_OF_HOST_MEMORY && result != VK_ERROR_DEVICE_LOST) {
    throw CompileError(fmt::format("kernel {}: the driver of {} refused it (error {})", kernel.name,
                                   device.properties.device, static_cast<int>(result)));
  }
  device.check(result, "a kernel");
}

}  // namespace sinter::kernel::vulkan

#endif
