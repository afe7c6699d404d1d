// SPDX-License-Identifier: MIT OR Apache-2.0
// Formulas by the instructions that they stand for, and the pass that puts them in.
#include "sinter/kernel/passes/lower_math.hpp"

#include <algorithm>

#include "sinter/kernel/passes/math/polyfill.hpp"
#include "sinter/kernel/passes/math/power.hpp"
#include "sinter/kernel/passes/math/trigonometry.hpp"
#include "sinter/kernel/passes/rebuild.hpp"

namespace sinter::ir {

namespace math {

/// An argument by whose type an instruction's formula is found: a function of this namespace with
/// the instruction's name.
struct Argument : dsl::Val {};

}  // namespace math

namespace {

using dsl::Val;

/// The formula of `op` if there is one, in y if that is wanted.
template <class A>
bool find_formula(Op op, std::span<const Val> args, Val* y) {
  const auto give = [&](auto&& formula) {
    if (y != nullptr) {
      *y = formula();
    }
    return true;
  };
  switch (op) {
#define SINTER_INSTRUCTION(name, arguments, rule, traits)        \
  case Op::name:                                                 \
    if constexpr (requires(A a) { name(a); }) {                  \
      return give([&] { return name(A{args[0]}); });             \
    } else if constexpr (requires(A a) { name(a, a); }) {        \
      return give([&] { return name(A{args[0]}, A{args[1]}); }); \
    }                                                            \
    return false;
#include "sinter/kernel/ir/instructions.def"
#undef SINTER_INSTRUCTION
  }
  return false;
}

std::optional<Val> on_values(Op op, std::span<const Val> args) {
  Val y;
  return find_formula<math::Argument>(op, args, &y) ? std::optional(y) : std::nullopt;
}

/// Formulas are for floats; only the upper half of a product has one for integers.
bool fits(Op op, DType dtype) {
  return find_formula<math::Argument>(op, {}, nullptr) &&
         is_floating(dtype) != (op == Op::mul_high);
}

}  // namespace

MathTarget& MathTarget::add(std::initializer_list<Op> ops) {
  for (const Op op : ops) {
    native_.set(static_cast<std::size_t>(op));
  }
  return *this;
}
MathTarget& MathTarget::add_on_f64(std::initializer_list<Op> ops) {
  for (const Op op : ops) {
    native_f64_.set(static_cast<std::size_t>(op));
  }
  return *this;
}
MathTarget& MathTarget::remove(std::initializer_list<Op> ops) {
  for (const Op op : ops) {
    native_.reset(static_cast<std::size_t>(op));
    native_f64_.reset(static_cast<std::size_t>(op));
  }
  return *this;
}

MathTarget MathTarget::cpu() {
  MathTarget target;
  target.native_f64_.set();
  return target.add({Op::copysign, Op::rem, Op::mul_high});
}

MathTarget MathTarget::spirv() { return MathTarget{}.add({Op::mul_high}); }

std::optional<Val> formula_of(Op op, std::span<const Val> args) {
  const DType dtype = args[0].type().dtype;
  if (!fits(op, dtype)) {
    return std::nullopt;
  }
  if (!is_floating(dtype) || size_of(dtype) >= 4) {
    return on_values(op, args);
  }
  Val wide[3];
  std::transform(args.begin(), args.end(), wide,
                 [](Val arg) { return dsl::convert(arg, DType::f32); });
  return dsl::convert(*on_values(op, {wide, args.size()}), dtype);
}

void lower_math(Kernel& kernel, const MathTarget& target) {
  const auto lacks = [&](const Inst& inst) {
    return fits(inst.op, inst.type.dtype) && !target.has(inst.op, inst.type.dtype);
  };
  // Formulas may use what the target lacks as well, like mul_high.
  while (std::any_of(kernel.insts.begin(), kernel.insts.end(), lacks)) {
    kernel = rebuild(kernel, [&](const Inst& inst, std::span<const Val> args) {
      return lacks(inst) ? formula_of(inst.op, args) : std::nullopt;
    });
  }
}

}  // namespace sinter::ir
