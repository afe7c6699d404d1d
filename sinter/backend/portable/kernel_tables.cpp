// SPDX-License-Identifier: MIT OR Apache-2.0
// The portable backend's families, one line each.
#include "sinter/backend/portable/kernel_tables.hpp"

namespace sinter::backend::portable {

void set_kernels(KernelTable& table) {
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
