// SPDX-License-Identifier: MIT OR Apache-2.0
// The backends that this build or a plug-in brings.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "sinter/graph/backend.hpp"

namespace sinter::backend {

/// One kind of leaf backend.
struct BackendInfo {
  std::string_view name;
  std::string_view description;
  /// How many devices of this kind are present.
  int (*device_count)() = nullptr;
  /// Device `index`; throws DeviceError when it is not there.
  std::unique_ptr<Backend> (*create)(int index) = nullptr;
};

/// Adds a backend; one of the same name is replaced. Called by the generated `register_all` and by
/// plug-ins.
void add(const BackendInfo& info);

/// All backends, in order of registration: the fastest first.
std::span<const BackendInfo> all();

/// The backend called `name`; throws DeviceError that lists the known ones when there is none.
const BackendInfo& find(std::string_view name);

}  // namespace sinter::backend
