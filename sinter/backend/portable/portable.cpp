// SPDX-License-Identifier: MIT OR Apache-2.0
// The portable backend: SIMD kernels chosen by what the processor has, spread over the thread pool.
#include "sinter/backend/portable/portable.hpp"

#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/backend/reference/oracle.hpp"
#include "sinter/backend/registry.hpp"

namespace sinter::backend {

// An op without a kernel of its own here runs the reference's: slow, and right.
const KernelTable& portable_kernels() {
  static const KernelTable table = [] {
    KernelTable t = reference::kernels();
    portable::set_kernels(t);
    return t;
  }();
  return table;
}

void register_portable();
void register_portable() {
  add({.name = "portable",
       .description = "SIMD kernels in C++ for any processor",
       .device_count = [] { return 1; },
       .create = [](int) -> std::unique_ptr<Backend> {
         return std::make_unique<HostBackend>("portable", portable_kernels());
       }});
}

}  // namespace sinter::backend
