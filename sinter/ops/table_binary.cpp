// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of the elementwise ops that table_unary.cpp leaves: of two or three inputs, or with a
// bool for a result.
#include "sinter/ops/arithmetic.hpp"
#include "sinter/ops/bits.hpp"
#include "sinter/ops/compare.hpp"
#include "sinter/ops/exponential.hpp"
#include "sinter/ops/op.hpp"
#include "sinter/ops/trigonometry.hpp"

namespace sinter {

#define SINTER_ELEMENTWISE(Struct, name, group) template OpDef detail::make_def<ops::Struct>();
#define SINTER_UNARY(Struct, name, group)
#define SINTER_UNARY_WITH(Struct, name, group)
#include "sinter/ops/ops.def"

}  // namespace sinter
