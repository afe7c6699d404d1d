// SPDX-License-Identifier: MIT OR Apache-2.0
// The Vulkan loader, devices and what they can do.
#if __has_include(<vulkan/vulkan_core.h>)

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/base/os/library.hpp"
#include "sinter/kernel/runtimes/vulkan/detail/device.hpp"

namespace sinter::kernel::vulkan {

namespace {

constexpr const char* layer = "VK_LAYER_KHRONOS_validation";

VKAPI_ATTR VkBool32 VKAPI_CALL keep_message(VkDebugUtilsMessageSeverityFlagBitsEXT /*severity*/,
                                            VkDebugUtilsMessageTypeFlagsEXT /*types*/,
                                            const VkDebugUtilsMessengerCallbackDataEXT* data,
                                            void* messages) {
  static_cast<std::vector<std::string>*>(messages)->emplace_back(data->pMessage);
  return VK_FALSE;
}

/// Vulkan's way to give a list: asked for its length first.
template <class T, class F>
std::vector<T> listed(F&& get) {
  std::uint32_t count = 0;
  get(&count, static_cast<T*>(nullptr));
  std::vector<T> list(count);
  get(&count, list.data());
  list.resize(count);
  return list;
}

bool has_layer(const Api& vk) {
  const auto layers = listed<VkLayerProperties>([&](std::uint32_t* count, VkLayerProperties* list) {
    (void)vk.vkEnumerateInstanceLayerProperties(count, list);
  });
  return std::any_of(layers.begin(), layers.end(), [](const VkLayerProperties& found) {
    return std::strcmp(found.layerName, layer) == 0;
  });
}

/// The queue family for kernels: computing, and nothing but that where there is a choice.
int family_of(const Api& vk, VkPhysicalDevice device) {
  const auto families =
      listed<VkQueueFamilyProperties>([&](std::uint32_t* count, VkQueueFamilyProperties* list) {
        vk.vkGetPhysicalDeviceQueueFamilyProperties(device, count, list);
      });
  int best = -1;
  for (std::size_t i = 0; i < families.size(); ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    if ((flags & VK_QUEUE_COMPUTE_BIT) != 0 && (best < 0 || (flags & VK_QUEUE_GRAPHICS_BIT) == 0)) {
      best = static_cast<int>(i);
    }
  }
  return best;
}

bool runs_kernels(const Api& vk, VkPhysicalDevice device) {
  VkPhysicalDeviceProperties properties;
  vk.vkGetPhysicalDeviceProperties(device, &properties);
  if (properties.apiVersion < VK_API_VERSION_1_2 || family_of(vk, device) < 0) {
    return false;
  }
  VkPhysicalDeviceVulkan12Features twelve{};
  twelve.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &twelve;
  vk.vkGetPhysicalDeviceFeatures2(device, &features);
  return twelve.timelineSemaphore == VK_TRUE;
}

int rank_of(VkPhysicalDeviceType type) {
  return type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU     ? 0
         : type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ? 1
         : type == VK_PHYSICAL_DEVICE_TYPE_CPU            ? 3
                                                          : 2;
}

}  // namespace

// ---- instance ----

Instance::Instance(std::vector<std::string>* messages) {
  const os::DynamicLibrary library =
      os::DynamicLibrary::open("libvulkan.so.1 libvulkan.so vulkan-1.dll libvulkan.1.dylib");
  if (!library) {
    throw DeviceError("vulkan: there is no Vulkan loader (" + library.error() +
                      "); install libvulkan1 and the driver of the device");
  }
  vk.vkGetInstanceProcAddr =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(library.symbol("vkGetInstanceProcAddr"));
  if (vk.vkGetInstanceProcAddr == nullptr) {
    throw DeviceError("vulkan: the loader has no vkGetInstanceProcAddr; install libvulkan1 anew");
  }
#define SINTER_VK_FIND(name) \
  vk.name = reinterpret_cast<PFN_##name>(vk.vkGetInstanceProcAddr(nullptr, #name));
  SINTER_VK_LOADER_FUNCTIONS(SINTER_VK_FIND)
#undef SINTER_VK_FIND
  if (vk.vkEnumerateInstanceVersion == nullptr) {
    throw DeviceError("vulkan: the loader is of Vulkan 1.0; install one of 1.2 or later");
  }
  create(messages);
  list_devices();
}

void Instance::create(std::vector<std::string>* messages) {
  const bool validates = messages != nullptr && has_layer(vk);
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "sinter";
  application.apiVersion = VK_API_VERSION_1_3;
  const char* extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  if (validates) {
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &layer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = extensions;
  }
  if (const VkResult result = vk.vkCreateInstance(&info, nullptr, &handle); result != VK_SUCCESS) {
    throw DeviceError(fmt::format(
        "vulkan: no instance (error {}); install a driver, for a processor mesa-vulkan-drivers",
        static_cast<int>(result)));
  }
#define SINTER_VK_FIND(name) \
  vk.name = reinterpret_cast<PFN_##name>(vk.vkGetInstanceProcAddr(handle, #name));
  SINTER_VK_INSTANCE_FUNCTIONS(SINTER_VK_FIND)
#undef SINTER_VK_FIND
  if (validates) {
    VkDebugUtilsMessengerCreateInfoEXT wanted{};
    wanted.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    wanted.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                             VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    wanted.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    wanted.pfnUserCallback = keep_message;
    wanted.pUserData = messages;
    const auto make = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vk.vkGetInstanceProcAddr(handle, "vkCreateDebugUtilsMessengerEXT"));
    if (make != nullptr) {
      (void)make(handle, &wanted, nullptr, &messenger);
    }
  }
}

