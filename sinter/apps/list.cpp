// SPDX-License-Identifier: MIT OR Apache-2.0
// `sinter devices` and `sinter ops`: what there is.
#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "sinter/apps/commands.hpp"
#include "sinter/apps/table.hpp"
#include "sinter/backend/registry.hpp"
#include "sinter/base/os/cpu.hpp"
#include "sinter/graph/op_call.hpp"
#include "sinter/ops/opcode.hpp"
#include "sinter/tensor/device.hpp"
#include "sinter/types/dtype.hpp"

namespace sinter::apps {

namespace {

struct OpEntry {
  OpCode code;
  std::string_view group;
};

constexpr auto op_entries = std::to_array<OpEntry>({
#define SINTER_OP(Struct, name, group) {OpCode::name, #group},
#include "sinter/ops/ops.def"
});

std::string_view family_name(Family family) {
  switch (family) {
    case Family::elementwise:
      return "elementwise";
    case Family::view:
      return "view";
    case Family::reduce:
      return "reduction";
    case Family::structured:
      return "structured";
  }
  return "";
}

/// How a backend computes an op: by a kernel of its own, by simpler ops, or not.
std::string support(const Backend& backend, const OpDef& def) {
  for (int i = 0; i < dtype_count; ++i) {
    if (backend.supports(def, static_cast<DType>(i))) {
      return "kernel";
    }
  }
  return def.decompose != nullptr ? "derived" : "-";
}

}  // namespace

int list_devices() {
  Table table({"device", "description", ""});
  for (const Device& device : Device::enumerate()) {
    const std::string name = device.name();
    std::string_view description;
    for (const backend::BackendInfo& info : backend::all()) {
      if (name == info.name || name.starts_with(std::string(info.name) + ":")) {
        description = info.description;
      }
    }
    table.add({name, std::string(description), device == Device::best() ? "default" : ""});
  }
  fmt::print("{}\nprocessor: {}, {} usable\n", table.text(), os::cpu_name(), os::usable_cpus());
  return 0;
}

int list_ops(bool markdown) {
  std::vector<std::string> head = {"op", "group", "family", "gradient"};
  // The page is the same on every machine: it leaves out what depends on the build and its devices.
  const std::vector<Device> devices =
      markdown ? std::vector{Device::portable(), Device::reference()} : Device::enumerate();
  for (const Device& device : devices) {
    head.push_back(device.name());
  }
  Table table(std::move(head));
  for (const OpEntry& entry : op_entries) {
    const OpDef& def = op_def(entry.code);
    std::vector<std::string> row = {std::string(def.name), std::string(entry.group),
                                    std::string(family_name(def.family)),
                                    def.notes.differentiable ? "yes" : "-"};
    for (const Device& device : devices) {
      row.push_back(support(device.backend(), def));
    }
    table.add(std::move(row));
  }
  if (markdown) {
    fmt::print(
        "# Ops\n\nDerived from the code by `./dev doc`. `kernel`: the backend computes the op "
        "itself; `derived`: by simpler ops; `-`: not at all. `sinter ops` also tells of the "
        "other backends of a build.\n\n{}",
        table.markdown());
  } else {
    fmt::print("{}", table.text());
  }
  return 0;
}

}  // namespace sinter::apps
