// SPDX-License-Identifier: MIT OR Apache-2.0
// Command buffers, descriptor sets and the timeline of a Vulkan queue.
#if __has_include(<vulkan/vulkan_core.h>)

#include <algorithm>

#include "sinter/base/error.hpp"
#include "sinter/kernel/runtimes/vulkan/detail/stream.hpp"

namespace sinter::kernel::vulkan {

namespace {

constexpr std::uint32_t most_launches = 32;  ///< of a batch
constexpr std::uint32_t eager_launches = 4;  ///< when the device has nothing to do
constexpr std::size_t most_running = 16;     ///< batches that the host may be ahead
constexpr std::uint64_t most_staged = 64 << 20;
constexpr std::uint32_t sets_of_pool = 64;
constexpr std::uint32_t descriptors_of_pool = 512;

}  // namespace

Stream::Stream(Device& device, Pool& staging) : device_(device), staging_(staging) {
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  device_.check(device_.vk.vkCreateSemaphore(device_.handle, &info, nullptr, &timeline_),
                "a semaphore");
}

Stream::~Stream() {
  if (!device_.lost) {
    (void)device_.vk.vkDeviceWaitIdle(device_.handle);
  }
  for (auto& batch : running_) {
    destroy(*batch);
  }
  for (auto& batch : idle_) {
    destroy(*batch);
  }
  if (open_) {
    destroy(*open_);
  }
  device_.vk.vkDestroySemaphore(device_.handle, timeline_, nullptr);
}

// ---- batches ----

Stream::Batch& Stream::batch() {
  device_.require_alive();
  if (!open_) {
    (void)finished();
    if (running_.size() >= most_running) {
      wait(running_.front()->number);
      (void)finished();
    }
    std::unique_ptr<Batch> next;
    if (idle_.empty()) {
      next = make_batch();
    } else {
      next = std::move(idle_.back());
      idle_.pop_back();
    }
    try {
      begin(*next);
    } catch (...) {
      destroy(*next);
      throw;
    }
    open_ = std::move(next);
  }
  return *open_;
}

std::unique_ptr<Stream::Batch> Stream::make_batch() {
  auto batch = std::make_unique<Batch>();
  try {
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
    pool.queueFamilyIndex = device_.family;
    device_.check(device_.vk.vkCreateCommandPool(device_.handle, &pool, nullptr, &batch->pool),
                  "a command pool");
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = batch->pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    device_.check(device_.vk.vkAllocateCommandBuffers(device_.handle, &info, &batch->commands),
                  "a command buffer");
    batch->sets.push_back(make_set_pool(descriptors_of_pool));
  } catch (...) {
    destroy(*batch);
    throw;
  }
  return batch;
}

void Stream::begin(Batch& batch) {
  device_.check(device_.vk.vkResetCommandPool(device_.handle, batch.pool, 0), "a command pool");
  for (const VkDescriptorPool pool : batch.sets) {
    device_.check(device_.vk.vkResetDescriptorPool(device_.handle, pool, 0), "a descriptor pool");
  }
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  device_.check(device_.vk.vkBeginCommandBuffer(batch.commands, &info), "a command buffer");
  batch.number = submitted_ + 1;
  batch.launches = 0;
  batch.staged_bytes = 0;
  if (profiles_) {
    make_queries(batch);
    device_.vk.vkCmdResetQueryPool(batch.commands, batch.queries, 0, 2 * most_launches);
  }
}

void Stream::make_queries(Batch& batch) {
  if (batch.queries != VK_NULL_HANDLE) {
    return;
  }
  VkQueryPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = 2 * most_launches;
  device_.check(device_.vk.vkCreateQueryPool(device_.handle, &info, nullptr, &batch.queries),
                "timestamps");
}

void Stream::destroy(Batch& batch) noexcept {
  for (Block* block : batch.staged) {
    staging_.give(block);
  }
  batch.staged.clear();
  for (const VkDescriptorPool pool : batch.sets) {
    device_.vk.vkDestroyDescriptorPool(device_.handle, pool, nullptr);
  }
  device_.vk.vkDestroyQueryPool(device_.handle, batch.queries, nullptr);
  device_.vk.vkDestroyCommandPool(device_.handle, batch.pool, nullptr);
}

void Stream::recycle(std::unique_ptr<Batch> batch) {
  collect_times(*batch);
  for (Block* block : batch->staged) {
    staging_.give(block);
  }
  batch->staged.clear();
  batch->programs.clear();
  idle_.push_back(std::move(batch));
}

std::uint64_t Stream::flush() {
  device_.require_alive();
  if (!open_) {
    return submitted_;
  }
  std::unique_ptr<Batch> batch = std::move(open_);
  try {
    submit(*batch);
  } catch (...) {
    destroy(*batch);
    throw;
  }
  submitted_ = batch->number;
  running_.push_back(std::move(batch));
  return submitted_;
}

void Stream::submit(Batch& batch) {
  // The host may read what was written.
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT;
  device_.vk.vkCmdPipelineBarrier(
      batch.commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
      VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  device_.check(device_.vk.vkEndCommandBuffer(batch.commands), "a command buffer");
  VkTimelineSemaphoreSubmitInfo values{};
  values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  values.signalSemaphoreValueCount = 1;
  values.pSignalSemaphoreValues = &batch.number;
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &values;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &batch.commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &timeline_;
  device_.check(device_.vk.vkQueueSubmit(device_.queue, 1, &info, VK_NULL_HANDLE),
                "starting kernels");
}

void Stream::wait(std::uint64_t number) {
  if (number == 0) {
    return;
  }
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &number;
  device_.check(device_.vk.vkWaitSemaphores(device_.handle, &info, ~std::uint64_t{0}),
                "waiting for kernels");
}

std::uint64_t Stream::finished() {
  if (finished_ < submitted_) {
    device_.check(device_.vk.vkGetSemaphoreCounterValue(device_.handle, timeline_, &finished_),
                  "the state of kernels");
    while (!running_.empty() && running_.front()->number <= finished_) {
      std::unique_ptr<Batch> done = std::move(running_.front());
      running_.pop_front();
      recycle(std::move(done));
    }
  }
  return finished_;
}

// ---- commands ----

/// Work is in order: a command sees what those before it wrote, and writes after they have read.
void Stream::after_all_before(Batch& batch) {
  constexpr VkPipelineStageFlags stages =
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                          VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  device_.vk.vkCmdPipelineBarrier(batch.commands, stages, stages, 0, 1, &barrier, 0, nullptr, 0,
                                  nullptr);
}

VkDescriptorPool Stream::make_set_pool(std::uint32_t descriptors) {
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptors};
  VkDescriptorPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  info.maxSets = sets_of_pool;
  info.poolSizeCount = 1;
  info.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  device_.check(device_.vk.vkCreateDescriptorPool(device_.handle, &info, nullptr, &pool),
                "a descriptor pool");
  return pool;
}

VkDescriptorSet Stream::make_set(Batch& batch, const VulkanProgram& program) {
  const VkDescriptorSetLayout layout = program.set_layout();
  VkDescriptorSetAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  // Full pools come first.
  for (std::size_t i = batch.sets.size(); i-- > 0;) {
    info.descriptorPool = batch.sets[i];
    if (device_.vk.vkAllocateDescriptorSets(device_.handle, &info, &set) == VK_SUCCESS) {
      return set;
    }
  }
  batch.sets.push_back(make_set_pool(std::max(descriptors_of_pool, program.bindings())));
  info.descriptorPool = batch.sets.back();
  device_.check(device_.vk.vkAllocateDescriptorSets(device_.handle, &info, &set),
                "a descriptor set");
  return set;
}

VkDescriptorSet Stream::bound_set(Batch& batch, const VulkanProgram& program,
                                  std::span<const Range> ranges) {
  const VkDescriptorSet set = make_set(batch, program);
  std::vector<VkDescriptorBufferInfo> buffers(ranges.size());
  std::vector<VkWriteDescriptorSet> writes(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    buffers[i] = {range.block->chunk->buffer, range.block->offset + range.offset, range.bytes};
    writes[i] = {};
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = set;
    writes[i].dstBinding = static_cast<std::uint32_t>(i);
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[i].pBufferInfo = &buffers[i];
    used(*range.block, batch);
  }
  device_.vk.vkUpdateDescriptorSets(device_.handle, static_cast<std::uint32_t>(writes.size()),
                                    writes.data(), 0, nullptr);
  return set;
}

void Stream::launch(const VulkanProgram& program, const ir::Extent& cubes,
                    std::span<const Range> ranges, std::span<const std::uint32_t> words) {
  Batch& batch = this->batch();
  batch.programs.emplace_back(&program);
  const VkCommandBuffer commands = batch.commands;
  const Api& vk = device_.vk;
  if (!ranges.empty()) {
    const VkDescriptorSet set = bound_set(batch, program, ranges);
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program.layout(), 0, 1,
                               &set, 0, nullptr);
  }
  vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program.pipeline());
  if (!words.empty()) {
    vk.vkCmdPushConstants(commands, program.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          static_cast<std::uint32_t>(4 * words.size()), words.data());
  }
  after_all_before(batch);
  const bool timed = profiles_ && batch.queries != VK_NULL_HANDLE;
  if (timed) {
    vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, batch.queries,
                           2 * batch.launches);
  }
  dispatch(batch, cubes);
  if (timed) {
    vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, batch.queries,
                           2 * batch.launches + 1);
    batch.timed.push_back(program.name());
  }
  ++batch.launches;
  const std::uint32_t most = running_.empty() ? eager_launches : most_launches;
  if (batch.launches >= most || batch.staged_bytes > most_staged) {
    flush();
  }
}

