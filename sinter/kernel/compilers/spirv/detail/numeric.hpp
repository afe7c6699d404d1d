// SPDX-License-Identifier: MIT OR Apache-2.0
// Instructions on one lane, as docs/ir.md defines them. A value is held so: integers narrower than
// 32 bits extended to 32, f16 and bf16 as the f32 they equal, truth values as such.
#pragma once

#include <array>
#include <string>

#include "sinter/kernel/compilers/spirv/detail/module.hpp"
#include "sinter/kernel/compilers/spirv/spirv.hpp"

namespace sinter::spirv {

class Numeric {
 public:
  Numeric(Module& module, const Features& features, const ir::Kernel& kernel)
      : m_(module), features_(features), kernel_(kernel) {}

  /// The instruction that errors are about.
  void at(const ir::Inst& inst) { inst_ = &inst; }
  [[noreturn]] void refuse(const std::string& why) const;

  /// The type in which values of `dtype` are held.
  [[nodiscard]] Id type(DType dtype);
  [[nodiscard]] Id constant(DType dtype, std::uint64_t bits);

  /// A pure instruction whose result depends on its arguments' lanes alone.
  Id apply(ir::Op op, DType from, DType to, const std::array<Id, 3>& args);
  /// After arithmetic on what is held wider: wraps integers, rounds floats.
  Id narrow(DType dtype, Id x);

  /// A value as the unsigned integer of its size in memory (in 32 bits if narrower), and back.
  Id to_bits(DType dtype, Id x);
  Id from_bits(DType dtype, Id bits);

  Id is_nan(Id x) { return m_.test(Code::is_nan, {x}); }

 private:
  Id integer(ir::Op op, DType dtype, Id a, Id b);
  Id quotient(DType dtype, Id a, Id b);
  Id remainder(DType dtype, Id a, Id b);
  Id shift_left(Id a, Id b);
  Id shift_right(DType dtype, Id a, Id b);
  Id high_product(DType dtype, Id a, Id b);
  Id high_product_64(bool is_signed, Id a, Id b);
  Id floating(ir::Op op, DType dtype, const std::array<Id, 3>& args);
  Id elementary(ir::Op op, DType dtype, Id a, Id b);
  Id truth(ir::Op op, Id a, Id b);
  Id compare(ir::Op op, DType dtype, Id a, Id b);
  Id cast(DType from, DType to, Id x);
  Id float_to_float(DType from, DType to, Id x);
  Id float_to_integer(DType to, Id x);
  Id integer_to_integer(DType from, DType to, Id x);
  Id bound_of(Id type, double value);

  // helpers.cpp, remainder.cpp: functions of the module.
  Id fused(Id a, Id b, Id c);
  Id fused_by_f64(Id a, Id b, Id c);
  Id fused_f64(Id a, Id b, Id c);
  Id round_to_odd(Id sum, Id error);
  Id float_remainder(Id a, Id b);
  Id encode_half(Id x);
  Id decode_half(Id bits);
  Id encode_bfloat(Id x);
  Id to_odd_f32(Id x);

  Module& m_;
  const Features& features_;
  const ir::Kernel& kernel_;
  const ir::Inst* inst_ = nullptr;
};

}  // namespace sinter::spirv
