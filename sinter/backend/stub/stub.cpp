// SPDX-License-Identifier: MIT OR Apache-2.0
// A backend to copy: every function there is to fill in, with what it must do. See
// docs/adding/backend.md.
#include "sinter/backend/stub/stub.hpp"

#include <fmt/format.h>

#include "sinter/backend/registry.hpp"
#include "sinter/base/error.hpp"

namespace sinter::backend {
namespace {

// Its tensors are a class derived from ValueImpl, with whatever finds the elements.
class StubBackend final : public Backend {
 public:
  std::string name() const override { return "stub"; }

  // First views (call.def->view), then kernels of its own, then call.def->decompose; outputs must
  // have the specs in call.outputs.
  void execute(const OpCall& call, Outputs&) override { unimplemented(call.def->name); }

  // True for the ops that execute() has a kernel for; decomposed ones don't count.
  bool supports(const OpDef&, DType) const override { return false; }

  // Copies host elements to the device; the data may be gone when the call returns.
  Value from_data(const HostData&) override { unimplemented("from_data"); }

  // Waits for the elements and copies them, row-major, to the host.
  HostData read(const Value&) override { unimplemented("read"); }

 private:
  [[noreturn]] static void unimplemented(std::string_view what) {
    throw UnsupportedError(
        fmt::format("Stub::{} unimplemented; fill it in, or use another device", what));
  }
};

}  // namespace

void register_stub() {
  add({.name = "stub",
       .description = "a template for new backends: implements nothing",
       .device_count = [] { return 0; },
       .create = [](int) -> std::unique_ptr<Backend> { return std::make_unique<StubBackend>(); }});
}

}  // namespace sinter::backend
