// SPDX-License-Identifier: MIT OR Apache-2.0
// Every elementwise struct of ops.def on the carrier of kernels.
#include "sinter/kernel/library/formulas.hpp"

#include <array>

#include "sinter/ops/activation.hpp"
#include "sinter/ops/arithmetic.hpp"
#include "sinter/ops/bits.hpp"
#include "sinter/ops/compare.hpp"
#include "sinter/ops/exponential.hpp"
#include "sinter/ops/opcode.hpp"
#include "sinter/ops/trigonometry.hpp"

namespace sinter::kernel {

namespace {

using Table = std::array<std::array<Formula, 3>, op_count>;

template <class O, int side>
dsl::Val record(const void* attributes, const dsl::Val* args) {
  return detail::formula<O, side>(detail::op_from<O>(attributes), args);
}

template <class O>
void fill(std::array<Formula, 3>& row) {
  if constexpr (detail::takes_floats<O>) {
    row[0] = record<O, -1>;
    if constexpr (detail::has_gradient_row<O, 0>()) {
      row[1] = record<O, 0>;
    }
    if constexpr (detail::has_gradient_row<O, 1>()) {
      row[2] = record<O, 1>;
    }
  }
}

Table make_table() {
  Table table{};
#define SINTER_OP(Struct, name, group)
#define SINTER_ELEMENTWISE(Struct, name, group) \
  fill<ops::Struct>(table[static_cast<std::size_t>(OpCode::name)]);
#include "sinter/ops/ops.def"
  return table;
}

}  // namespace

Formula formula_of(const OpDef& def) {
  static const Table table = make_table();
  if (def.code < 0 || def.family != Family::elementwise) {
    return nullptr;
  }
  return table[static_cast<std::size_t>(def.code)][static_cast<std::size_t>(def.variant)];
}

}  // namespace sinter::kernel
