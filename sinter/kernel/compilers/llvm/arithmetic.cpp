// SPDX-License-Identifier: MIT OR Apache-2.0
// Arithmetic by the rules of docs/ir.md.
#include "sinter/kernel/compilers/llvm/detail/arithmetic.hpp"

#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sinter/kernel/compile_error.hpp"

namespace sinter::llvm {

namespace {

using ir::Op;
constexpr const char* unnamed = "";

/// The helper of an instruction's own name.
std::optional<Helper> helper_of(Op op) {
  static constexpr std::string_view names[] = {
#define SINTER_LLVM_HELPER(op, signature, function) #op,
      SINTER_LLVM_HELPERS(SINTER_LLVM_HELPER)
#undef SINTER_LLVM_HELPER
  };
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (names[i] == ir::traits_of(op).name) {
      return static_cast<Helper>(i);
    }
  }
  return std::nullopt;
}

const char* rounding_intrinsic(Op op) {
  switch (op) {
    case Op::floor:
      return "llvm.floor";
    case Op::ceil:
      return "llvm.ceil";
    case Op::trunc:
      return "llvm.trunc";
    case Op::round:
      return "llvm.rint";
    default:
      return nullptr;
  }
}

[[noreturn]] void unknown(Op op, DType dtype) {
  throw CompileError(fmt::format("{} of {}: the CPU compiler doesn't know this instruction",
                                 ir::traits_of(op).name, name_of(dtype)));
}

}  // namespace

Value Arithmetic::build(const ir::Inst& inst, DType from, const Args& args) {
  const auto [a, b, c] = args;
  const unsigned place = static_cast<unsigned>(inst.payload);
  switch (inst.op) {
    case Op::select:
      return b_.select(a, b, c);
    case Op::cast:
      return b_.cast(from, inst.type.dtype, a);
    case Op::bitcast:
      return b_.bitcast(from, inst.type.dtype, a);
    case Op::splat:
      return b_.splat(a, inst.type.lanes);
    case Op::extract:
      return b_.lane(a, place);
    case Op::insert:
      return Builder::lanes_of(a) == 1
                 ? b
                 : LLVMBuildInsertElement(b_.get(), a, b, LLVMConstInt(b_.integer(32), place, 0),
                                          unnamed);
    default:
      break;
  }
  if (ir::traits_of(inst.op).rule == ir::TypeRule::compare) {
    return compared(inst.op, from, a, b);
  }
  return is_floating(from) ? on_floats(inst.op, from, args) : on_integers(inst.op, from, a, b);
}

Value Arithmetic::binary(Op op, DType dtype, Value a, Value b) {
  return is_floating(dtype) ? on_floats(op, dtype, {a, b, nullptr}) : on_integers(op, dtype, a, b);
}

// ---- floats ----

Value Arithmetic::on_floats(Op op, DType dtype, const Args& args) {
  const LLVMBuilderRef builder = b_.get();
  const auto [a, b, c] = args;
  switch (op) {
    case Op::neg:
      return LLVMBuildFNeg(builder, a, unnamed);
    case Op::abs:
      return intrinsic("llvm.fabs", a);
    case Op::add:
      return b_.rounded(dtype, LLVMBuildFAdd(builder, a, b, unnamed));
    case Op::sub:
      return b_.rounded(dtype, LLVMBuildFSub(builder, a, b, unnamed));
    case Op::mul:
      return b_.rounded(dtype, LLVMBuildFMul(builder, a, b, unnamed));
    case Op::div:
      return b_.rounded(dtype, LLVMBuildFDiv(builder, a, b, unnamed));
    case Op::min:
    case Op::max:
      return smaller_or_larger(op, dtype, a, b);
    case Op::fma:
      return fused(dtype, args);
    case Op::sqrt:
      return b_.rounded(dtype, intrinsic("llvm.sqrt", a));
    case Op::rsqrt: {
      const Value one = b_.splat(LLVMConstReal(Builder::element_of(a), 1), Builder::lanes_of(a));
      return b_.rounded(dtype, LLVMBuildFDiv(builder, one, intrinsic("llvm.sqrt", a), unnamed));
    }
    case Op::copysign:
      return with_sign(dtype, a, b);
    default:
      break;
  }
  if (const char* name = rounding_intrinsic(op); name != nullptr && complete_) {
    return intrinsic(name, a);
  }
  const std::optional<Helper> helper = helper_of(op);
  if (!helper) {
    unknown(op, dtype);
  }
  return helped(*helper, dtype, args, ir::traits_of(op).arguments);
}

Value Arithmetic::smaller_or_larger(Op op, DType dtype, Value a, Value b) {
  const bool is_min = op == Op::min;
  if (!is_floating(dtype)) {
    const bool is_signed = !is_unsigned(dtype);
    const char* name =
        is_min ? (is_signed ? "llvm.smin" : "llvm.umin") : (is_signed ? "llvm.smax" : "llvm.umax");
    return b_.call(name, {LLVMTypeOf(a)}, {a, b});
  }
  // The comparison is false for NaN, so that b's is taken already.
  const Value chosen = b_.select(b_.compare(is_min ? LLVMRealOLT : LLVMRealOGT, a, b), a, b);
  return b_.select(b_.compare(LLVMRealUNO, a, a), a, chosen);
}

