// SPDX-License-Identifier: MIT OR Apache-2.0
// The instruction table, the arena, constants and typing.
#include "sinter/kernel/ir/ir.hpp"

#include <bit>

#include <fmt/format.h>

#include "sinter/base/half.hpp"

namespace sinter::ir {

namespace {

/// for_ and if_ are spelled so in C++ only.
constexpr std::string_view plain_name(std::string_view name) {
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

constexpr OpTraits table[] = {
#define SINTER_INSTRUCTION(name, arguments, rule, traits) \
  {plain_name(#name), arguments, TypeRule::rule, static_cast<std::uint16_t>(traits)},
#include "sinter/kernel/ir/instructions.def"
#undef SINTER_INSTRUCTION
};

bool kind_fits(const OpTraits& op, DType dtype) {
  const bool truth = dtype == DType::boolean;
  return !(op.is(numeric) && truth) && !(op.is(floating) && !is_floating(dtype)) &&
         !(op.is(integer) && !is_integer(dtype)) && !(op.is(bitwise) && is_floating(dtype));
}

std::string_view wanted_kind(const OpTraits& op) {
  return op.is(floating)  ? "floats"
         : op.is(integer) ? "integers"
         : op.is(bitwise) ? "integers or truth values"
                          : "numbers";
}

std::string mismatch(const OpTraits& op, const Type* args) {
  std::string got;
  for (int i = 0; i < op.arguments; ++i) {
    got += fmt::format("{}{}", i == 0 ? "" : ", ", to_text(args[i]));
  }
  return fmt::format("the arguments' types don't go together: {}; cast or splat one", got);
}

bool all_same(const OpTraits& op, const Type* args) {
  for (int i = 1; i < op.arguments; ++i) {
    if (args[i] != args[0]) {
      return false;
    }
  }
  return true;
}

/// Memory instructions: (index[, value[, value]]).
Typing type_of_memory(const OpTraits& op, const Type* args, Type given) {
  if (args[0] != index_type) {
    return {{}, fmt::format("expected an index of u32, got {}", to_text(args[0]))};
  }
  if (op.arguments == 3 && args[1] != args[2]) {
    return {{}, mismatch(op, args)};
  }
  if (op.arguments >= 2 && !kind_fits(op, args[1].dtype)) {
    return {{}, fmt::format("expected {}, got {}", wanted_kind(op), to_text(args[1]))};
  }
  switch (op.rule) {
    case TypeRule::nothing:
      return {};
    case TypeRule::second:
      return {args[1], {}};
    default:
      return {given, {}};
  }
}

}  // namespace

const OpTraits& traits_of(Op op) { return table[static_cast<std::size_t>(op)]; }
int op_count() { return static_cast<int>(std::size(table)); }

Id Kernel::add(Inst inst, std::uint32_t block) {
  insts.push_back(inst);
  const Id id = static_cast<Id>(insts.size() - 1);
  blocks[block].push_back(id);
  return id;
}

std::uint32_t Kernel::add_block() {
  blocks.emplace_back();
  return static_cast<std::uint32_t>(blocks.size() - 1);
}

std::uint64_t constant_bits(DType dtype, std::int64_t value) {
  if (is_floating(dtype)) {
    return constant_bits(dtype, static_cast<double>(value));
  }
  if (dtype == DType::boolean) {
    return value != 0 ? 1 : 0;
  }
  const int spare = 64 - 8 * static_cast<int>(size_of(dtype));
  const std::uint64_t low = static_cast<std::uint64_t>(value) << spare;
  return is_unsigned(dtype) ? low >> spare
                            : static_cast<std::uint64_t>(static_cast<std::int64_t>(low) >> spare);
}

std::uint64_t constant_bits(DType dtype, double value) {
  switch (dtype) {
    case DType::f64:
      return std::bit_cast<std::uint64_t>(value);
    case DType::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::f16:
      return std::bit_cast<std::uint32_t>(static_cast<float>(f16(value)));
    case DType::bf16:
      return std::bit_cast<std::uint32_t>(static_cast<float>(bf16(value)));
    case DType::boolean:
      return value != 0 ? 1 : 0;
    case DType::u64:
      return static_cast<std::uint64_t>(value);
    default:
      return constant_bits(dtype, static_cast<std::int64_t>(value));
  }
}

double constant_value(DType dtype, std::uint64_t bits) {
  if (dtype == DType::f64) {
    return std::bit_cast<double>(bits);
  }
  if (is_floating(dtype)) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
  return is_unsigned(dtype) ? static_cast<double>(bits)
                            : static_cast<double>(static_cast<std::int64_t>(bits));
}

Typing type_of(Op code, const Type* args, Type given) {
  const OpTraits& op = traits_of(code);
  if (op.is(memory)) {
    return type_of_memory(op, args, given);
  }
  if (op.arguments > 0 && code != Op::select && !kind_fits(op, args[0].dtype)) {
    return {{}, fmt::format("expected {}, got {}", wanted_kind(op), to_text(args[0]))};
  }
  const Type truth = args[0].with(DType::boolean);
  switch (op.rule) {
    case TypeRule::given:
      return {given, {}};
    case TypeRule::nothing:
      return {};
    case TypeRule::same:
      return all_same(op, args) ? Typing{args[0], {}} : Typing{{}, mismatch(op, args)};
    case TypeRule::same_first: {
      const Type wanted = code == Op::insert ? Type{args[0].dtype, 1} : index_type;
      return args[1] == wanted ? Typing{args[0], {}} : Typing{{}, mismatch(op, args)};
    }
    case TypeRule::compare:
      return all_same(op, args) ? Typing{truth, {}} : Typing{{}, mismatch(op, args)};
    case TypeRule::choice:
      return args[0] == args[1].with(DType::boolean) && args[1] == args[2]
                 ? Typing{args[1], {}}
                 : Typing{{}, mismatch(op, args)};
    case TypeRule::lane:
      return {{args[0].dtype, 1}, {}};
    case TypeRule::second:
      return {args[1], {}};
  }
  return {};
}

std::string to_text(Type type) {
  if (type.is_nothing()) {
    return "nothing";
  }
  return type.lanes == 1 ? std::string(name_of(type.dtype))
                         : fmt::format("{}x{}", name_of(type.dtype), type.lanes);
}

}  // namespace sinter::ir
