// SPDX-License-Identifier: MIT OR Apache-2.0
// The portable backend's families, one line each.
#include "sinter/backend/portable/kernel_tables.hpp"

#include "sinter/backend/portable/blocks.hpp"

namespace sinter::backend::portable {

void set_kernels(KernelTable& table) {
  // A wrong SINTER_ISA throws here, while the device is made: in the midst of an op it could meet a
  // destructor.
  (void)kernels();
  set_elementwise(table);
  set_reduce(table);
  set_creation(table);
  set_matmul(table);
  set_conv(table);
  set_pool(table);
  set_softmax(table);
  set_norm(table);
  set_optim(table);
  set_index(table);
  set_join(table);
  set_random(table);
  set_scan(table);
  set_sort(table);
}

}  // namespace sinter::backend::portable