Value Arithmetic::fused(DType dtype, const Args& args) {
  if (complete_) {
    return b_.rounded(dtype,
                      b_.call("llvm.fma", {LLVMTypeOf(args[0])}, {args[0], args[1], args[2]}));
  }
  return helped(dtype == DType::f64 ? Helper::fma : Helper::fma_f32, dtype, args, 3);
}

Value Arithmetic::helped(Helper helper, DType dtype, const Args& args, unsigned count) {
  const bool narrow = helper == Helper::fma_f32;
  const unsigned lanes = Builder::lanes_of(args[0]);
  Args wide = args;
  for (unsigned i = 0; i < count && !narrow; ++i) {
    wide[i] = b_.to_f64(dtype, args[i]);
  }
  const LlvmType number = narrow ? b_.f32() : b_.f64();
  Value result = lanes == 1 ? nullptr : LLVMGetPoison(LLVMVectorType(number, lanes));
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value of_lane[3];
    for (unsigned i = 0; i < count; ++i) {
      of_lane[i] = b_.lane(wide[i], lane);
    }
    const Value one = call_helper(helper, number, of_lane, count);
    result = lanes == 1 ? one
                        : LLVMBuildInsertElement(b_.get(), result, one,
                                                 LLVMConstInt(b_.integer(32), lane, 0), unnamed);
  }
  return narrow ? b_.rounded(dtype, result) : b_.from_f64(dtype, result);
}

Value Arithmetic::call_helper(Helper helper, LlvmType number, Value* args, unsigned count) {
  Value place = b_.i64(static_cast<std::uint64_t>(helper));
  const Value slot = LLVMBuildInBoundsGEP2(b_.get(), b_.pointer(), helpers_, &place, 1, unnamed);
  const Value function = LLVMBuildLoad2(b_.get(), b_.pointer(), slot, unnamed);
  const LLVMContextRef context = b_.context();
  LLVMSetMetadata(function, LLVMGetMDKindIDInContext(context, "invariant.load", 14),
                  LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, nullptr, 0)));
  LlvmType numbers[3] = {number, number, number};
  const LlvmType type = LLVMFunctionType(number, numbers, count, 0);
  const Value result = LLVMBuildCall2(b_.get(), type, function, args, count, unnamed);
  for (const std::string_view name : {"memory", "nounwind", "willreturn"}) {
    const unsigned kind = LLVMGetEnumAttributeKindForName(name.data(), name.size());
    LLVMAddCallSiteAttribute(result, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(context, kind, 0));
  }
  return result;
}

// ---- integers and truth values ----

Value Arithmetic::on_integers(Op op, DType dtype, Value a, Value b) {
  const LLVMBuilderRef builder = b_.get();
  const bool is_signed = !is_unsigned(dtype);
  switch (op) {
    case Op::neg:
      return LLVMBuildNeg(builder, a, unnamed);
    case Op::abs:
      return is_signed
                 ? b_.call("llvm.abs", {LLVMTypeOf(a)}, {a, LLVMConstInt(b_.integer(1), 0, 0)})
                 : a;
    case Op::add:
      return LLVMBuildAdd(builder, a, b, unnamed);
    case Op::sub:
      return LLVMBuildSub(builder, a, b, unnamed);
    case Op::mul:
      return LLVMBuildMul(builder, a, b, unnamed);
    case Op::div:
    case Op::rem:
      return division(op, is_signed, a, b);
    case Op::min:
    case Op::max:
      return smaller_or_larger(op, dtype, a, b);
    case Op::bit_and:
      return LLVMBuildAnd(builder, a, b, unnamed);
    case Op::bit_or:
      return joined(a, b);
    case Op::bit_xor:
      return LLVMBuildXor(builder, a, b, unnamed);
    case Op::bit_not:
      return LLVMBuildNot(builder, a, unnamed);
    case Op::shift_left:
    case Op::shift_right:
      return shift(op, is_signed, a, b);
    case Op::mul_high:
      return high_product(is_signed, a, b);
    default:
      unknown(op, dtype);
  }
}

/// a | b. Up to version 21 LLVM swaps operands of a masked AVX-512 bit selection, which it makes of
/// (x & m) | (y & ~m), without changing its table (LLVM's bug 157929): one side is hidden.
Value Arithmetic::joined(Value a, Value b) {
  const unsigned bits = LLVMGetIntTypeWidth(Builder::element_of(b));
  if (wide_vectors_ && Builder::lanes_of(b) > 1 && bits >= 32 && !LLVMIsConstant(b)) {
    const Value shown = b_.bitcast(b, bits == 32 ? b_.f32() : b_.f64());
    b = b_.bitcast(b_.call("llvm.arithmetic.fence", {LLVMTypeOf(shown)}, {shown}),
                   b_.integer(bits));
  }
  return LLVMBuildOr(b_.get(), a, b, unnamed);
}

