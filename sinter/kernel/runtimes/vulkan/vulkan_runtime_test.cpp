// SPDX-License-Identifier: MIT OR Apache-2.0
// A Vulkan device as a runtime: memory, order, errors, threads.
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/kernel/compile_error.hpp"
#include "sinter/kernel/runtimes/vulkan/vulkan_test.hpp"
#if __has_include(<vulkan/vulkan_core.h>)
#include "sinter/kernel/runtimes/vulkan/detail/runtime.hpp"
#endif

#if defined(__SANITIZE_THREAD__)
// A driver may synchronise in ways that the thread sanitizer can't see.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libvulkan_lvp.so\ncalled_from_lib:libvulkan.so\n";
}
#endif

namespace sinter::kernel {
namespace {

using namespace dsl;

class Vulkan : public VulkanTest {};

// ---- buffers ----

TEST_F(Vulkan, a_part_of_a_tensor_at_any_element) {
  const ir::Kernel kernel = record("part", {.cube = {1}}, [] {
    const Buffer<std::int8_t> x("x"), y("y");
    for (const Index i : range(x.length())) {
      y[i] = x[i].value() * std::int8_t(2);
    }
  });
  std::vector<std::int8_t> x(100), y(100, 1);
  std::iota(x.begin(), x.end(), std::int8_t{0});
  const Ref<Program> program = runtime().load(kernel);
  OnDevice dx(runtime(), x), dy(runtime(), y);
  const Binding bindings[] = {{dx.memory(), 13, 5}, {dy.memory(), 71, 5}};
  runtime().launch(*program, {.cubes = {}, .buffers = bindings, .scalars = {}});
  dy.read();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(y[static_cast<std::size_t>(i)], i >= 71 && i < 76 ? 2 * (i - 71 + 13) : 1) << i;
  }
}

TEST_F(Vulkan, writes_and_launches_keep_their_order) {
  const Ref<Program> program = runtime().load(scale_kernel());
  std::vector<float> x(1000, 1);
  OnDevice dx(runtime(), x);
  const Binding binding = dx.binding();
  float expected = 1;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t factor[] = {bits(i % 2 == 0 ? 2.0f : 0.75f)};
    runtime().launch(*program, {.cubes = {16, 1, 1}, .buffers = {&binding, 1}, .scalars = factor});
    expected *= i % 2 == 0 ? 2.0f : 0.75f;
    if (i % 10 == 5) {
      // Over work that is still going on.
      x.assign(x.size(), static_cast<float>(i));
      runtime().write(dx.memory(), 0, std::as_bytes(std::span(x)));
      expected = static_cast<float>(i);
    }
  }
  dx.read();
  EXPECT_EQ(x, std::vector<float>(1000, expected));
}

TEST_F(Vulkan, empty_launches_and_empty_buffers) {
  const Ref<Program> program = runtime().load(scale_kernel());
  const Binding nothing{nullptr, 0, 0};
  const std::uint64_t factor[] = {bits(2)};
  runtime().launch(*program, {.cubes = {1, 1, 1}, .buffers = {&nothing, 1}, .scalars = factor});
  runtime().launch(*program, {.cubes = {0, 1, 1}, .buffers = {&nothing, 1}, .scalars = factor});
  runtime().sync();
}

TEST_F(Vulkan, memory_is_flat_over_many_launches) {
  const Ref<Program> program = runtime().load(scale_kernel());
  std::vector<float> x(5000, 1);
  const std::uint64_t factor[] = {bits(1)};
  std::size_t held = 0;
  for (int i = 0; i < 1000; ++i) {
    OnDevice dx(runtime(), x);
    const Binding binding = dx.binding();
    runtime().launch(*program, {.cubes = {79, 1, 1}, .buffers = {&binding, 1}, .scalars = factor});
    if (i == 200) {
      held = runtime().memory().in_use + runtime().memory().cached;
    }
  }
  runtime().sync();
  EXPECT_LE(runtime().memory().in_use + runtime().memory().cached, held + (8u << 20));
  runtime().trim();
  EXPECT_LT(runtime().memory().cached, 16u << 20);
}

