// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiled kernels on the processor, against the checked interpreter; and their cache.
#include "sinter/kernel/runtimes/cpu/cpu_runtime.hpp"

#include <cmath>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/kernel/dsl/control.hpp"
#include "sinter/kernel/ir/interpret.hpp"
#include "sinter/ops/activation.hpp"

namespace sinter::kernel {
namespace {

using namespace dsl;

class CpuRuntime : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu_can_compile()) {
      GTEST_SKIP() << "[SKIP] the LLVM plug-in isn't there";
    }
  }
  void TearDown() override { os::remove_tree(folder_); }
  std::string folder_ = os::join_path(
      os::temporary_directory(), "sinter_kernels_" + std::to_string(os::process_id()) + "_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
};

constexpr std::uint32_t units = 64;

// Written as for a card: shared memory, barriers, many units.
ir::Kernel block_sums() {
  return record("block_sums", {.cube = {units}}, [] {
    const Buffer<float> x("x", ir::Access::read), y("y", ir::Access::write);
    const Buffer<std::uint32_t> count("count");
    const Shared<float> s("s", units);
    const Index at = absolute_pos();
    s[unit_pos()] = select(at < x.length(), x[min(at, x.length() - 1u)].value(), 0.0f);
    sync_cube();
    for (std::uint32_t half = units / 2; half > 0; half /= 2) {
      KERNEL_IF (unit_pos() < half) {
        s[unit_pos()] = s[unit_pos()].value() + s[unit_pos() + half].value();
      }
      sync_cube();
    }
    KERNEL_IF (unit_pos() == Index(0u)) {
      y[cube_pos()] = tanh(s[Index(0u)].value());
      count.atomic_add(Index(0u), Index(1u));
    }
  });
}

std::vector<float> noise(std::size_t count) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> uniform(-0.2f, 0.2f);
  std::vector<float> values(count);
  for (float& value : values) {
    value = uniform(generator);
  }
  return values;
}

struct Sums {
  std::vector<float> x = noise(1000);
  std::vector<float> y = std::vector<float>(16, NAN);
  std::vector<std::uint32_t> count = {0};

  void on(Runtime& runtime, const Program& program) {
    const Binding buffers[] = {
        {x.data(), 0, x.size()}, {y.data(), 0, y.size()}, {count.data(), 0, 1}};
    runtime.launch(program, {.cubes = {16, 1, 1}, .buffers = buffers, .scalars = {}});
  }
  void checked() {
    const ir::BufferArg buffers[] = {{reinterpret_cast<std::byte*>(x.data()), x.size()},
                                     {reinterpret_cast<std::byte*>(y.data()), y.size()},
                                     {reinterpret_cast<std::byte*>(count.data()), 1}};
    ir::interpret(block_sums(), {.cubes = {16, 1, 1}, .buffers = buffers, .scalars = {}});
  }
};

void expect_like_checked(const Sums& found) {
  Sums expected;
  expected.checked();
  EXPECT_EQ(found.count, expected.count);
  for (std::size_t i = 0; i < expected.y.size(); ++i) {
    EXPECT_NEAR(found.y[i], expected.y[i], 1e-6) << i;
  }
}

TEST_F(CpuRuntime, runs_what_the_interpreter_runs) {
  const auto runtime = make_cpu_runtime({.plugin = {}, .cache = {}});
  Sums run;
  run.on(*runtime, *runtime->load(block_sums()));
  expect_like_checked(run);
}

TEST_F(CpuRuntime, Thread_launches_meet_in_atomics) {
  const auto runtime = make_cpu_runtime({.plugin = {}, .cache = {}});
  std::vector<Sums> runs(4);
  std::vector<std::thread> threads;
  for (Sums& run : runs) {
    threads.emplace_back([&] {
      const Ref<Program> program = runtime->load(block_sums());
      for (int i = 0; i < 20; ++i) {
        run.count = {0};
        run.on(*runtime, *program);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Sums& run : runs) {
    expect_like_checked(run);
  }
}

TEST_F(CpuRuntime, a_kernel_kept_on_disk_needs_no_compiler) {
  make_cpu_runtime({.plugin = {}, .cache = folder_})->load(block_sums());
  const auto without = make_cpu_runtime({.plugin = "off", .cache = folder_});
  Sums run;
  run.on(*without, *without->load(block_sums()));
  expect_like_checked(run);
}

TEST_F(CpuRuntime, a_damaged_entry_is_compiled_anew) {
  make_cpu_runtime({.plugin = {}, .cache = folder_})->load(block_sums());
  const std::string path = os::join_path(folder_, os::list_directory(folder_).at(0));
  std::string file = os::read_file(path);
  file[file.size() / 2] = static_cast<char>(file[file.size() / 2] + 1);
  os::write_file_atomic(path, file);
  EXPECT_THROW(make_cpu_runtime({.plugin = "off", .cache = folder_})->load(block_sums()),
               DeviceError);
  make_cpu_runtime({.plugin = {}, .cache = folder_})->load(block_sums());
  make_cpu_runtime({.plugin = "off", .cache = folder_})->load(block_sums());
}

TEST_F(CpuRuntime, without_a_compiler_the_error_names_the_way_out) {
  const auto runtime = make_cpu_runtime({.plugin = "/nowhere/plugin.so", .cache = {}});
  try {
    runtime->load(block_sums());
    FAIL() << "no error";
  } catch (const DeviceError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("/nowhere/plugin.so"), std::string::npos) << text;
    EXPECT_NE(text.find("SINTER_LLVM"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace sinter::kernel
