// SPDX-License-Identifier: MIT OR Apache-2.0
// The runtime of Vulkan devices; without Vulkan's headers, one that says so.
#include "sinter/kernel/runtimes/vulkan/vulkan_runtime.hpp"

#include "sinter/base/error.hpp"

#if __has_include(<vulkan/vulkan_core.h>)

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "sinter/kernel/compile_error.hpp"
#include "sinter/kernel/ir/text.hpp"
#include "sinter/kernel/passes/lower_math.hpp"
#include "sinter/kernel/passes/passes.hpp"
#include "sinter/kernel/runtimes/vulkan/detail/runtime.hpp"

namespace sinter::kernel::vulkan {

namespace {

/// Buffers start where the device allows, and where a word does.
std::uint64_t alignment_of(const Device& device) {
  return std::max<std::uint64_t>(device.limits.minStorageBufferOffsetAlignment, 16);
}

ir::MathTarget math_target() {
  ir::MathTarget target = ir::MathTarget::spirv();
  return target.add({ir::Op::copysign, ir::Op::rem})
      .add_on_f64({ir::Op::copysign, ir::Op::rem, ir::Op::rsqrt});
}

bool uses(const ir::Kernel& kernel, ir::Op op) {
  return std::any_of(kernel.insts.begin(), kernel.insts.end(),
                     [&](const ir::Inst& inst) { return inst.op == op; });
}

}  // namespace

VulkanRuntime::VulkanRuntime(int index, const VulkanOptions& options)
    : device_(std::make_shared<Device>(index, options.messages)),
      disk_(options.cache),
      memory_(*device_, device_->memory),
      staging_(*device_, device_->staging) {
  stream_.emplace(*device_, staging_);
  open_cache();
}

VulkanRuntime::~VulkanRuntime() {
  keep_cache();
  programs_.clear();
  stream_.reset();
  if (nothing_ != nullptr) {
    memory_.give(nothing_);
  }
  device_->vk.vkDestroyPipelineCache(device_->handle, pipelines_, nullptr);
}

// ---- the driver's compiled kernels ----

void VulkanRuntime::open_cache() {
  const std::optional<std::string> kept = disk_.find("vulkan " + device_->identity);
  VkPipelineCacheCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  info.initialDataSize = kept ? kept->size() : 0;
  info.pInitialData = kept ? kept->data() : nullptr;
  device_->check(device_->vk.vkCreatePipelineCache(device_->handle, &info, nullptr, &pipelines_),
                 "a pipeline cache");
}

void VulkanRuntime::keep_cache() noexcept {
  if (disk_.folder().empty() || device_->lost || programs_.empty()) {
    return;
  }
  try {
    const Api& vk = device_->vk;
    std::size_t size = 0;
    device_->check(vk.vkGetPipelineCacheData(device_->handle, pipelines_, &size, nullptr),
                   "a pipeline cache");
    std::string data(size, '\0');
    device_->check(vk.vkGetPipelineCacheData(device_->handle, pipelines_, &size, data.data()),
                   "a pipeline cache");
    data.resize(size);
    disk_.keep("vulkan " + device_->identity, data);
  } catch (...) {
    // Only a cache: the next process compiles again.
  }
}

// ---- programs ----

Ref<Program> VulkanRuntime::find(const std::string& key) {
  const std::lock_guard lock(programs_mutex_);
  const auto found = programs_.find(key);
  return found == programs_.end() ? Ref<Program>() : found->second;
}

Ref<Program> VulkanRuntime::load(const ir::Kernel& kernel) {
  device_->require_alive();
  const std::string key = ir::print(kernel);
  if (Ref<Program> found = find(key)) {
    return found;
  }
  Ref<Program> program = compile(kernel);
  const std::lock_guard lock(programs_mutex_);
  return programs_.emplace(key, std::move(program)).first->second;
}

Ref<Program> VulkanRuntime::load_kept(const ir::Kernel& kernel) { return find(ir::print(kernel)); }

Ref<Program> VulkanRuntime::compile(const ir::Kernel& kernel) {
  static const ir::MathTarget target = math_target();
  ir::Kernel work = kernel;
  ir::lower_math(work, target);
  ir::run_passes(work, ir::device_passes());
  spirv::Features features = device_->features;
  if (uses(work, ir::Op::fma)) {
    std::call_once(fma_known_, [this] {
      exact_fma_ = fuses(false);
      exact_f64_fma_ = device_->features.f64 && fuses(true);
    });
    features.exact_fma = exact_fma_;
    features.exact_f64_fma = exact_f64_fma_;
  }
  return make_ref<VulkanProgram>(device_, work, features, pipelines_);
}

/// Vulkan lets a device round fma twice; whether this one does is seen when it is first needed.
/// (1 + e)² - 1 - 2e is e² when rounded once, and 0 when rounded twice.
bool VulkanRuntime::fuses(bool wide) {
  const char* const type = wide ? "f64" : "f32";
  const double e = wide ? 0x1p-40 : 0x1p-13;
  const ir::Kernel probe = ir::parse(fmt::format(
      "kernel fma_probe cube 1 1 1\nbuffer x {0} read_write\n{{\n  %0 = constant 0 : u32\n"
      "  %1 = load x %0 : {0}\n  %2 = constant 1 : u32\n  %3 = load x %2 : {0}\n"
      "  %4 = fma %1 %1 %3 : {0}\n  store x %0 %4\n}}\n",
      type));
  spirv::Features features = device_->features;
  features.exact_fma = features.exact_f64_fma = true;
  const auto program = make_ref<VulkanProgram>(device_, probe, features, pipelines_);
  const double values[] = {1 + e, -1 - 2 * e};
  const float narrow[] = {static_cast<float>(values[0]), static_cast<float>(values[1])};
  const std::span<const std::byte> bytes =
      wide ? std::span<const std::byte>(std::as_bytes(std::span(values)))
           : std::as_bytes(std::span(narrow));
  void* const memory = allocate(bytes.size());
  write(memory, 0, bytes);
  const Binding binding{memory, 0, 2};
  launch(*program, {.cubes = {}, .buffers = {&binding, 1}, .scalars = {}});
  std::vector<std::byte> result(bytes.size());
  read(memory, 0, result);
  free(memory, bytes.size());
  return std::any_of(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2),
                     [](std::byte b) { return b != std::byte{0}; });
}

