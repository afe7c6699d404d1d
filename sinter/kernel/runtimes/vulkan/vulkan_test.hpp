// SPDX-License-Identifier: MIT OR Apache-2.0
// What tests of Vulkan devices share: an opened one, and kernels run on it and in checked mode.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sinter/base/error.hpp"
#include "sinter/kernel/dsl/control.hpp"
#include "sinter/kernel/ir/interpret.hpp"
#include "sinter/kernel/runtimes/vulkan/vulkan_runtime.hpp"

namespace sinter::kernel {

/// A device with the validation layer on, for all tests of a program; null without one.
struct TestDevice {
  std::vector<std::string> messages;
  std::unique_ptr<Runtime> runtime;
  std::string missing;

  TestDevice() {
    try {
      runtime = open_vulkan(0, {.cache = "", .messages = &messages});
    } catch (const DeviceError& error) {
      missing = error.what();
    }
  }
  static TestDevice& get() {
    static TestDevice device;
    return device;
  }
};

class VulkanTest : public testing::Test {
 protected:
  void SetUp() override {
    if (TestDevice::get().runtime == nullptr) {
      GTEST_SKIP() << TestDevice::get().missing;
    }
  }
  void TearDown() override {
    for (const std::string& message : TestDevice::get().messages) {
      ADD_FAILURE() << message;
    }
    TestDevice::get().messages.clear();
  }
  static Runtime& runtime() { return *TestDevice::get().runtime; }
};

/// Device memory with the content of a vector.
template <class T>
class OnDevice {
 public:
  OnDevice(Runtime& runtime, std::vector<T>& host) : runtime_(runtime), host_(host) {
    memory_ = runtime.allocate(bytes());
    runtime.write(memory_, 0, std::as_bytes(std::span(host)));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { runtime_.free(memory_, bytes()); }

  [[nodiscard]] Binding binding() const { return {memory_, 0, host_.size()}; }
  void read() { runtime_.read(memory_, 0, std::as_writable_bytes(std::span(host_))); }
  [[nodiscard]] void* memory() const { return memory_; }

 private:
  [[nodiscard]] std::size_t bytes() const { return host_.size() * sizeof(T); }
  Runtime& runtime_;
  std::vector<T>& host_;
  void* memory_;
};

/// Runs a kernel on one buffer a vector, which then hold the results.
template <class... T>
void run(Runtime& runtime, const ir::Kernel& kernel, ir::Extent cubes,
         const std::vector<std::uint64_t>& scalars, std::vector<T>&... host) {
  const Ref<Program> program = runtime.load(kernel);
  const auto go = [&](OnDevice<T>&&... buffer) {
    const Binding bindings[] = {buffer.binding()...};
    runtime.launch(*program, {.cubes = cubes, .buffers = bindings, .scalars = scalars});
    (buffer.read(), ...);
  };
  go(OnDevice<T>(runtime, host)...);
}

/// The same in checked mode.
template <class... T>
void check(const ir::Kernel& kernel, ir::Extent cubes, std::uint32_t plane,
           const std::vector<std::uint64_t>& scalars, std::vector<T>&... host) {
  const ir::BufferArg buffers[] = {{reinterpret_cast<std::byte*>(host.data()), host.size()}...};
  ir::interpret(kernel, {.cubes = cubes, .buffers = buffers, .scalars = scalars, .plane = plane});
}

/// What `action` throws.
template <class F>
std::string message_of(F&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// x[i] *= factor.
inline ir::Kernel scale_kernel() {
  using namespace dsl;
  return record("scale", {.cube = {64}}, [] {
    const Buffer<float> x("x");
    const Expr<float> factor = scalar<float>("factor");
    const Index i = absolute_pos();
    KERNEL_IF (i < x.length()) {
      x[i] = x[i].value() * factor;
    }
  });
}

inline std::uint64_t bits(float value) { return ir::constant_bits(DType::f32, double{value}); }

}  // namespace sinter::kernel
