// SPDX-License-Identifier: MIT OR Apache-2.0
// The runtime of one Vulkan device: what kernel::Runtime promises, under one lock.
#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>

#include "sinter/kernel/launch/disk_cache.hpp"
#include "sinter/kernel/runtimes/vulkan/detail/stream.hpp"
#include "sinter/kernel/runtimes/vulkan/vulkan_runtime.hpp"

namespace sinter::kernel::vulkan {

class VulkanRuntime final : public Runtime {
 public:
  VulkanRuntime(int index, const VulkanOptions& options);
  ~VulkanRuntime() override;

  [[nodiscard]] std::string name() const override { return "vulkan"; }
  [[nodiscard]] const Properties& properties() const override { return device_->properties; }
  Ref<Program> load(const ir::Kernel& kernel) override;
  Ref<Program> load_kept(const ir::Kernel& kernel) override;
  void launch(const Program& program, const LaunchArgs& args) override;
  void* allocate(std::size_t bytes) override;
  void free(void* memory, std::size_t bytes) noexcept override;
  void write(void* memory, std::size_t offset, std::span<const std::byte> from) override;
  void read(const void* memory, std::size_t offset, std::span<std::byte> to) override;
  void sync() override;
  [[nodiscard]] MemoryStats memory() const override;
  void trim() override;
  std::vector<Timing> profile() override;

  /// For tests: features to be taken away, and functions to be replaced by ones that fail.
  [[nodiscard]] Device& device() { return *device_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  void open_cache();
  void keep_cache() noexcept;
  Ref<Program> find(const std::string& key);
  Ref<Program> compile(const ir::Kernel& kernel);
  bool fuses(bool wide);
  Block* take(std::size_t bytes);
  void trim_all();
  Range range_of(const VulkanProgram& program, std::size_t which, const Binding& binding,
                 std::vector<std::uint32_t>& words);
  void fill_words(const VulkanProgram& program, const LaunchArgs& args,
                  std::vector<std::uint32_t>& words) const;

  std::shared_ptr<Device> device_;
  DiskCache disk_;
  VkPipelineCache pipelines_ = VK_NULL_HANDLE;
  mutable std::mutex mutex_;
  Pool memory_;
  Pool staging_;
  std::optional<Stream> stream_;
  Block* nothing_ = nullptr;  ///< what a buffer without elements is bound to
  std::size_t in_use_ = 0, peak_ = 0, allocations_ = 0;

  std::mutex programs_mutex_;
  std::unordered_map<std::string, Ref<Program>> programs_;
  std::once_flag fma_known_;
  bool exact_fma_ = false, exact_f64_fma_ = false;
};

}  // namespace sinter::kernel::vulkan