// ---- launches ----

Range VulkanRuntime::range_of(const VulkanProgram& program, std::size_t which,
                              const Binding& binding, std::vector<std::uint32_t>& words) {
  const auto& [name, dtype] = program.buffers()[which];
  const auto fail = [&](const std::string& what) {
    throw DeviceError(fmt::format("vulkan: kernel {}, buffer {}: {}", program.name(), name, what));
  };
  if (binding.length == 0) {
    if (nothing_ == nullptr) {
      nothing_ = take(1);
    }
    return {nothing_, 0, 4};
  }
  Block* const block = static_cast<Block*>(binding.memory);
  if (block == nullptr) {
    fail("expected memory of this runtime, got a null pointer");
  }
  const std::uint64_t size = size_of(dtype);
  const std::uint64_t bytes = binding.length * size;
  if (binding.offset % size != 0 || binding.offset + bytes > block->size) {
    fail(fmt::format("expected elements of {} bytes within {} bytes, got {} from byte {} on", size,
                     block->size, binding.length, binding.offset));
  }
  const std::uint64_t skipped = binding.offset % alignment_of(*device_);
  const std::uint64_t whole = (skipped + bytes + 3) / 4 * 4;
  const std::uint64_t most = device_->limits.maxStorageBufferRange;
  if (whole > most || binding.length > 0xffffffffu) {
    fail(
        fmt::format("a kernel on {} sees at most {} bytes of a buffer, got {}; split the tensor, "
                    "use a narrower dtype, or another device",
                    device_->properties.device, most, whole));
  }
  const spirv::Parameters& parameters = program.parameters();
  words[parameters.base[which]] = static_cast<std::uint32_t>(skipped / size);
  if (const std::uint32_t place = parameters.length[which]; place != spirv::Parameters::none) {
    words[place] = static_cast<std::uint32_t>(binding.length);
  }
  return {block, binding.offset - skipped, whole};
}

void VulkanRuntime::fill_words(const VulkanProgram& program, const LaunchArgs& args,
                               std::vector<std::uint32_t>& words) const {
  const spirv::Parameters& parameters = program.parameters();
  for (std::size_t i = 0; i < args.scalars.size(); ++i) {
    const std::uint32_t place = parameters.scalars[i];
    words[place] = static_cast<std::uint32_t>(args.scalars[i]);
    if (size_of(program.scalars()[i]) == 8) {
      words[place + 1] = static_cast<std::uint32_t>(args.scalars[i] >> 32);
    }
  }
  if (const std::uint32_t place = parameters.cube_count; place != spirv::Parameters::none) {
    words[place] = args.cubes.x;
    words[place + 1] = args.cubes.y;
    words[place + 2] = args.cubes.z;
  }
}

void VulkanRuntime::launch(const Program& program, const LaunchArgs& args) {
  const auto* const ours = dynamic_cast<const VulkanProgram*>(&program);
  if (ours == nullptr || ours->device() != device_.get()) {
    throw DeviceError(fmt::format("vulkan: kernel {} was loaded on another device; load it on {}",
                                  program.name(), device_->properties.device));
  }
  if (args.buffers.size() != ours->buffers().size() ||
      args.scalars.size() != ours->scalars().size()) {
    throw ArgumentError(fmt::format("kernel {}: expected {} buffers and {} scalars, got {} and {}",
                                    program.name(), ours->buffers().size(), ours->scalars().size(),
                                    args.buffers.size(), args.scalars.size()));
  }
  if (args.cubes.x == 0 || args.cubes.y == 0 || args.cubes.z == 0) {
    return;
  }
  const Lock lock(mutex_);
  device_->require_alive();
  std::vector<std::uint32_t> words(ours->parameters().words);
  std::vector<Range> ranges;
  ranges.reserve(ours->bindings());
  for (std::size_t i = 0; i < args.buffers.size(); ++i) {
    ranges.push_back(range_of(*ours, i, args.buffers[i], words));
  }
  fill_words(*ours, args, words);
  if (ours->parameters().in_buffer) {
    Block* const block = stream_->stage(4 * words.size());
    std::memcpy(block->mapped(), words.data(), 4 * words.size());
    ranges.push_back({block, 0, 4 * words.size()});
    words.clear();
  }
  stream_->launch(*ours, args.cubes, ranges, words);
}

