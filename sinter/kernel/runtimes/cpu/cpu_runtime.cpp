// SPDX-License-Identifier: MIT OR Apache-2.0
// Loading compiled kernels, and running their cubes on the thread pool.
#include "sinter/kernel/runtimes/cpu/cpu_runtime.hpp"

#include <cstring>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "sinter/base/config.hpp"
#include "sinter/base/os/cpu.hpp"
#include "sinter/base/os/memory.hpp"
#include "sinter/base/small_vector.hpp"
#include "sinter/base/thread_pool.hpp"
#include "sinter/kernel/compilers/llvm/helpers.hpp"
#include "sinter/kernel/ir/text.hpp"
#include "sinter/kernel/launch/disk_cache.hpp"
#include "sinter/kernel/launch/view.hpp"
#include "sinter/kernel/passes/passes.hpp"
#include "sinter/kernel/runtimes/cpu/plugin_loader.hpp"

namespace sinter::kernel {

namespace {

class CpuProgram final : public Program {
 public:
  CpuProgram(std::string name, const CompiledImage& image)
      : Program(std::move(name)),
        code_(std::as_bytes(std::span(image.code))),
        entry_(code_.at<llvm::Function>(image.entry)),
        scratch_(image.scratch) {}

  void run(const llvm::Call& call, std::uint64_t first, std::uint64_t last) const {
    entry_(&call, first, last, scratch_ == 0 ? nullptr : scratch_memory(scratch_));
  }

 private:
  /// The memory of this thread for what a kernel doesn't keep in registers or on the stack.
  static void* scratch_memory(std::size_t bytes) {
    thread_local struct Scratch {
      void* block = nullptr;
      std::size_t bytes = 0;
      ~Scratch() { release(); }
      void release() {
        if (block != nullptr) {
          MemoryPool::host().free(block, bytes);
        }
        block = nullptr;
      }
    } scratch;
    if (scratch.bytes < bytes || scratch.block == nullptr) {
      scratch.release();
      scratch.block = MemoryPool::host().allocate(bytes);
      scratch.bytes = bytes;
    }
    return scratch.block;
  }

  os::ExecutableMemory code_;
  llvm::Function* entry_;
  std::size_t scratch_;
};

class CpuRuntime final : public Runtime {
 public:
  explicit CpuRuntime(const CpuOptions& options) : plugin_(options.plugin), cache_(options.cache) {
    const os::CpuFeatures& has = os::cpu_features();
    properties_ = {.device = os::cpu_name(),
                   .lanes = has.avx512f ? 16u
                            : has.avx2  ? 8u
                                        : 4u,
                   .units = 1,
                   .most_units = 1024,
                   .plane = 1,
                   .shared_bytes = 1 << 20,
                   .cubes = static_cast<std::uint32_t>(os::usable_cpus()),
                   .host_memory = true};
  }

  std::string name() const override { return "cpu"; }
  const Properties& properties() const override { return properties_; }

  Ref<Program> load(const ir::Kernel& kernel) override { return load(kernel, true); }
  Ref<Program> load_kept(const ir::Kernel& kernel) override { return load(kernel, false); }

  void open_compiler() override { plugin_.open(); }

  void launch(const Program& program, const LaunchArgs& args) override {
    SmallVector<void*, 16> buffers;
    SmallVector<std::uint64_t, 16> lengths;
    for (const Binding& binding : args.buffers) {
      buffers.push_back(static_cast<std::byte*>(binding.memory) + binding.offset);
      lengths.push_back(binding.length);
    }
    const llvm::Call call{buffers.data(),
                          lengths.data(),
                          args.scalars.data(),
                          llvm::helper_table(),
                          {args.cubes.x, args.cubes.y, args.cubes.z}};
    const std::uint64_t cubes = std::uint64_t{args.cubes.x} * args.cubes.y * args.cubes.z;
    const auto& compiled = static_cast<const CpuProgram&>(program);
    if (cubes == 1) {
      compiled.run(call, 0, 1);
      return;
    }
    parallel_for(static_cast<std::int64_t>(cubes), 1, [&](std::int64_t first, std::int64_t last) {
      compiled.run(call, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last));
    });
  }

  void* allocate(std::size_t bytes) override { return MemoryPool::host().allocate(bytes); }
  void free(void* memory, std::size_t bytes) noexcept override {
    MemoryPool::host().free(memory, bytes);
  }
  void write(void* memory, std::size_t offset, std::span<const std::byte> from) override {
    std::memcpy(static_cast<std::byte*>(memory) + offset, from.data(), from.size());
  }
  void read(const void* memory, std::size_t offset, std::span<std::byte> to) override {
    std::memcpy(to.data(), static_cast<const std::byte*>(memory) + offset, to.size());
  }
  void sync() override {}
  MemoryStats memory() const override { return MemoryPool::host().stats(); }
  void trim() override { MemoryPool::host().trim(); }

 private:
  Ref<Program> load(const ir::Kernel& kernel, bool compile) {
    ir::Kernel lowered = kernel;
    ir::run_passes(lowered, ir::cpu_passes());
    const std::string text = ir::print(lowered);
    const std::string key = fmt::format("{}\n{}", compiler_key(), text);
    {
      const std::lock_guard lock(mutex_);
      const auto found = programs_.find(key);
      if (found != programs_.end()) {
        return found->second;
      }
    }
    std::optional<CompiledImage> image = kept_image(key);
    if (!image && compile) {
      image = compiled_image(kernel, key, text);
    }
    if (!image) {
      return {};
    }
    // Whoever came first stays: programs of one kernel are one.
    Ref<Program> program = make_ref<CpuProgram>(kernel.name, *image);
    const std::lock_guard lock(mutex_);
    return programs_.try_emplace(key, std::move(program)).first->second;
  }

  std::optional<CompiledImage> kept_image(const std::string& key) {
    // What is to be shown must be compiled.
    const auto kept = view_enabled() ? std::nullopt : cache_.find(key);
    return kept ? CompiledImage::parse(*kept) : std::nullopt;
  }

  CompiledImage compiled_image(const ir::Kernel& kernel, const std::string& key,
                               const std::string& text) {
    const bool shown = view_enabled();
    std::string listing;
    const CompiledImage image = plugin_.compile(kernel.name, text, shown ? &listing : nullptr);
    if (shown) {
      view(kernel.name, "ir", ir::print(kernel, {.places = true}));
      view(kernel.name, "cpu.ir", text);
      view(kernel.name, "code", listing);
    }
    cache_.keep(key, image.str());
    return image;
  }

  Properties properties_;
  LlvmPlugin plugin_;
  DiskCache cache_;
  std::mutex mutex_;
  std::unordered_map<std::string, Ref<Program>> programs_;
};

}  // namespace

std::unique_ptr<Runtime> make_cpu_runtime(const CpuOptions& options) {
  return std::make_unique<CpuRuntime>(options);
}

Runtime& cpu_runtime() {
  // Never destroyed: programs of static objects may outlive any order of destruction.
  static Runtime* const shared =
      new CpuRuntime({.plugin = {}, .cache = DiskCache::default_folder()});
  return *shared;
}

bool cpu_can_compile() { return !LlvmPlugin::find(config::text(config::Setting::llvm)).empty(); }

}  // namespace sinter::kernel
