// SPDX-License-Identifier: MIT OR Apache-2.0
// Block kernels of the elementwise group `exponential`.
#include "sinter/backend/portable/kernels/elementwise_block.hpp"
#include "sinter/ops/exponential.hpp"

namespace sinter::portable::SINTER_ISA {

void fill_exponential(ElementwiseTable& table) {
#define SINTER_OP(Struct, name, group)
#define SINTER_ELEMENTWISE(Struct, name, group) \
  fill_rows<ops::Struct, same_group(#group, "exponential"), int(OpCode::name), false>(table);
#include "sinter/ops/ops.def"
}

}  // namespace sinter::portable::SINTER_ISA
