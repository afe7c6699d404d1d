// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference backend: plain loops in double and 64-bit integers, the oracle of all others.
#include "sinter/backend/reference/oracle.hpp"
#include "sinter/backend/registry.hpp"

namespace sinter::backend {

const KernelTable& reference::kernels() {
  static const KernelTable table = [] {
    KernelTable t;
    t.elementwise = run_elementwise;
    t.reduce = run_reduce;
    set_creation(t);
    set_matmul(t);
    set_conv(t);
    set_pool(t);
    set_interpolate(t);
    set_softmax(t);
    set_loss(t);
    set_norm(t);
    set_optim(t);
    set_index(t);
    set_join(t);
    set_random(t);
    set_scan(t);
    set_sort(t);
    return t;
  }();
  return table;
}

void register_reference();
void register_reference() {
  add({.name = "reference",
       .description = "scalar loops in double precision: slow, and right",
       .device_count = [] { return 1; },
       .create = [](int) -> std::unique_ptr<Backend> {
         return std::make_unique<HostBackend>("reference", reference::kernels());
       }});
}

}  // namespace sinter::backend