/// More cubes than the device takes at a time are started in parts.
void Stream::dispatch(Batch& batch, const ir::Extent& cubes) {
  const std::uint32_t* most = device_.limits.maxComputeWorkGroupCount;
  for (std::uint32_t z = 0; z < cubes.z; z += std::min(most[2], cubes.z - z)) {
    for (std::uint32_t y = 0; y < cubes.y; y += std::min(most[1], cubes.y - y)) {
      for (std::uint32_t x = 0; x < cubes.x; x += std::min(most[0], cubes.x - x)) {
        device_.vk.vkCmdDispatchBase(batch.commands, x, y, z, std::min(most[0], cubes.x - x),
                                     std::min(most[1], cubes.y - y),
                                     std::min(most[2], cubes.z - z));
      }
    }
  }
}

void Stream::copy(const Range& from, const Range& to) {
  Batch& batch = this->batch();
  after_all_before(batch);
  const VkBufferCopy region{from.block->offset + from.offset, to.block->offset + to.offset,
                            from.bytes};
  device_.vk.vkCmdCopyBuffer(batch.commands, from.block->chunk->buffer, to.block->chunk->buffer, 1,
                             &region);
  used(*from.block, batch);
  used(*to.block, batch);
  if (batch.staged_bytes > most_staged) {
    flush();
  }
}

