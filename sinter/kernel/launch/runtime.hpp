// SPDX-License-Identifier: MIT OR Apache-2.0
// Runtime: one device that kernels run on. kernel/runtimes has one for each kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sinter/base/memory_pool.hpp"
#include "sinter/base/ref.hpp"
#include "sinter/kernel/ir/ir.hpp"

namespace sinter::kernel {

/// What kernels are written for.
struct Properties {
  std::string device;               ///< the model's name
  std::uint32_t lanes = 4;          ///< lanes of f32 that one unit should move at once
  std::uint32_t units = 256;        ///< units that a cube should have; 1 where a cube is a loop
  std::uint32_t most_units = 1024;  ///< units that a cube may have
  std::uint32_t plane = 1;          ///< units of a plane
  std::uint32_t shared_bytes = 0;   ///< shared memory of a cube
  std::uint32_t cubes = 1;          ///< cubes that run at the same time
  bool has_f64 = true;
  bool has_i64 = true;
  bool has_f16 = true;       ///< f16 in memory; computed as f32 everywhere
  bool has_i8 = true;        ///< elements of one and two bytes in memory
  bool host_memory = false;  ///< memory is the host's: kernels take plain pointers
};

/// A part of a device's memory, as a kernel sees it: `length` elements from byte `offset` on.
struct Binding {
  void* memory = nullptr;  ///< what allocate() gave; any host pointer where memory is the host's
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// What a kernel is started with: buffers and scalars in the order of their declaration, scalars as
/// ir::constant_bits gives them.
struct LaunchArgs {
  ir::Extent cubes;
  std::span<const Binding> buffers;
  std::span<const std::uint64_t> scalars;
};

/// A kernel ready to run on one runtime. Lives as long as anyone holds it.
class Program : public RefCounted {
 public:
  explicit Program(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// Device time of one launch.
struct Timing {
  std::string kernel;
  double seconds = 0;
};

/// One device. Work is done in the order in which it is asked for; every function may be called
/// from several threads. Throws DeviceError, CompileError and OutOfMemoryError; the next call
/// works.
class Runtime {
 public:
  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  /// "cpu", "vulkan".
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual const Properties& properties() const = 0;

  /// Optimises and compiles a legal kernel, or finds it in the caches.
  virtual Ref<Program> load(const ir::Kernel& kernel) = 0;
  /// The same if no compiler is needed: the caches have it. Nothing otherwise.
  virtual Ref<Program> load_kept(const ir::Kernel& /*kernel*/) { return {}; }
  /// Makes the compiler ready, if there is one to open.
  virtual void open_compiler() {}
  /// Starts a kernel; returns before it has ended where the device allows.
  virtual void launch(const Program& program, const LaunchArgs& args) = 0;

  /// Uninitialised memory, from a pool that is kept.
  virtual void* allocate(std::size_t bytes) = 0;
  /// The memory may be used again once the work asked for so far is done.
  virtual void free(void* memory, std::size_t bytes) noexcept = 0;
  /// Copies from the host, in order with launches.
  virtual void write(void* memory, std::size_t offset, std::span<const std::byte> from) = 0;
  /// Copies to the host; waits for the work asked for so far.
  virtual void read(const void* memory, std::size_t offset, std::span<std::byte> to) = 0;
  /// Waits for all work.
  virtual void sync() = 0;

  [[nodiscard]] virtual MemoryStats memory() const = 0;
  virtual void trim() = 0;

  /// From now on launches are timed on the device; the timings so far are given and forgotten.
  virtual std::vector<Timing> profile() { return {}; }
};

}  // namespace sinter::kernel
