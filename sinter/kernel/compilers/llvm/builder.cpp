// SPDX-License-Identifier: MIT OR Apache-2.0
// Types, constants, and conversions between dtypes.
#include "sinter/kernel/compilers/llvm/detail/builder.hpp"

#include <vector>

#include "sinter/base/half.hpp"

namespace sinter::llvm {

namespace {

constexpr const char* unnamed = "";

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }
unsigned bits_of(DType dtype) { return 8 * static_cast<unsigned>(size_of(dtype)); }

}  // namespace

Builder::Builder(LLVMContextRef context, LLVMModuleRef module, bool has_f16)
    : context_(context),
      module_(module),
      has_f16_(has_f16),
      builder_(LLVMCreateBuilderInContext(context)) {}
Builder::~Builder() { LLVMDisposeBuilder(builder_); }

// ---- types ----

LlvmType Builder::in_register(DType dtype) const {
  if (dtype == DType::f64) {
    return f64();
  }
  if (is_floating(dtype)) {
    return f32();
  }
  return integer(dtype == DType::boolean ? 1 : bits_of(dtype));
}

LlvmType Builder::in_buffer(DType dtype) const {
  return is_half(dtype) || dtype == DType::boolean ? integer(bits_of(dtype)) : in_register(dtype);
}

LlvmType Builder::in_local(DType dtype) const {
  return dtype == DType::boolean ? integer(8) : in_register(dtype);
}

unsigned Builder::lanes_of(Value value) {
  const LlvmType type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}