Block* Stream::stage(std::uint64_t bytes) {
  Batch& batch = this->batch();
  batch.staged.reserve(batch.staged.size() + 1);
  Block* block = staging_.find(bytes);
  if (block == nullptr) {
    block = staging_.make(bytes);
  }
  batch.staged.push_back(block);
  batch.staged_bytes += block->size;
  return block;
}

// ---- times ----

void Stream::collect_times(Batch& batch) {
  if (batch.timed.empty()) {
    return;
  }
  std::vector<std::uint64_t> ticks(2 * batch.timed.size());
  const VkResult result = device_.vk.vkGetQueryPoolResults(
      device_.handle, batch.queries, 0, static_cast<std::uint32_t>(ticks.size()), 8 * ticks.size(),
      ticks.data(), 8, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
  const std::uint64_t mask = device_.timestamp_bits >= 64
                                 ? ~std::uint64_t{0}
                                 : (std::uint64_t{1} << device_.timestamp_bits) - 1;
  for (std::size_t i = 0; result == VK_SUCCESS && i < batch.timed.size(); ++i) {
    const std::uint64_t spent = (ticks[2 * i + 1] - ticks[2 * i]) & mask;
    timings_.push_back(
        {batch.timed[i], 1e-9 * device_.limits.timestampPeriod * static_cast<double>(spent)});
  }
  batch.timed.clear();
}

std::vector<Timing> Stream::profile() {
  wait(flush());
  (void)finished();
  profiles_ = device_.timestamp_bits != 0;
  return std::exchange(timings_, {});
}

}  // namespace sinter::kernel::vulkan

#endif
