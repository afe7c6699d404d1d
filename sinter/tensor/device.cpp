// SPDX-License-Identifier: MIT OR Apache-2.0
// Interning of devices, and the default one.
#include "sinter/tensor/device.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "sinter/backend/registry.hpp"
#include "sinter/base/error.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/decorators/autodiff/make_autodiff.hpp"
#include "sinter/decorators/fusion/fusion.hpp"
#include "sinter/decorators/validate/validate.hpp"

namespace sinter {
namespace {

thread_local Backend* scoped_default = nullptr;

// All backends ever asked for, by name of the recipe. Never destroyed: tensors of static objects
// may outlive any static destructor.
struct Interned {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Backend>, std::less<>> backends;
};
Interned& interned() {
  static auto* instance = new Interned;
  return *instance;
}

template <class Make>
Device intern(const std::string& name, Make make) {
  Interned& pool = interned();
  const std::lock_guard lock(pool.mutex);
  std::unique_ptr<Backend>& slot = pool.backends[name];
  if (!slot) {
    slot = make();
  }
  return Device(*slot);
}

Device leaf(const backend::BackendInfo& info) {
  return intern(std::string(info.name), [&] { return info.create(0); });
}

[[noreturn]] void raise_bad_name(std::string_view name, const std::string& what) {
  throw DeviceError(
      fmt::format("device `{}`: {}; a decorated device is written autodiff(<device>), "
                  "fusion(<device>) or validate(<device>)",
                  name, what));
}

}  // namespace

Device::Device() {
  if (scoped_default) {
    backend_ = scoped_default;
    return;
  }
  static const Device fallback = [] {
    const std::optional<std::string> name = os::environment("SINTER_DEVICE");
    return name && !name->empty() ? by_name(*name) : best();
  }();
  backend_ = fallback.backend_;
}

Device Device::portable() {
  static const Device device = leaf(backend::find("portable"));
  return device;
}
Device Device::cpu() {
  static const Device device = [] {
    const backend::BackendInfo& jit = backend::find("jit-cpu");
    return jit.device_count() > 0 ? leaf(jit).fusion() : portable();
  }();
  return device;
}
Device Device::reference() {
  static const Device device = leaf(backend::find("reference"));
  return device;
}
Device Device::null() {
  static const Device device = leaf(backend::find("null"));
  return device;
}

Device Device::best() {
  for (const backend::BackendInfo& info : backend::all()) {
    if (info.device_count() > 0) {
      return leaf(info);
    }
  }
  throw DeviceError("this build of Sinter has no backend");
}

Device Device::by_name(std::string_view name) {
  const std::size_t open = name.find('(');
  if (open == std::string_view::npos) {
    if (name.ends_with(')')) {
      raise_bad_name(name, "a `)` without its `(`");
    }
    return name == "cpu" ? cpu() : leaf(backend::find(name));
  }
  if (!name.ends_with(')')) {
    raise_bad_name(name, "the closing `)` is missing");
  }
  const std::string_view decorator = name.substr(0, open);
  const std::string_view rest = name.substr(open + 1, name.size() - open - 2);
  if (decorator == "autodiff") {
    return by_name(rest).autodiff();
  }
  if (decorator == "fusion") {
    return by_name(rest).fusion();
  }
  if (decorator == "validate") {
    return by_name(rest).validate();
  }
  raise_bad_name(name, fmt::format("no decorator is called `{}`", decorator));
}

std::vector<Device> Device::enumerate() {
  std::vector<Device> devices;
  for (const backend::BackendInfo& info : backend::all()) {
    if (info.device_count() > 0) {
      devices.push_back(leaf(info));
    }
  }
  return devices;
}

Device Device::autodiff() const { return autodiff(AutodiffOptions{}); }
Device Device::autodiff(AutodiffOptions options) const {
  const std::string recipe = fmt::format("autodiff({}) {} {}", fmt::ptr(backend_),
                                         static_cast<int>(options.checkpointing), options.budget);
  return intern(recipe, [&] { return make_autodiff(*backend_, options); });
}
Device Device::fusion() const {
  return intern(fmt::format("fusion({})", fmt::ptr(backend_)),
                [&] { return make_fusion(*backend_); });
}
Device Device::validate() const {
  return intern(fmt::format("validate({})", fmt::ptr(backend_)),
                [&] { return make_validate(*backend_); });
}
Device Device::inner() const {
  Backend* inner = backend_->inner();
  return inner ? Device(*inner) : *this;
}
bool Device::is_autodiff() const { return sinter::is_autodiff(*backend_); }

DefaultDeviceScope::DefaultDeviceScope(Device device)
    : previous_(std::exchange(scoped_default, &device.backend())) {}
DefaultDeviceScope::~DefaultDeviceScope() { scoped_default = previous_; }

}  // namespace sinter
