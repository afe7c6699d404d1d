// SPDX-License-Identifier: MIT OR Apache-2.0
// Work in the order in which it is asked for: recorded in batches, submitted, waited for.
#pragma once

#include <deque>

#include "sinter/kernel/runtimes/vulkan/detail/pool.hpp"
#include "sinter/kernel/runtimes/vulkan/detail/program.hpp"

namespace sinter::kernel::vulkan {

/// A part of a block, as a descriptor names it.
struct Range {
  Block* block = nullptr;
  std::uint64_t offset = 0;  ///< from the block's start
  std::uint64_t bytes = 0;
};

/// Not safe to use from two threads at a time, except wait().
class Stream {
 public:
  Stream(Device& device, Pool& staging);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  /// Waits for all work.
  ~Stream();

  void launch(const VulkanProgram& program, const ir::Extent& cubes, std::span<const Range> ranges,
              std::span<const std::uint32_t> words);
  void copy(const Range& from, const Range& to);
  /// A block of the host's that goes back to its pool when the batch at hand is done.
  Block* stage(std::uint64_t bytes);

  /// Submits what is recorded; the number of the last submission.
  std::uint64_t flush();
  /// Waits for that submission.
  void wait(std::uint64_t number);
  /// The last submission that is known to be done; takes back what those before it used.
  std::uint64_t finished();

  /// Launches are timed from the first call on. Waits.
  std::vector<Timing> profile();

 private:
  struct Batch {
    std::uint64_t number = 0;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    std::vector<VkDescriptorPool> sets;
    std::vector<Block*> staged;
    std::uint64_t staged_bytes = 0;
    std::vector<Ref<const VulkanProgram>> programs;
    VkQueryPool queries = VK_NULL_HANDLE;
    std::vector<std::string> timed;
    std::uint32_t launches = 0;
  };

  Batch& batch();
  std::unique_ptr<Batch> make_batch();
  void begin(Batch& batch);
  void submit(Batch& batch);
  void make_queries(Batch& batch);
  void destroy(Batch& batch) noexcept;
  void recycle(std::unique_ptr<Batch> batch);
  void collect_times(Batch& batch);
  VkDescriptorPool make_set_pool(std::uint32_t descriptors);
  VkDescriptorSet make_set(Batch& batch, const VulkanProgram& program);
  VkDescriptorSet bound_set(Batch& batch, const VulkanProgram& program,
                            std::span<const Range> ranges);
  void dispatch(Batch& batch, const ir::Extent& cubes);
  void after_all_before(Batch& batch);
  void used(Block& block, const Batch& batch) { block.last_work = batch.number; }

  Device& device_;
  Pool& staging_;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  std::uint64_t submitted_ = 0;
  std::uint64_t finished_ = 0;
  std::unique_ptr<Batch> open_;
  std::deque<std::unique_ptr<Batch>> running_;
  std::vector<std::unique_ptr<Batch>> idle_;
  bool profiles_ = false;
  std::vector<Timing> timings_;
};

}  // namespace sinter::kernel::vulkan
