// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiled kernels of a Vulkan device.
#pragma once

#include <memory>
#include <string>

#include "sinter/kernel/runtimes/vulkan/detail/device.hpp"

namespace sinter::kernel::vulkan {

class VulkanProgram : public Program {
 public:
  /// Compiles a kernel that went through the passes. Throws CompileError for what the device can't
  /// run.
  VulkanProgram(std::shared_ptr<Device> device, const ir::Kernel& kernel,
                const spirv::Features& features, VkPipelineCache cache);
  ~VulkanProgram() override;

  struct Buffer {
    std::string name;
    DType dtype = DType::f32;
  };
  [[nodiscard]] const Device* device() const { return device_.get(); }
  [[nodiscard]] const std::vector<Buffer>& buffers() const { return buffers_; }
  [[nodiscard]] const std::vector<DType>& scalars() const { return scalars_; }
  [[nodiscard]] const spirv::Parameters& parameters() const { return parameters_; }
  /// Descriptors of a launch.
  [[nodiscard]] std::uint32_t bindings() const {
    return static_cast<std::uint32_t>(buffers_.size()) + (parameters_.in_buffer ? 1 : 0);
  }
  [[nodiscard]] VkDescriptorSetLayout set_layout() const { return set_layout_; }
  [[nodiscard]] VkPipelineLayout layout() const { return layout_; }
  [[nodiscard]] VkPipeline pipeline() const { return pipeline_; }

 private:
  void require_limits(const ir::Kernel& kernel) const;
  void make_layouts();
  void make_pipeline(const ir::Kernel& kernel, const spirv::Features& features,
                     VkPipelineCache cache);
  void release_handles() noexcept;

  std::shared_ptr<Device> device_;
  std::vector<Buffer> buffers_;
  std::vector<DType> scalars_;
  spirv::Parameters parameters_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

}  // namespace sinter::kernel::vulkan
