// SPDX-License-Identifier: MIT OR Apache-2.0
// Instructions that are functions of their arguments' lanes.
#pragma once

#include <array>

#include "sinter/kernel/compilers/llvm/detail/builder.hpp"
#include "sinter/kernel/compilers/llvm/plugin.hpp"

namespace sinter::llvm {

using Args = std::array<Value, 3>;

/// Builds pure instructions that have arguments.
class Arithmetic {
 public:
  /// Without `complete`, the processor lacks fma, floor, ceil, trunc and round.
  /// With `wide_vectors`, it has AVX-512.
  Arithmetic(Builder& builder, bool complete, bool wide_vectors)
      : b_(builder), complete_(complete), wide_vectors_(wide_vectors) {}
  /// The table of helpers, once it is known.
  void set_helpers(Value table) { helpers_ = table; }

  /// `from` is the dtype of the arguments (of a and b for select).
  Value build(const ir::Inst& inst, DType from, const Args& args);
  /// An instruction on two numbers of one dtype, as atomics need it.
  Value binary(ir::Op op, DType dtype, Value a, Value b);

 private:
  Value on_floats(ir::Op op, DType dtype, const Args& args);
  Value on_integers(ir::Op op, DType dtype, Value a, Value b);

  Value joined(Value a, Value b);
  Value with_sign(DType dtype, Value size, Value sign);
  Value division(ir::Op op, bool is_signed, Value a, Value b);
  Value shift(ir::Op op, bool is_signed, Value a, Value b);
  Value high_product(bool is_signed, Value a, Value b);
  Value smaller_or_larger(ir::Op op, DType dtype, Value a, Value b);
  Value compared(ir::Op op, DType dtype, Value a, Value b);
  Value fused(DType dtype, const Args& args);
  Value helped(Helper helper, DType dtype, const Args& args, unsigned count);
  Value call_helper(Helper helper, LlvmType number, Value* args, unsigned count);
  Value intrinsic(const char* name, Value a) { return b_.call(name, {LLVMTypeOf(a)}, {a}); }

  Builder& b_;
  bool complete_;
  bool wide_vectors_;
  Value helpers_ = nullptr;
};

}  // namespace sinter::llvm
