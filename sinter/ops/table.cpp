// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of all ops, in the order of ops.def.
#include <array>

#include "sinter/ops/all.hpp"

namespace sinter {

// Elementwise rows hold a formula for each carrier and side, most of the code of all rows: they are
// compiled in table_unary.cpp and table_binary.cpp.
#define SINTER_ELEMENTWISE(Struct, name, group) \
  extern template OpDef detail::make_def<ops::Struct>();
#include "sinter/ops/ops.def"

namespace {

std::array<OpDef, op_count> make_rows() {
  return {
#define SINTER_OP(Struct, name, group) detail::make_def<ops::Struct>(),
#include "sinter/ops/ops.def"
  };
}

}  // namespace

const OpDef& op_def(OpCode code) {
  static const std::array<OpDef, op_count> rows = make_rows();
  return rows[static_cast<std::size_t>(code)];
}

}  // namespace sinter
