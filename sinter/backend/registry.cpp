// SPDX-License-Identifier: MIT OR Apache-2.0
// The registry of leaf backends.
#include "sinter/backend/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>
#include <string>
#include <vector>

#include "sinter/base/error.hpp"

namespace sinter::backend {

void register_all();

namespace {

struct Registry {
  std::mutex mutex;
  std::vector<BackendInfo> backends;
};

// Never destroyed: tensors of static objects outlive any order of destruction.
Registry& registry() {
  static auto* instance = [] {
    auto* created = new Registry;
    created->backends.reserve(64);  // spans given out by all() stay valid while plug-ins add theirs
    return created;
  }();
  return *instance;
}

void register_built_in() {
  static const bool once = (register_all(), true);
  (void)once;
}

}  // namespace

void add(const BackendInfo& info) {
  const std::lock_guard lock(registry().mutex);
  for (BackendInfo& known : registry().backends) {
    if (known.name == info.name) {
      known = info;
      return;
    }
  }
  registry().backends.push_back(info);
}

std::span<const BackendInfo> all() {
  register_built_in();
  const std::lock_guard lock(registry().mutex);
  return registry().backends;
}

const BackendInfo& find(std::string_view name) {
  std::vector<std::string_view> names;
  for (const BackendInfo& info : all()) {
    if (info.name == name) {
      return info;
    }
    names.push_back(info.name);
  }
  throw DeviceError(
      fmt::format("no device is called `{}`; this build has: {}", name, fmt::join(names, ", ")));
}

}  // namespace sinter::backend
