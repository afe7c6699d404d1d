// SPDX-License-Identifier: MIT OR Apache-2.0
// Which arithmetic serves memory indices alone.
#include "sinter/kernel/compilers/llvm/detail/indices.hpp"

namespace sinter::llvm {

namespace {

using ir::Op;

bool grows(Op op) { return op == Op::add || op == Op::mul || op == Op::shift_left; }

/// Whether a value can't stand for a number below zero. A scalar can: strides and offsets do.
bool is_clean(const ir::Kernel& kernel, const ir::Inst& inst, const std::vector<bool>& clean) {
  if (inst.type != ir::index_type) {
    return false;
  }
  const auto argument = [&](std::size_t i) { return clean[inst.args[i]]; };
  switch (inst.op) {
    case Op::constant:
      return inst.payload < (std::uint64_t{1} << 31);
    case Op::unit_pos:
    case Op::cube_pos:
    case Op::cube_count:
    case Op::plane_dim:
    case Op::plane_pos:
    case Op::length:
      return true;
    case Op::add:
    case Op::mul:
    case Op::shift_left:
    case Op::max:
      return argument(0) && argument(1);
    case Op::min:
    case Op::bit_and:
      return argument(0) || argument(1);
    case Op::div:
    case Op::rem:
    case Op::shift_right:
    case Op::for_:
      return argument(0);
    case Op::select:
      return argument(1) && argument(2);
    case Op::cast:
      return is_unsigned(kernel.at(inst.args[0]).type.dtype) ||
             kernel.at(inst.args[0]).type.dtype == DType::boolean;
    default:
      return false;
  }
}

/// Whether all uses of each value are indices, or sums and products that are.
std::vector<bool> only_indices(const ir::Kernel& kernel) {
  std::vector<bool> only(kernel.insts.size(), true);
  // A value is defined before its uses.
  for (std::size_t at = kernel.insts.size(); at-- > 0;) {
    const ir::Inst& inst = kernel.insts[at];
    const ir::OpTraits& op = ir::traits_of(inst.op);
    for (std::size_t i = 0; i < op.arguments; ++i) {
      const bool is_index = op.is(ir::memory) && i == 0;
      const bool passes = grows(inst.op) && inst.type == ir::index_type && only[at];
      if (!is_index && !passes) {
        only[inst.args[i]] = false;
      }
    }
  }
  return only;
}

}  // namespace

std::vector<bool> never_wrapping(const ir::Kernel& kernel) {
  std::vector<bool> result = only_indices(kernel);
  std::vector<bool> clean(kernel.insts.size());
  for (std::size_t at = 0; at < kernel.insts.size(); ++at) {
    const ir::Inst& inst = kernel.insts[at];
    clean[at] = is_clean(kernel, inst, clean);
    result[at] = result[at] && clean[at] && grows(inst.op);
  }
  return result;
}

}  // namespace sinter::llvm