TEST_F(Vulkan, out_of_memory_is_recoverable) {
  const std::size_t before = runtime().memory().in_use;
  EXPECT_THROW((void)runtime().allocate(std::size_t{1} << 46), OutOfMemoryError);
  std::vector<void*> blocks;
  const std::size_t size = 512 << 20;
  const std::string text = message_of([&] {
    for (int i = 0; i < 4096; ++i) {
      blocks.push_back(runtime().allocate(size));
    }
  });
  EXPECT_NE(text.find("free tensors, or make batches smaller"), std::string::npos) << text;
  for (void* block : blocks) {
    runtime().free(block, size);
  }
  // What is cached is given back for what is needed.
  void* const large = runtime().allocate(size + (200 << 20));
  runtime().free(large, size + (200 << 20));
  EXPECT_EQ(runtime().memory().in_use, before);
  runtime().trim();
  std::vector<float> x(64, 3);
  run(runtime(), scale_kernel(), {}, {bits(2)}, x);
  EXPECT_EQ(x[63], 6);
}

// ---- errors ----

TEST_F(Vulkan, errors_name_the_kernel_and_the_way_out) {
  const ir::Kernel kernel = scale_kernel();
  const Ref<Program> program = runtime().load(kernel);
  void* const memory = runtime().allocate(1024);
  const std::uint64_t factor[] = {bits(2)};
  const auto launch = [&](Binding binding) {
    return message_of([&] {
      runtime().launch(*program, {.cubes = {}, .buffers = {&binding, 1}, .scalars = factor});
    });
  };
  EXPECT_NE(launch({memory, 0, 4096}).find("kernel scale, buffer x: expected elements of 4 bytes"),
            std::string::npos);
  EXPECT_NE(launch({nullptr, 0, 1}).find("got a null pointer"), std::string::npos);
  EXPECT_NE(message_of([&] { runtime().launch(*program, {}); }).find("expected 1 buffers and 1"),
            std::string::npos);
  runtime().free(memory, 1024);
  const ir::Kernel large = record("large", {}, [] {
    const Shared<float> s("s", 1 << 20);
    s[Index(0u)] = 0.0f;
  });
  const std::string text = message_of([&] { (void)runtime().load(large); });
  EXPECT_NE(text.find("kernel large: "), std::string::npos) << text;
  EXPECT_NE(text.find("bytes of shared memory, got 4194304"), std::string::npos) << text;
  const std::string missing = message_of([] { (void)open_vulkan(1000); });
  EXPECT_NE(missing.find("expected a device from 0 to"), std::string::npos) << missing;
}

TEST_F(Vulkan, a_buffer_beyond_the_range_of_a_descriptor) {
  const std::size_t count = (160u << 20) / 4;
  const Ref<Program> program = runtime().load(scale_kernel());
  void* const memory = runtime().allocate(4 * count);
  const Binding binding{memory, 0, count};
  const std::uint64_t factor[] = {bits(2)};
  const std::string text = message_of([&] {
    runtime().launch(*program, {.cubes = {}, .buffers = {&binding, 1}, .scalars = factor});
  });
  runtime().free(memory, 4 * count);
  runtime().trim();
  // A device without that limit runs it.
  EXPECT_TRUE(text == "no error" || text.find("split the tensor") != std::string::npos) << text;
}

TEST_F(Vulkan, profiles_on_the_device) {
  (void)runtime().profile();
  std::vector<float> x(100000, 1);
  run(runtime(), scale_kernel(), {1563, 1, 1}, {bits(2)}, x);
  const std::vector<Timing> timings = runtime().profile();
  ASSERT_EQ(timings.size(), 1u);
  EXPECT_EQ(timings[0].kernel, "scale");
  EXPECT_GT(timings[0].seconds, 0);
  EXPECT_LT(timings[0].seconds, 10);
  EXPECT_TRUE(runtime().profile().empty());
}