// ---- memory ----

/// Under the lock. Cached memory is given back before it is said that there is none.
Block* VulkanRuntime::take(std::size_t bytes) {
  device_->require_alive();
  if (Block* const block = memory_.find(bytes)) {
    return block;
  }
  try {
    return memory_.make(bytes);
  } catch (const OutOfMemoryError&) {
    trim_all();
    return memory_.make(bytes);
  }
}

void VulkanRuntime::trim_all() {
  stream_->wait(stream_->flush());
  (void)stream_->finished();
  memory_.trim();
  staging_.trim();
}

void* VulkanRuntime::allocate(std::size_t bytes) {
  const Lock lock(mutex_);
  Block* const block = take(bytes);
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
  ++allocations_;
  return block;
}

void VulkanRuntime::free(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) {
    return;
  }
  const Lock lock(mutex_);
  memory_.give(static_cast<Block*>(memory));
  in_use_ -= bytes;
}

void VulkanRuntime::write(void* memory, std::size_t offset, std::span<const std::byte> from) {
  if (from.empty()) {
    return;
  }
  const Lock lock(mutex_);
  device_->require_alive();
  Block& block = *static_cast<Block*>(memory);
  // The host may write at once where no work that was asked for uses the block.
  if (block.mapped() != nullptr && block.last_work <= stream_->finished()) {
    std::memcpy(block.mapped() + offset, from.data(), from.size());
    return;
  }
  Block* const staged = stream_->stage(from.size());
  std::memcpy(staged->mapped(), from.data(), from.size());
  stream_->copy({staged, 0, from.size()}, {&block, offset, from.size()});
}

void VulkanRuntime::read(const void* memory, std::size_t offset, std::span<std::byte> to) {
  if (to.empty()) {
    return;
  }
  Lock lock(mutex_);
  device_->require_alive();
  const Block& block = *static_cast<const Block*>(memory);
  const std::byte* from = block.mapped() == nullptr ? nullptr : block.mapped() + offset;
  Block* staged = nullptr;
  if (from == nullptr) {
    staged = staging_.find(to.size());
    staged = staged == nullptr ? staging_.make(to.size()) : staged;
    from = staged->mapped();
    // The block is unchanged but for the number of the work that uses it.
    stream_->copy({const_cast<Block*>(&block), offset, to.size()}, {staged, 0, to.size()});
  }
  const std::uint64_t number = stream_->flush();
  lock.unlock();
  stream_->wait(number);
  std::memcpy(to.data(), from, to.size());
  lock.lock();
  (void)stream_->finished();
  if (staged != nullptr) {
    staging_.give(staged);
  }
}

void VulkanRuntime::sync() {
  Lock lock(mutex_);
  const std::uint64_t number = stream_->flush();
  lock.unlock();
  stream_->wait(number);
  lock.lock();
  (void)stream_->finished();
}

MemoryStats VulkanRuntime::memory() const {
  const Lock lock(mutex_);
  const std::size_t held = memory_.held() + staging_.held();
  return {.in_use = in_use_,
          .cached = held > in_use_ ? held - in_use_ : 0,
          .peak = peak_,
          .allocations = allocations_};
}

void VulkanRuntime::trim() {
  const Lock lock(mutex_);
  trim_all();
}

std::vector<Timing> VulkanRuntime::profile() {
  const Lock lock(mutex_);
  return stream_->profile();
}

}  // namespace sinter::kernel::vulkan

namespace sinter::kernel {

std::vector<std::string> vulkan_devices() {
  std::vector<std::string> names;
  try {
    const vulkan::Instance instance(nullptr);
    for (const VkPhysicalDevice device : instance.devices) {
      VkPhysicalDeviceProperties properties;
      instance.vk.vkGetPhysicalDeviceProperties(device, &properties);
      names.emplace_back(properties.deviceName);
    }
  } catch (const DeviceError&) {
    // No loader or no driver: no devices.
  }
  return names;
}

std::unique_ptr<Runtime> open_vulkan(int index, const VulkanOptions& options) {
  return std::make_unique<vulkan::VulkanRuntime>(index, options);
}

}  // namespace sinter::kernel

#else

namespace sinter::kernel {

std::vector<std::string> vulkan_devices() { return {}; }

std::unique_ptr<Runtime> open_vulkan(int /*index*/, const VulkanOptions& /*options*/) {
  throw DeviceError("vulkan: built without Vulkan headers; install libvulkan-dev and build again");
}

}  // namespace sinter::kernel

#endif