Value Arithmetic::with_sign(DType dtype, Value size, Value sign) {
  if (!wide_vectors_ || Builder::lanes_of(size) == 1) {
    return b_.call("llvm.copysign", {LLVMTypeOf(size)}, {size, sign});
  }
  const unsigned bits = dtype == DType::f64 ? 64 : 32;
  const std::uint64_t mask = std::uint64_t{1} << (bits - 1);
  const Value a = b_.bitcast(size, b_.integer(bits));
  const Value b = b_.bitcast(sign, b_.integer(bits));
  const Value joint = joined(LLVMBuildAnd(b_.get(), a, b_.same(a, mask - 1), unnamed),
                             LLVMBuildAnd(b_.get(), b, b_.same(b, mask), unnamed));
  return b_.bitcast(joint, Builder::element_of(size));
}

Value Arithmetic::division(Op op, bool is_signed, Value a, Value b) {
  const LLVMBuilderRef builder = b_.get();
  const Value zero = b_.same(b, 0);
  const Value by_zero = b_.compare(LLVMIntEQ, b, zero);
  const bool wants_quotient = op == Op::div;
  if (!is_signed) {
    const Value safe = b_.select(by_zero, b_.same(b, 1), b);
    const Value result = wants_quotient ? LLVMBuildUDiv(builder, a, safe, unnamed)
                                        : LLVMBuildURem(builder, a, safe, unnamed);
    return b_.select(by_zero, zero, result);
  }
  // The least number by -1 would trap.
  const Value by_minus_one = b_.compare(LLVMIntEQ, b, b_.same(b, ~std::uint64_t{0}));
  const Value special = LLVMBuildOr(builder, by_zero, by_minus_one, unnamed);
  const Value safe = b_.select(special, b_.same(b, 1), b);
  if (!wants_quotient) {
    return b_.select(special, zero, LLVMBuildSRem(builder, a, safe, unnamed));
  }
  const Value result = LLVMBuildSDiv(builder, a, safe, unnamed);
  const Value negated = LLVMBuildNeg(builder, a, unnamed);
  return b_.select(by_zero, zero, b_.select(by_minus_one, negated, result));
}

Value Arithmetic::shift(Op op, bool is_signed, Value a, Value b) {
  const LLVMBuilderRef builder = b_.get();
  const unsigned width = LLVMGetIntTypeWidth(Builder::element_of(a));
  if (op == Op::shift_right && is_signed) {
    const Value by = b_.call("llvm.umin", {LLVMTypeOf(b)}, {b, b_.same(b, width - 1)});
    return LLVMBuildAShr(builder, a, by, unnamed);
  }
  const Value fits = b_.compare(LLVMIntULT, b, b_.same(b, width));
  const Value by = b_.select(fits, b, b_.same(b, 0));
  const Value result = op == Op::shift_left ? LLVMBuildShl(builder, a, by, unnamed)
                                            : LLVMBuildLShr(builder, a, by, unnamed);
  return b_.select(fits, result, b_.same(a, 0));
}

Value Arithmetic::high_product(bool is_signed, Value a, Value b) {
  const LLVMBuilderRef builder = b_.get();
  const unsigned width = LLVMGetIntTypeWidth(Builder::element_of(a));
  const LlvmType wide = Builder::with_element(a, b_.integer(2 * width));
  const auto widened = [&](Value x) {
    return is_signed ? LLVMBuildSExt(builder, x, wide, unnamed)
                     : LLVMBuildZExt(builder, x, wide, unnamed);
  };
  const Value product = LLVMBuildMul(builder, widened(a), widened(b), unnamed);
  const Value high = LLVMBuildLShr(builder, product, b_.same(product, width), unnamed);
  return LLVMBuildTrunc(builder, high, LLVMTypeOf(a), unnamed);
}

Value Arithmetic::compared(Op op, DType dtype, Value a, Value b) {
  const bool is_float = is_floating(dtype);
  const bool is_signed = !is_unsigned(dtype) && dtype != DType::boolean;
  const auto choose = [&](LLVMRealPredicate real, LLVMIntPredicate with_sign,
                          LLVMIntPredicate without) {
    return is_float ? b_.compare(real, a, b) : b_.compare(is_signed ? with_sign : without, a, b);
  };
  switch (op) {
    case Op::eq:
      return choose(LLVMRealOEQ, LLVMIntEQ, LLVMIntEQ);
    case Op::ne:
      return choose(LLVMRealUNE, LLVMIntNE, LLVMIntNE);
    case Op::lt:
      return choose(LLVMRealOLT, LLVMIntSLT, LLVMIntULT);
    case Op::le:
      return choose(LLVMRealOLE, LLVMIntSLE, LLVMIntULE);
    case Op::gt:
      return choose(LLVMRealOGT, LLVMIntSGT, LLVMIntUGT);
    case Op::ge:
      return choose(LLVMRealOGE, LLVMIntSGE, LLVMIntUGE);
    default:
      unknown(op, dtype);
  }
}

}  // namespace sinter::llvm