LlvmType Builder::with_element(Value like, LlvmType element) {
  return wide(element, lanes_of(like));
}
LlvmType Builder::element_of(Value value) {
  const LlvmType type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

// ---- constants ----

Value Builder::constant(DType dtype, std::uint64_t bits) const {
  if (dtype == DType::f64) {
    return LLVMConstBitCast(i64(bits), f64());
  }
  if (is_floating(dtype)) {
    return LLVMConstBitCast(LLVMConstInt(integer(32), bits, 0), f32());
  }
  return LLVMConstInt(in_register(dtype), bits, 0);
}

Value Builder::same(Value like, std::uint64_t value) const {
  const unsigned lanes = lanes_of(like);
  const Value one = LLVMConstInt(element_of(like), value, 0);
  if (lanes == 1) {
    return one;
  }
  std::vector<Value> all(lanes, one);
  return LLVMConstVector(all.data(), lanes);
}

// ---- instructions ----

Value Builder::call(std::string_view intrinsic, std::initializer_list<LlvmType> types,
                    std::initializer_list<Value> args) {
  const unsigned id = LLVMLookupIntrinsicID(intrinsic.data(), intrinsic.size());
  std::vector<LlvmType> overload(types);
  std::vector<Value> values(args);
  const Value function = LLVMGetIntrinsicDeclaration(module_, id, overload.data(), overload.size());
  const LlvmType type = LLVMIntrinsicGetType(context_, id, overload.data(), overload.size());
  return LLVMBuildCall2(builder_, type, function, values.data(),
                        static_cast<unsigned>(values.size()), unnamed);
}

Value Builder::splat(Value value, unsigned lanes) {
  if (lanes == 1) {
    return value;
  }
  if (LLVMIsConstant(value)) {
    std::vector<Value> all(lanes, value);
    return LLVMConstVector(all.data(), lanes);
  }
  const LlvmType type = LLVMVectorType(LLVMTypeOf(value), lanes);
  const Value first = LLVMBuildInsertElement(builder_, LLVMGetPoison(type), value,
                                             LLVMConstInt(integer(32), 0, 0), unnamed);
  const Value zeros = LLVMConstNull(LLVMVectorType(integer(32), lanes));
  return LLVMBuildShuffleVector(builder_, first, LLVMGetPoison(type), zeros, unnamed);
}

Value Builder::lane(Value value, unsigned lane) {
  return lanes_of(value) == 1 ? value
                              : LLVMBuildExtractElement(
                                    builder_, value, LLVMConstInt(integer(32), lane, 0), unnamed);
}

// ---- kinds of numbers ----

/// f32 to the bits of f16 and back, where no instruction does it; the algorithms of base/half.hpp.
Value Builder::encode_f16(Value value) {
  const Value whole = bitcast(value, integer(32));
  const auto word = [&](std::uint64_t bits) { return same(whole, bits); };
  const auto add = [&](Value a, Value b) { return LLVMBuildAdd(builder_, a, b, unnamed); };
  const auto mask = [&](Value a, std::uint64_t bits) {
    return LLVMBuildAnd(builder_, a, word(bits), unnamed);
  };
  const auto right = [&](Value a, unsigned by) {
    return LLVMBuildLShr(builder_, a, word(by), unnamed);
  };
  constexpr std::uint32_t half_bits = 0x3f000000;  // of 0.5, whose last place is f16's least number
  const Value magnitude = mask(whole, 0x7fffffff);
  const Value rounded = right(add(add(magnitude, word(0xfff)), mask(right(magnitude, 13), 1)), 13);
  const Value normal = add(rounded, word(-(std::uint64_t{112} << 10)));
  const Value shifted =
      LLVMBuildFAdd(builder_, bitcast(magnitude, f32()), bitcast(word(half_bits), f32()), unnamed);
  const Value low = add(bitcast(shifted, integer(32)), word(-std::uint64_t{half_bits}));
  const Value is_low = compare(LLVMIntULT, magnitude, word(std::uint64_t{113} << 23));
  const Value is_large =
      compare(LLVMIntUGT, rounded, word((std::uint64_t{112} << 10) + F16Format::max_code));
  const Value is_nan = compare(LLVMIntUGT, magnitude, word(0x7f800000));
  Value code = select(is_large, word(F16Format::overflow_code), normal);
  code = select(is_nan, word(F16Format::nan_code), select(is_low, low, code));
  code = LLVMBuildOr(builder_, code, mask(right(whole, 16), 0x8000), unnamed);
  return LLVMBuildTrunc(builder_, code, with_element(value, integer(16)), unnamed);
}

Value Builder::decode_f16(Value bits) {
  const Value whole = LLVMBuildZExt(builder_, bits, with_element(bits, integer(32)), unnamed);
  const auto word = [&](std::uint64_t value) { return same(whole, value); };
  const auto left = [&](Value a, unsigned by) {
    return LLVMBuildShl(builder_, a, word(by), unnamed);
  };
  constexpr std::uint64_t rebias = std::uint64_t{112} << 23;
  constexpr std::uint64_t one = rebias + (std::uint64_t{1} << 23);
  const Value magnitude = LLVMBuildAnd(builder_, whole, word(0x7fff), unnamed);
  const Value wide = left(magnitude, 13);
  const Value with_one = bitcast(LLVMBuildAdd(builder_, wide, word(one), unnamed), f32());
  const Value low =
      bitcast(LLVMBuildFSub(builder_, with_one, bitcast(word(one), f32()), unnamed), integer(32));
  const Value is_special = compare(LLVMIntUGT, magnitude, word(F16Format::max_code));
  const Value normal =
      LLVMBuildAdd(builder_, wide, select(is_special, word(2 * rebias), word(rebias)), unnamed);
  const Value is_low = compare(LLVMIntULT, magnitude, word(1 << 10));
  const Value sign = left(LLVMBuildAnd(builder_, whole, word(0x8000), unnamed), 16);
  return bitcast(LLVMBuildOr(builder_, sign, select(is_low, low, normal), unnamed), f32());
}

Value Builder::rounded(DType dtype, Value value) {
  if (dtype == DType::f16 && !has_f16_) {
    return decode_f16(encode_f16(value));
  }
  if (dtype == DType::f16) {
    const LlvmType half = with_element(value, LLVMHalfTypeInContext(context_));
    const Value narrow = LLVMBuildFPTrunc(builder_, value, half, unnamed);
    return LLVMBuildFPExt(builder_, narrow, with_element(value, f32()), unnamed);
  }
  if (dtype != DType::bf16) {
    return value;
  }
  // Half of what is dropped is added, less one where that leaves an even number.
  const Value bits = bitcast(value, integer(32));
  const Value last = LLVMBuildAnd(builder_, LLVMBuildLShr(builder_, bits, same(bits, 16), unnamed),
                                  same(bits, 1), unnamed);
  const Value half = LLVMBuildAdd(builder_, last, same(bits, 0x7fff), unnamed);
  const Value up = LLVMBuildAdd(builder_, bits, half, unnamed);
  const Value quiet = LLVMBuildOr(builder_, bits, same(bits, 0x400000), unnamed);
  const Value all = select(compare(LLVMRealUNO, value, value), quiet, up);
  return bitcast(LLVMBuildAnd(builder_, all, same(all, 0xffff0000u), unnamed), f32());
}

/// An f64 as one of the two f32 around it: the odd one, if it is none itself. Rounded further, the
/// result is that of rounding once.
Value Builder::odd_f32(Value value) {
  const Value near = LLVMBuildFPTrunc(builder_, value, with_element(value, f32()), unnamed);
  const Value back = LLVMBuildFPExt(builder_, near, with_element(value, f64()), unnamed);
  const Value bits = bitcast(near, integer(32));
  const Value is_even =
      compare(LLVMIntEQ, LLVMBuildAnd(builder_, bits, same(bits, 1), unnamed), same(bits, 0));
  const LlvmType wide_type = LLVMTypeOf(value);
  const Value is_beyond = compare(LLVMRealOGT, call("llvm.fabs", {wide_type}, {back}),
                                  call("llvm.fabs", {wide_type}, {value}));
  const Value step = select(is_beyond, same(bits, ~std::uint64_t{0}), same(bits, 1));
  const Value moved = LLVMBuildAdd(builder_, bits, step, unnamed);
  const Value moves = LLVMBuildAnd(builder_, is_even, compare(LLVMRealONE, back, value), unnamed);
  return bitcast(select(moves, moved, bits), f32());
}

Value Builder::from_f64(DType dtype, Value value) {
  if (dtype == DType::f64) {
    return value;
  }
  return is_half(dtype) ? rounded(dtype, odd_f32(value))
                        : LLVMBuildFPTrunc(builder_, value, with_element(value, f32()), unnamed);
}

Value Builder::to_f64(DType dtype, Value value) {
  return dtype == DType::f64 ? value
                             : LLVMBuildFPExt(builder_, value, with_element(value, f64()), unnamed);
}

Value Builder::integer_cast(DType from, DType to, Value value) {
  const LlvmType type = with_element(value, in_register(to));
  const bool is_signed = !is_unsigned(from) && from != DType::boolean;
  if (to == DType::boolean) {
    return from == DType::boolean ? value : compare(LLVMIntNE, value, same(value, 0));
  }
  if (!is_floating(to)) {
    return LLVMBuildIntCast2(builder_, value, type, is_signed, unnamed);
  }
  return rounded(to, is_signed ? LLVMBuildSIToFP(builder_, value, type, unnamed)
                               : LLVMBuildUIToFP(builder_, value, type, unnamed));
}

Value Builder::cast(DType from, DType to, Value value) {
  if (!is_floating(from)) {
    return integer_cast(from, to, value);
  }
  if (to == DType::f64) {
    return to_f64(from, value);
  }
  if (is_floating(to)) {
    return from == DType::f64 ? from_f64(to, value) : from == to ? value : rounded(to, value);
  }
  if (to == DType::boolean) {
    return compare(LLVMRealUNE, value, LLVMConstNull(LLVMTypeOf(value)));
  }
  const LlvmType type = with_element(value, in_register(to));
  return call(is_unsigned(to) ? "llvm.fptoui.sat" : "llvm.fptosi.sat", {type, LLVMTypeOf(value)},
              {value});
}

Value Builder::to_buffer(DType dtype, Value value) {
  if (dtype == DType::boolean) {
    return LLVMBuildZExt(builder_, value, with_element(value, integer(8)), unnamed);
  }
  if (dtype == DType::f16 && !has_f16_) {
    return encode_f16(value);
  }
  if (dtype == DType::f16) {
    const LlvmType half = with_element(value, LLVMHalfTypeInContext(context_));
    return bitcast(LLVMBuildFPTrunc(builder_, value, half, unnamed), integer(16));
  }
  if (dtype == DType::bf16) {
    const Value bits = bitcast(value, integer(32));
    return LLVMBuildTrunc(builder_, LLVMBuildLShr(builder_, bits, same(bits, 16), unnamed),
                          with_element(value, integer(16)), unnamed);
  }
  return value;
}

Value Builder::from_buffer(DType dtype, Value value) {
  if (dtype == DType::boolean) {
    return compare(LLVMIntNE, value, same(value, 0));
  }
  if (dtype == DType::f16 && !has_f16_) {
    return decode_f16(value);
  }
  if (dtype == DType::f16) {
    return LLVMBuildFPExt(builder_, bitcast(value, LLVMHalfTypeInContext(context_)),
                          with_element(value, f32()), unnamed);
  }
  if (dtype == DType::bf16) {
    const Value bits = LLVMBuildZExt(builder_, value, with_element(value, integer(32)), unnamed);
    return bitcast(LLVMBuildShl(builder_, bits, same(bits, 16), unnamed), f32());
  }
  return value;
}

Value Builder::bitcast(DType from, DType to, Value value) {
  return from_buffer(to, bitcast(to_buffer(from, value), in_buffer(to)));
}

}  // namespace sinter::llvm
