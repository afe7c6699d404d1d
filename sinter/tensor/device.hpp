// SPDX-License-Identifier: MIT OR Apache-2.0
// Device: where tensors live and what happens to their operations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/decorators/autodiff/options.hpp"
#include "sinter/graph/backend.hpp"

namespace sinter {

/// A backend with its decorators. Devices are interned: equal recipes are the same device, and one
/// lives for the whole process, so a Device is as cheap to copy as a pointer.
class Device {
 public:
  /// The default device: the innermost DefaultDeviceScope's, else SINTER_DEVICE's, else best().
  Device();
  explicit Device(Backend& backend) : backend_(&backend) {}

  /// SIMD kernels on the CPU.
  static Device portable();
  /// Kernels compiled for this processor while the program runs, operations fused; portable() where
  /// there is no compiler (the LLVM plug-in).
  static Device cpu();
  /// Scalar loops in double precision: the oracle.
  static Device reference();
  /// Checks shapes and computes nothing.
  static Device null();
  /// The fastest present.
  static Device best();
  /// By name, as `name()` gives it or as the command line does: "portable", "autodiff(portable)".
  /// Throws DeviceError that lists the known names.
  static Device by_name(std::string_view name);
  /// All leaf devices present.
  static std::vector<Device> enumerate();

  /// This device with gradients. Stacking twice gives gradients of gradients.
  Device autodiff() const;
  /// The same with a policy for the memory that gradients need.
  Device autodiff(AutodiffOptions options) const;
  /// This device with operations that meet run as one kernel, where it can do that.
  Device fusion() const;
  /// This device with every call checked: results in shape and dtype, inputs unchanged, NaN
  /// reported.
  Device validate() const;
  /// The device under the outermost decorator; a leaf gives itself.
  Device inner() const;
  bool is_autodiff() const;

  std::string name() const { return backend_->name(); }
  /// Starts the device's random stream anew.
  void seed(std::uint64_t seed) const { backend_->generator().seed(seed); }
  Generator& generator() const { return backend_->generator(); }
  /// Waits for all work.
  void sync() const { backend_->sync(); }
  void flush() const { backend_->flush(); }
  MemoryStats memory() const { return backend_->memory(); }
  /// Returns cached memory to the system.
  void trim() const { backend_->trim(); }

  Backend& backend() const { return *backend_; }
  bool operator==(const Device&) const = default;

 private:
  Backend* backend_;
};

/// While it lives, tensors made by this thread without a device go to `device`.
class DefaultDeviceScope {
 public:
  explicit DefaultDeviceScope(Device device);
  ~DefaultDeviceScope();
  DefaultDeviceScope(const DefaultDeviceScope&) = delete;
  DefaultDeviceScope& operator=(const DefaultDeviceScope&) = delete;

 private:
  Backend* previous_;
};

// Recipes of devices as types: `Autodiff<Portable>::device()`.
struct Portable {
  static Device device() { return Device::portable(); }
};
struct Cpu {
  static Device device() { return Device::by_name("jit-cpu"); }
};
struct Reference {
  static Device device() { return Device::reference(); }
};
struct Null {
  static Device device() { return Device::null(); }
};
template <class B>
struct Autodiff {
  static Device device() { return B::device().autodiff(); }
};
template <class B>
struct Fusion {
  static Device device() { return B::device().fusion(); }
};
template <class B>
struct Validate {
  static Device device() { return B::device().validate(); }
};

}  // namespace sinter
