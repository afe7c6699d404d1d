// SPDX-License-Identifier: MIT OR Apache-2.0
// What an instruction is when some of its arguments are known.
#pragma once

#include <optional>
#include <span>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::ir {

/// What is known of an argument: its value (all lanes alike), and which value it is.
struct Known {
  Id id = no_id;
  Type type;
  std::optional<std::uint64_t> bits;
};

/// The constant that an instruction gives, or the argument that it equals.
struct Folded {
  std::optional<std::uint64_t> bits;
  int argument = -1;

  [[nodiscard]] bool found() const { return bits.has_value() || argument >= 0; }
};

/// Folds constants, and identities that hold to the last bit for every value: x + 0 for integers,
/// x * 1, x & x, select with a known condition, a cast to the same type. Never changes a rounding,
/// a NaN or the sign of a zero.
[[nodiscard]] Folded fold(Op op, Type type, std::span<const Known> args);

}  // namespace sinter::ir
