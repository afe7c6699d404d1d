// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of formulas, and the pass that uses it.
#include "sinter/kernel/passes/lower_math.hpp"

#include <algorithm>

#include "sinter/kernel/passes/math/polyfill.hpp"
#include "sinter/kernel/passes/math/power.hpp"
#include "sinter/kernel/passes/math/trigonometry.hpp"
#include "sinter/kernel/passes/rebuild.hpp"

namespace sinter::ir {

namespace {

using dsl::Val;

constexpr Op functions[] = {Op::exp,      Op::exp2, Op::expm1,   Op::log,   Op::log2,  Op::log10,
                            Op::log1p,    Op::sin,  Op::cos,     Op::tan,   Op::asin,  Op::acos,
                            Op::atan,     Op::sinh, Op::cosh,    Op::tanh,  Op::asinh, Op::acosh,
                            Op::atanh,    Op::erf,  Op::pow,     Op::atan2, Op::hypot, Op::rsqrt,
                            Op::copysign, Op::rem,  Op::mul_high};

std::optional<Val> on_floats(Op op, std::span<const Val> args) {
  switch (op) {
#define SINTER_FORMULA(name) \
  case Op::name:             \
    return math::name(args[0]);
    SINTER_FORMULA(exp)
    SINTER_FORMULA(exp2)
    SINTER_FORMULA(expm1)
    SINTER_FORMULA(log)
    SINTER_FORMULA(log2)
    SINTER_FORMULA(log10)
    SINTER_FORMULA(log1p)
    SINTER_FORMULA(sin)
    SINTER_FORMULA(cos)
    SINTER_FORMULA(tan)
    SINTER_FORMULA(asin)
    SINTER_FORMULA(acos)
    SINTER_FORMULA(atan)
    SINTER_FORMULA(sinh)
    SINTER_FORMULA(cosh)
    SINTER_FORMULA(tanh)
    SINTER_FORMULA(asinh)
    SINTER_FORMULA(acosh)
    SINTER_FORMULA(atanh)
    SINTER_FORMULA(erf)
    SINTER_FORMULA(rsqrt)
#undef SINTER_FORMULA
#define SINTER_FORMULA(name) \
  case Op::name:             \
    return math::name(args[0], args[1]);
    SINTER_FORMULA(pow)
    SINTER_FORMULA(atan2)
    SINTER_FORMULA(hypot)
    SINTER_FORMULA(copysign)
    SINTER_FORMULA(rem)
#undef SINTER_FORMULA
    default:
      return std::nullopt;
  }
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

MathTarget MathTarget::spirv(bool exact) {
  MathTarget target;
  if (!exact) {
    target.add({Op::exp, Op::exp2, Op::log, Op::log2, Op::sin, Op::cos, Op::tan, Op::asin, Op::acos,
                Op::atan, Op::sinh, Op::cosh, Op::tanh, Op::asinh, Op::acosh, Op::atanh, Op::atan2,
                Op::rsqrt});
  }
  return target.add({Op::mul_high});
}

std::span<const Op> lowered_ops() { return functions; }

std::optional<Val> formula_of(Op op, std::span<const Val> args) {
  const Type type = args[0].type();
  switch (type.dtype) {
    case DType::f32:
    case DType::f64:
      return on_floats(op, args);
    case DType::f16:
    case DType::bf16: {
      Val wide[3];
      std::transform(args.begin(), args.end(), wide,
                     [](Val arg) { return dsl::convert(arg, DType::f32); });
      const std::optional<Val> y = on_floats(op, {wide, args.size()});
      return y ? std::optional(dsl::convert(*y, type.dtype)) : std::nullopt;
    }
    default:
      return op == Op::mul_high ? std::optional(math::mul_high(args[0], args[1])) : std::nullopt;
  }
}

void lower_math(Kernel& kernel, const MathTarget& target) {
  const auto lacks = [&](const Inst& inst) {
    const bool numbers = is_floating(inst.type.dtype) || inst.op == Op::mul_high;
    return numbers &&
           std::find(std::begin(functions), std::end(functions), inst.op) != std::end(functions) &&
           !target.has(inst.op, inst.type.dtype);
  };
  // Formulas may use what the target lacks as well, like mul_high.
  while (std::any_of(kernel.insts.begin(), kernel.insts.end(), lacks)) {
    kernel = rebuild(kernel, [&](const Inst& inst, std::span<const Val> args) {
      return lacks(inst) ? formula_of(inst.op, args) : std::nullopt;
    });
  }
}

}  // namespace sinter::ir