void Instance::list_devices() {
  devices = listed<VkPhysicalDevice>([&](std::uint32_t* count, VkPhysicalDevice* list) {
    (void)vk.vkEnumeratePhysicalDevices(handle, count, list);
  });
  std::erase_if(devices, [&](VkPhysicalDevice device) { return !runs_kernels(vk, device); });
  const auto rank = [&](VkPhysicalDevice device) {
    VkPhysicalDeviceProperties properties;
    vk.vkGetPhysicalDeviceProperties(device, &properties);
    return rank_of(properties.deviceType);
  };
  std::stable_sort(devices.begin(), devices.end(),
                   [&](VkPhysicalDevice a, VkPhysicalDevice b) { return rank(a) < rank(b); });
}

Instance::~Instance() {
  if (messenger != VK_NULL_HANDLE) {
    const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vk.vkGetInstanceProcAddr(handle, "vkDestroyDebugUtilsMessengerEXT"));
    destroy(handle, messenger, nullptr);
  }
  if (handle != VK_NULL_HANDLE) {
    vk.vkDestroyInstance(handle, nullptr);
  }
}

// ---- device ----

Device::Device(int index, std::vector<std::string>* messages) : instance(messages) {
  choose(index);
  query();
  choose_memory();
  create();
}

Device::~Device() {
  if (handle != VK_NULL_HANDLE) {
    vk.vkDestroyDevice(handle, nullptr);
  }
}

void Device::choose(int index) {
  const auto count = static_cast<int>(instance.devices.size());
  if (count == 0) {
    throw DeviceError(
        "vulkan: no device with Vulkan 1.2 and timeline semaphores; install a driver, for a "
        "processor mesa-vulkan-drivers");
  }
  if (index < 0 || index >= count) {
    throw DeviceError(
        fmt::format("vulkan: expected a device from 0 to {}, got {}", count - 1, index));
  }
  physical = instance.devices[static_cast<std::size_t>(index)];
  family = static_cast<std::uint32_t>(family_of(vk, physical));
}

void Device::check(VkResult result, const char* what) {
  if (result == VK_SUCCESS || result == VK_TIMEOUT || result == VK_NOT_READY) {
    return;
  }
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
    throw OutOfMemoryError(
        fmt::format("vulkan: {}: {} is out of memory; free tensors, or make batches smaller", what,
                    properties.device));
  }
  if (result == VK_ERROR_DEVICE_LOST) {
    lost = true;
    require_alive();
  }
  throw DeviceError(
      fmt::format("vulkan: {} on {}: error {}", what, properties.device, static_cast<int>(result)));
}

void Device::require_alive() const {
  if (lost) {
    throw DeviceError(
        fmt::format("vulkan: {} was lost (a kernel ran too long or at a wrong address, or the "
                    "driver was reset); "
                    "what was on it is gone: start the program again",
                    properties.device));
  }
}

