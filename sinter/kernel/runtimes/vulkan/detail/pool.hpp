// SPDX-License-Identifier: MIT OR Apache-2.0
// Device memory in size classes, kept until trimmed.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sinter/kernel/runtimes/vulkan/detail/device.hpp"

namespace sinter::kernel::vulkan {

/// A buffer with memory of its own; blocks are parts of it.
struct Chunk {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  std::byte* mapped = nullptr;
  std::uint64_t size = 0;
  std::uint32_t used = 0;  ///< blocks that somebody has
};

/// What allocate() gives.
struct Block {
  Chunk* chunk = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;       ///< of its class
  std::uint64_t last_work = 0;  ///< number of the submission that used it last

  [[nodiscard]] std::byte* mapped() const {
    return chunk->mapped == nullptr ? nullptr : chunk->mapped + offset;
  }
};

/// Blocks of one kind of memory. Work runs in order, so that a block may be taken again while its
/// former use is still going on; only the host must look at `last_work`.
class Pool {
 public:
  Pool(Device& device, const Device::MemoryKind& kind) : device_(device), kind_(kind) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  /// A free block of the class, or null if new memory is needed. With `finished`, one whose work is
  /// known to be done up to that number.
  Block* find(std::uint64_t bytes, std::uint64_t finished = ~std::uint64_t{0});
  /// New memory. Throws OutOfMemoryError if there is none.
  Block* make(std::uint64_t bytes);
  void give(Block* block) noexcept;
  /// Gives unused chunks back to the device, whose work must be done.
  void trim() noexcept;

  [[nodiscard]] std::uint64_t held() const { return held_; }
  [[nodiscard]] static std::uint64_t class_of(std::uint64_t bytes);

 private:
  std::unique_ptr<Chunk> make_chunk(std::uint64_t bytes);
  void destroy(Chunk& chunk) noexcept;

  Device& device_;
  const Device::MemoryKind& kind_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  struct Class {
    std::vector<Block*> free;  ///< has room for all of the class
    std::size_t blocks = 0;
  };
  std::map<std::uint64_t, Class> classes_;  ///< by size
  std::uint64_t held_ = 0;
};

}  // namespace sinter::kernel::vulkan
