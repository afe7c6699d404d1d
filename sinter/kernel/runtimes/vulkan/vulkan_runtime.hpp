// SPDX-License-Identifier: MIT OR Apache-2.0
// Vulkan devices for kernels: any GPU with a Vulkan 1.2 driver, and lavapipe on the processor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sinter/kernel/launch/runtime.hpp"

namespace sinter::kernel {

struct VulkanOptions {
  /// Folder of the drivers' compiled kernels; empty: none.
  std::string cache;
  /// Ask for Khronos' validation layer where it is installed; what it finds goes to `messages`,
  /// which must outlive the runtime.
  std::vector<std::string>* messages = nullptr;
};

/// Names of the Vulkan devices that can run kernels, GPUs first; the index is that of open_vulkan.
/// Empty without a Vulkan loader.
[[nodiscard]] std::vector<std::string> vulkan_devices();

/// Opens a device. The loader is opened at run time. Throws DeviceError saying what is missing.
[[nodiscard]] std::unique_ptr<Runtime> open_vulkan(int index, const VulkanOptions& options = {});

}  // namespace sinter::kernel