TEST_F(Vulkan, keeps_compiled_kernels_on_disk) {
  const std::string folder =
      os::join_path(os::temporary_directory(), fmt::format("sinter-vulkan-{}", os::process_id()));
  for (int i = 0; i < 2; ++i) {
    const auto other = open_vulkan(0, {.cache = folder, .messages = nullptr});
    std::vector<float> x(64, 3);
    run(*other, scale_kernel(), {}, {bits(2)}, x);
    EXPECT_EQ(x[0], 6);
    // A program may outlive the runtime.
    const Ref<Program> program = other->load(scale_kernel());
    EXPECT_EQ(program->name(), "scale");
  }
  EXPECT_FALSE(os::list_directory(folder).empty());
  os::remove_tree(folder);
}

#if __has_include(<vulkan/vulkan_core.h>)

TEST_F(Vulkan, memory_that_the_host_does_not_see) {
  auto far = std::make_unique<vulkan::VulkanRuntime>(
      0, VulkanOptions{.cache = "", .messages = &TestDevice::get().messages});
  far->device().memory.mapped = false;
  for (int i = 0; i < 20; ++i) {
    std::vector<float> x(30000, static_cast<float>(i));
    run(*far, scale_kernel(), {469, 1, 1}, {bits(3)}, x);
    EXPECT_EQ(x, std::vector<float>(30000, static_cast<float>(3 * i)));
  }
}

TEST_F(Vulkan, a_lost_device_says_so_from_then_on) {
  auto lost = std::make_unique<vulkan::VulkanRuntime>(0, VulkanOptions{});
  std::vector<float> x(64, 1);
  run(*lost, scale_kernel(), {}, {bits(2)}, x);
  lost->device().vk.vkQueueSubmit = [](VkQueue, std::uint32_t, const VkSubmitInfo*, VkFence) {
    return VK_ERROR_DEVICE_LOST;
  };
  const auto again = [&] { run(*lost, scale_kernel(), {}, {bits(2)}, x); };
  for (int i = 0; i < 3; ++i) {
    const std::string text = message_of(again);
    EXPECT_NE(text.find("was lost"), std::string::npos) << text;
    EXPECT_NE(text.find("start the program again"), std::string::npos) << text;
  }
}

TEST_F(Vulkan, a_driver_that_is_out_of_memory_once) {
  auto other = std::make_unique<vulkan::VulkanRuntime>(0, VulkanOptions{});
  std::vector<float> x(64, 1);
  const auto submit = other->device().vk.vkQueueSubmit;
  other->device().vk.vkQueueSubmit = [](VkQueue, std::uint32_t, const VkSubmitInfo*, VkFence) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  };
  EXPECT_THROW(run(*other, scale_kernel(), {}, {bits(2)}, x), OutOfMemoryError);
  other->device().vk.vkQueueSubmit = submit;
  run(*other, scale_kernel(), {}, {bits(2)}, x);
  EXPECT_EQ(x, std::vector<float>(64, 2));
}

#endif

// ---- threads ----

TEST_F(Vulkan, TwoThreadsLaunch) {
  const ir::Kernel kernel = scale_kernel();
  std::vector<std::string> problems(2);
  const auto work = [&](std::size_t me) {
    problems[me] = message_of([&] {
      for (int round = 0; round < 50; ++round) {
        std::vector<float> x(777 + 64 * static_cast<std::size_t>(round), 1);
        const float factor = static_cast<float>(me + 2);
        run(runtime(), kernel, {static_cast<std::uint32_t>(x.size() + 63) / 64, 1, 1},
            {bits(factor)}, x);
        if (x != std::vector<float>(x.size(), factor)) {
          throw InternalError("wrong result");
        }
      }
    });
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(problems, (std::vector<std::string>{"no error", "no error"}));
}

}  // namespace
}  // namespace sinter::kernel
