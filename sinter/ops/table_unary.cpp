// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of elementwise ops of one input.
#include "sinter/ops/activation.hpp"
#include "sinter/ops/arithmetic.hpp"
#include "sinter/ops/bits.hpp"
#include "sinter/ops/exponential.hpp"
#include "sinter/ops/op.hpp"
#include "sinter/ops/trigonometry.hpp"

namespace sinter {

#define SINTER_UNARY(Struct, name, group) template OpDef detail::make_def<ops::Struct>();
#define SINTER_UNARY_WITH(Struct, name, group) SINTER_UNARY(Struct, name, group)
#include "sinter/ops/ops.def"

}  // namespace sinter
