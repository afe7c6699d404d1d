// SPDX-License-Identifier: MIT OR Apache-2.0
// Vectors divided by one number: multiplications that give the same bits.
//
// With r = 1 / d rounded once, q = x r needs two corrections by the exact remainder fma(-q, d, x);
// the last is then rounded as the quotient is (Markstein, "Computation of elementary functions on
// the IBM RISC System/6000 processor", 1990, theorem 8). That holds as long as nothing on the way
// leaves the range of normal numbers: the sizes of x and d are looked at, and a vector with any
// other lane is divided as it stands. A division of 16 lanes takes 16 cycles or more, this takes 5.
#include "sinter/kernel/passes/math/cell.hpp"
#include "sinter/kernel/passes/math/parts.hpp"
#include "sinter/kernel/passes/passes.hpp"
#include "sinter/kernel/passes/rebuild.hpp"

namespace sinter::ir {

namespace {

using dsl::Val;
using math::by;
using math::lit;

/// |x| lies well within the normal numbers.
Val is_moderate(Val x) {
  const Val size = math::device::abs(x);
  return (size >= lit(by(x, 0x1p-60, 0x1p-400))) & (size <= lit(by(x, 0x1p60, 0x1p400)));
}

Val divide(Val x, Val divisor, Val one_divisor) {
  using math::device::fma;
  const int lanes = x.type().lanes;
  const Val r = dsl::repeat(lit(1) / one_divisor, lanes);
  const Val q = x * r;
  const Val closer = fma(fma(-q, divisor, x), r, q);
  const Val exact = fma(fma(-closer, divisor, x), r, closer);
  // A zero keeps the sign that q has.
  const Val zero = x == lit(0);
  const math::Cell result(dsl::choose(zero, q, exact));
  const Val good = dsl::repeat(is_moderate(one_divisor), lanes) & (is_moderate(x) | zero);
  KERNEL_IF (math::any_lane(!good)) {
    result.set(x / divisor);
  }
  return result.get();
}

}  // namespace

void divide_by_one_number(Kernel& kernel) {
  kernel = rebuild(kernel, [&](const Inst& inst, std::span<const Val> args) -> std::optional<Val> {
    const bool wide = inst.op == Op::div && inst.type.lanes >= 8 &&
                      (inst.type.dtype == DType::f32 || inst.type.dtype == DType::f64);
    if (!wide || kernel.at(inst.args[1]).op != Op::splat) {
      return std::nullopt;
    }
    return divide(args[0], args[1], math::lane_of(args[1], 0));
  });
}

}  // namespace sinter::ir
