// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory of a Vulkan device.
#if __has_include(<vulkan/vulkan_core.h>)

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/kernel/runtimes/vulkan/detail/pool.hpp"

namespace sinter::kernel::vulkan {

namespace {

constexpr std::uint64_t least_block =
    256;  ///< also the largest alignment that a device may ask for
constexpr std::uint64_t small_block = 512 << 10;
constexpr std::uint64_t chunk_of_small = 4 << 20;

}  // namespace

/// Eight classes between powers of two: at most 12.5 % are lost.
std::uint64_t Pool::class_of(std::uint64_t bytes) {
  if (bytes <= least_block) {
    return least_block;
  }
  const std::uint64_t step = std::max(std::bit_floor(bytes - 1) / 8, least_block);
  return (bytes + step - 1) / step * step;
}

Pool::~Pool() {
  for (const auto& [size, of_size] : classes_) {
    for (const Block* block : of_size.free) {
      delete block;
    }
  }
  for (const auto& chunk : chunks_) {
    destroy(*chunk);
  }
}

Block* Pool::find(std::uint64_t bytes, std::uint64_t finished) {
  const auto found = classes_.find(class_of(bytes));
  if (found == classes_.end()) {
    return nullptr;
  }
  std::vector<Block*>& blocks = found->second.free;
  for (std::size_t i = blocks.size(); i-- > 0;) {
    if (blocks[i]->last_work <= finished) {
      Block* const block = blocks[i];
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i));
      ++block->chunk->used;
      return block;
    }
  }
  return nullptr;
}

Block* Pool::make(std::uint64_t bytes) {
  const std::uint64_t size = class_of(bytes);
  const std::uint64_t count = size > small_block ? 1 : chunk_of_small / size;
  Class& of_size = classes_[size];
  std::vector<Block*>& blocks = of_size.free;
  blocks.reserve(of_size.blocks + count);
  chunks_.push_back(make_chunk(size * count));
  Chunk* const chunk = chunks_.back().get();
  for (std::uint64_t i = count; i-- > 0;) {
    blocks.push_back(new Block{.chunk = chunk, .offset = i * size, .size = size, .last_work = 0});
  }
  of_size.blocks += count;
  Block* const block = blocks.back();
  blocks.pop_back();
  ++chunk->used;
  return block;
}

void Pool::give(Block* block) noexcept {
  --block->chunk->used;
  classes_.find(block->size)->second.free.push_back(block);
}

void Pool::trim() noexcept {
  for (auto& [size, of_size] : classes_) {
    of_size.blocks -= std::erase_if(of_size.free, [](const Block* block) {
      const bool goes = block->chunk->used == 0;
      if (goes) {
        delete block;
      }
      return goes;
    });
  }
  std::erase_if(chunks_, [this](const std::unique_ptr<Chunk>& chunk) {
    const bool goes = chunk->used == 0;
    if (goes) {
      destroy(*chunk);
    }
    return goes;
  });
}

std::unique_ptr<Chunk> Pool::make_chunk(std::uint64_t bytes) {
  if (bytes > device_.largest_allocation || bytes > kind_.heap || held_ > kind_.heap - bytes) {
    throw OutOfMemoryError(fmt::format(
        "vulkan: {} has no {} bytes: {} of {} are held, one allocation may have {}; free tensors, "
        "or make batches smaller",
        device_.properties.device, bytes, held_, kind_.heap, device_.largest_allocation));
  }
  auto chunk = std::make_unique<Chunk>();
  chunk->size = bytes;
  try {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const auto& vk = device_.vk;
    device_.check(vk.vkCreateBuffer(device_.handle, &info, nullptr, &chunk->buffer), "a buffer");
    VkMemoryRequirements needs;
    vk.vkGetBufferMemoryRequirements(device_.handle, chunk->buffer, &needs);
    VkMemoryAllocateInfo wanted{};
    wanted.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    wanted.allocationSize = needs.size;
    wanted.memoryTypeIndex = kind_.type;
    device_.check(vk.vkAllocateMemory(device_.handle, &wanted, nullptr, &chunk->memory), "memory");
    device_.check(vk.vkBindBufferMemory(device_.handle, chunk->buffer, chunk->memory, 0),
                  "memory of a buffer");
    if (kind_.mapped) {
      void* mapped = nullptr;
      device_.check(vk.vkMapMemory(device_.handle, chunk->memory, 0, VK_WHOLE_SIZE, 0, &mapped),
                    "memory of the host");
      chunk->mapped = static_cast<std::byte*>(mapped);
    }
  } catch (...) {
    held_ += bytes;
    destroy(*chunk);
    throw;
  }
  held_ += bytes;
  return chunk;
}

void Pool::destroy(Chunk& chunk) noexcept {
  device_.vk.vkDestroyBuffer(device_.handle, chunk.buffer, nullptr);
  device_.vk.vkFreeMemory(device_.handle, chunk.memory, nullptr);
  held_ -= chunk.size;
}

}  // namespace sinter::kernel::vulkan

#endif