namespace {

std::string hex(const std::uint8_t* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

/// What is asked of a device, and later enabled, in one chain.
struct FeatureChain {
  VkPhysicalDeviceFeatures2 all{};
  VkPhysicalDeviceVulkan11Features eleven{};
  VkPhysicalDeviceVulkan12Features twelve{};
  VkPhysicalDeviceSubgroupSizeControlFeatures planes{};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT floats{};
  bool has_planes = false;
  bool has_floats = false;

  FeatureChain(const Api& vk, VkPhysicalDevice device) {
    const auto extensions =
        listed<VkExtensionProperties>([&](std::uint32_t* count, VkExtensionProperties* list) {
          (void)vk.vkEnumerateDeviceExtensionProperties(device, nullptr, count, list);
        });
    const auto has = [&](const char* name) {
      return std::any_of(extensions.begin(), extensions.end(), [&](const auto& found) {
        return std::strcmp(found.extensionName, name) == 0;
      });
    };
    has_planes = has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    has_floats = has(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    eleven.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    twelve.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    planes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
    floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
    all.pNext = &eleven;
    eleven.pNext = &twelve;
    void** last = &twelve.pNext;
    if (has_planes) {
      *last = &planes;
      last = &planes.pNext;
    }
    if (has_floats) {
      *last = &floats;
    }
    vk.vkGetPhysicalDeviceFeatures2(device, &all);
  }
  FeatureChain(const FeatureChain&) = delete;
  FeatureChain& operator=(const FeatureChain&) = delete;

  /// Leaves what kernels use.
  void reduce() {
    const VkPhysicalDeviceFeatures found = all.features;
    all.features = {};
    all.features.shaderFloat64 = found.shaderFloat64;
    all.features.shaderInt64 = found.shaderInt64;
    const VkPhysicalDeviceVulkan11Features one = eleven;
    eleven = {};
    eleven.sType = one.sType;
    eleven.pNext = one.pNext;
    eleven.storageBuffer16BitAccess = one.storageBuffer16BitAccess;
    const VkPhysicalDeviceVulkan12Features two = twelve;
    twelve = {};
    twelve.sType = two.sType;
    twelve.pNext = two.pNext;
    twelve.storageBuffer8BitAccess = two.storageBuffer8BitAccess;
    twelve.shaderBufferInt64Atomics = two.shaderBufferInt64Atomics;
    twelve.shaderSharedInt64Atomics = two.shaderSharedInt64Atomics;
    twelve.shaderSubgroupExtendedTypes = two.shaderSubgroupExtendedTypes;
    twelve.timelineSemaphore = VK_TRUE;
  }
};

}  // namespace

void Device::describe_float_controls(const VkPhysicalDeviceVulkan12Properties& p) {
  features.preserve_nan_f32 = p.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE;
  features.denorm_preserve_f32 = p.shaderDenormPreserveFloat32 == VK_TRUE;
  features.round_to_even_f32 = p.shaderRoundingModeRTEFloat32 == VK_TRUE;
  const auto both = [&](VkShaderFloatControlsIndependence independence) {
    return independence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  };
  // Where widths depend on each other, f32 decides.
  const bool denorms = p.denormBehaviorIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL ||
                       (both(p.denormBehaviorIndependence) && features.denorm_preserve_f32);
  const bool rounding = both(p.roundingModeIndependence) || features.round_to_even_f32;
  features.preserve_nan_f64 = p.shaderSignedZeroInfNanPreserveFloat64 == VK_TRUE;
  features.denorm_preserve_f64 = p.shaderDenormPreserveFloat64 == VK_TRUE && denorms;
  features.round_to_even_f64 = p.shaderRoundingModeRTEFloat64 == VK_TRUE && rounding;
}

void Device::query() {
  VkPhysicalDeviceSubgroupSizeControlProperties sizes{};
  sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
  VkPhysicalDeviceVulkan12Properties twelve{};
  twelve.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  VkPhysicalDeviceVulkan11Properties eleven{};
  eleven.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  eleven.pNext = &twelve;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  all.pNext = &eleven;
  const FeatureChain chain(vk, physical);
  twelve.pNext = chain.has_planes ? &sizes : nullptr;
  vk.vkGetPhysicalDeviceProperties2(physical, &all);

  limits = all.properties.limits;
  largest_allocation = eleven.maxMemoryAllocationSize;
  identity = fmt::format("{} {:x} {} {}", all.properties.deviceName, all.properties.driverVersion,
                         hex(eleven.driverUUID, VK_UUID_SIZE),
                         hex(all.properties.pipelineCacheUUID, VK_UUID_SIZE));
  fixed_planes = chain.planes.subgroupSizeControl == VK_TRUE &&
                 (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
  full_planes = chain.planes.computeFullSubgroups == VK_TRUE;

  features.f64 = chain.all.features.shaderFloat64 == VK_TRUE;
  features.i64 = chain.all.features.shaderInt64 == VK_TRUE;
  features.storage8 = chain.twelve.storageBuffer8BitAccess == VK_TRUE;
  features.storage16 = chain.eleven.storageBuffer16BitAccess == VK_TRUE;
  features.buffer_i64_atomics = chain.twelve.shaderBufferInt64Atomics == VK_TRUE;
  features.shared_i64_atomics = chain.twelve.shaderSharedInt64Atomics == VK_TRUE;
  features.buffer_f32_add = chain.floats.shaderBufferFloat32AtomicAdd == VK_TRUE;
  features.shared_f32_add = chain.floats.shaderSharedFloat32AtomicAdd == VK_TRUE;
  const bool planes = (eleven.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
  const auto supports = [&](VkSubgroupFeatureFlagBits bit) {
    return planes && (eleven.subgroupSupportedOperations & bit) != 0;
  };
  features.plane_vote = supports(VK_SUBGROUP_FEATURE_VOTE_BIT);
  features.plane_arithmetic = supports(VK_SUBGROUP_FEATURE_ARITHMETIC_BIT);
  features.plane_shuffle = supports(VK_SUBGROUP_FEATURE_SHUFFLE_BIT);
  features.plane_i64 = features.i64 && chain.twelve.shaderSubgroupExtendedTypes == VK_TRUE;
  features.push_bytes = limits.maxPushConstantsSize;
  describe_float_controls(twelve);

  const bool processor = all.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  properties.device = all.properties.deviceName;
  // On a processor the units of a plane are a register's lanes already.
  properties.lanes = processor ? 1 : 4;
  properties.most_units =
      std::min({1024u, limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]});
  properties.units = std::min(256u, properties.most_units);
  properties.plane = eleven.subgroupSize;
  properties.shared_bytes = limits.maxComputeSharedMemorySize;
  // Vulkan doesn't say how many cubes run at a time.
  properties.cubes = processor ? 4 : 64;
  properties.has_f64 = features.f64;
  properties.has_i64 = features.i64;
}

/// Tensors live in the device's memory; where that is the host's too, it is mapped.
void Device::choose_memory() {
  VkPhysicalDeviceMemoryProperties found;
  vk.vkGetPhysicalDeviceMemoryProperties(physical, &found);
  constexpr VkMemoryPropertyFlags coherent =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  constexpr VkMemoryPropertyFlags cached = coherent | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  const auto best = [&](auto&& score) {
    std::uint32_t chosen = 0;
    int most = -1;
    for (std::uint32_t i = 0; i < found.memoryTypeCount; ++i) {
      if (const int points = score(found.memoryTypes[i].propertyFlags); points > most) {
        most = points;
        chosen = i;
      }
    }
    const VkMemoryType& type = found.memoryTypes[chosen];
    return MemoryKind{chosen, found.memoryHeaps[type.heapIndex].size,
                      (type.propertyFlags & cached) == cached};
  };
  const auto has = [](VkMemoryPropertyFlags flags, VkMemoryPropertyFlags wanted) {
    return (flags & wanted) == wanted;
  };
  memory = best([&](VkMemoryPropertyFlags flags) {
    return has(flags, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) ? (has(flags, cached) ? 2 : 1) : 0;
  });
  staging = best([&](VkMemoryPropertyFlags flags) {
    return has(flags, cached) ? 2 : has(flags, coherent) ? 1 : 0;
  });
  staging.mapped = true;
}

void Device::create() {
  FeatureChain chain(vk, physical);
  chain.reduce();
  const float priority = 1;
  VkDeviceQueueCreateInfo queues{};
  queues.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queues.queueFamilyIndex = family;
  queues.queueCount = 1;
  queues.pQueuePriorities = &priority;
  std::vector<const char*> extensions;
  if (chain.has_planes) {
    extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  }
  if (chain.has_floats) {
    extensions.push_back(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
  }
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &chain.all;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queues;
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  check(vk.vkCreateDevice(physical, &info, nullptr, &handle), "opening the device");
#define SINTER_VK_FIND(name) \
  vk.name = reinterpret_cast<PFN_##name>(vk.vkGetDeviceProcAddr(handle, #name));
  SINTER_VK_DEVICE_FUNCTIONS(SINTER_VK_FIND)
#undef SINTER_VK_FIND
  vk.vkGetDeviceQueue(handle, family, 0, &queue);
  const auto families =
      listed<VkQueueFamilyProperties>([&](std::uint32_t* count, VkQueueFamilyProperties* list) {
        vk.vkGetPhysicalDeviceQueueFamilyProperties(physical, count, list);
      });
  timestamp_bits = families[family].timestampValidBits;
}

}  // namespace sinter::kernel::vulkan

#endif
