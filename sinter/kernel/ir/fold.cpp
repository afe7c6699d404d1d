// SPDX-License-Identifier: MIT OR Apache-2.0
// Constant folding and exact identities.
#include "sinter/kernel/ir/fold.hpp"

#include "sinter/kernel/ir/evaluate.hpp"

namespace sinter::ir {

namespace {

bool is(const Known& arg, double value) { return arg.bits == constant_bits(arg.type.dtype, value); }

Folded constant(Op op, Type type, std::span<const Known> args) {
  std::array<std::uint64_t, 3> bits{};
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!args[i].bits) {
      return {};
    }
    bits[i] = *args[i].bits;
  }
  return {evaluate(op, args[op == Op::select ? 1 : 0].type.dtype, type.dtype, bits), -1};
}

/// Identities of (x, known) with the known one on side `known`.
Folded with_known(Op op, Type type, std::span<const Known> args, int known) {
  const Known& k = args[static_cast<std::size_t>(known)];
  const int other = 1 - known;
  const bool whole = !is_floating(type.dtype);
  const bool right = known == 1;
  switch (op) {
    case Op::add:
      return whole && is(k, 0) ? Folded{{}, other} : Folded{};
    case Op::sub:
      return right && is(k, 0) ? Folded{{}, other} : Folded{};
    case Op::mul:
      if (is(k, 1)) {
        return {{}, other};
      }
      return whole && is(k, 0) ? Folded{*k.bits, -1} : Folded{};
    case Op::div:
      return right && is(k, 1) ? Folded{{}, other} : Folded{};
    case Op::rem:
      return whole && right && is(k, 1) ? Folded{std::uint64_t{0}, -1} : Folded{};
    case Op::shift_left:
    case Op::shift_right:
      return right && is(k, 0) ? Folded{{}, other} : Folded{};
    case Op::bit_or:
    case Op::bit_xor:
      return is(k, 0) ? Folded{{}, other} : Folded{};
    case Op::bit_and:
      if (is(k, 0)) {
        return {*k.bits, -1};
      }
      return k.bits == constant_bits(type.dtype, std::int64_t{-1}) ? Folded{{}, other} : Folded{};
    default:
      return {};
  }
}

Folded of_equals(Op op, Type type) {
  const bool whole = !is_floating(type.dtype);
  switch (op) {
    case Op::bit_and:
    case Op::bit_or:
    case Op::min:
    case Op::max:
      return {{}, 0};
    case Op::bit_xor:
      return {std::uint64_t{0}, -1};
    case Op::sub:
      return whole ? Folded{std::uint64_t{0}, -1} : Folded{};
    default:
      return {};
  }
}

}  // namespace

Folded fold(Op op, Type type, std::span<const Known> args) {
  const OpTraits& traits = traits_of(op);
  if (!traits.is(pure) || args.empty() || op == Op::bitcast || op == Op::insert ||
      op == Op::extract) {
    return {};
  }
  if (const Folded result = constant(op, type, args); result.found()) {
    return result;
  }
  if (op == Op::select) {
    if (args[0].bits) {
      return {{}, *args[0].bits != 0 ? 1 : 2};
    }
    return args[1].id == args[2].id ? Folded{{}, 1} : Folded{};
  }
  if (op == Op::cast || op == Op::splat) {
    return type == args[0].type ? Folded{{}, 0} : Folded{};
  }
  if (args.size() != 2 || traits.rule != TypeRule::same) {
    return {};
  }
  if (args[0].id == args[1].id) {
    if (const Folded result = of_equals(op, type); result.found()) {
      return result;
    }
  }
  for (const int side : {1, 0}) {
    if (args[static_cast<std::size_t>(side)].bits) {
      if (const Folded result = with_known(op, type, args, side); result.found()) {
        return result;
      }
    }
  }
  return {};
}

}  // namespace sinter::ir
