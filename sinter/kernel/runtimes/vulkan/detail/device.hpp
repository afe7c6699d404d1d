// SPDX-License-Identifier: MIT OR Apache-2.0
// An opened Vulkan device: handles, limits, and what its modules may use.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "sinter/kernel/compilers/spirv/spirv.hpp"
#include "sinter/kernel/launch/runtime.hpp"
#include "sinter/kernel/runtimes/vulkan/detail/api.hpp"

namespace sinter::kernel::vulkan {

/// The loader, and an instance with the devices that can run kernels, GPUs first.
struct Instance {
  /// Throws DeviceError if there is no loader.
  explicit Instance(std::vector<std::string>* messages);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  Api vk;
  VkInstance handle = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  std::vector<VkPhysicalDevice> devices;

 private:
  void create(std::vector<std::string>* messages);
  void list_devices();
};

struct Device {
  Device(int index, std::vector<std::string>* messages);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  /// Throws what `result` stands for: OutOfMemoryError or DeviceError; a lost device stays lost.
  void check(VkResult result, const char* what);
  /// Throws DeviceError if the device was lost.
  void require_alive() const;

  Instance instance;
  Api& vk = instance.vk;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice handle = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  std::uint32_t family = 0;

  Properties properties;
  spirv::Features features;
  VkPhysicalDeviceLimits limits{};
  std::uint64_t largest_allocation = 0;
  std::uint32_t timestamp_bits = 0;
  bool fixed_planes = false;  ///< the size of planes can be required
  bool full_planes = false;
  std::string identity;  ///< of device and driver, for caches
  std::atomic<bool> lost{false};

  struct MemoryKind {
    std::uint32_t type = 0;
    std::uint64_t heap = 0;  ///< bytes
    bool mapped = false;
  };
  MemoryKind memory;   ///< of tensors
  MemoryKind staging;  ///< of the host

 private:
  void choose(int index);
  void query();
  void describe_float_controls(const VkPhysicalDeviceVulkan12Properties& p);
  void choose_memory();
  void create();
};

}  // namespace sinter::kernel::vulkan
