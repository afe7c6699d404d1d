// SPDX-License-Identifier: MIT OR Apache-2.0
// LLVM's builder with the types and conversions of kernels.
#pragma once

#include <initializer_list>
#include <string_view>

#include <llvm-c/Core.h>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::llvm {

using Value = LLVMValueRef;
using LlvmType = LLVMTypeRef;

/// Builds values. In registers f16 and bf16 are f32 that such a number equals, bool is one bit; in
/// buffers they are 16 bits and one byte.
class Builder {
 public:
  /// Without `has_f16`, the processor has no instructions that convert f16.
  Builder(LLVMContextRef context, LLVMModuleRef module, bool has_f16);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  [[nodiscard]] LLVMBuilderRef get() const { return builder_; }
  [[nodiscard]] LLVMContextRef context() const { return context_; }
  [[nodiscard]] LLVMModuleRef module() const { return module_; }

  // ---- types ----

  [[nodiscard]] LlvmType integer(unsigned bits) const {
    return LLVMIntTypeInContext(context_, bits);
  }
  [[nodiscard]] LlvmType f32() const { return LLVMFloatTypeInContext(context_); }
  [[nodiscard]] LlvmType f64() const { return LLVMDoubleTypeInContext(context_); }
  [[nodiscard]] LlvmType pointer() const { return LLVMPointerTypeInContext(context_, 0); }
  /// `element`, or a vector of it.
  [[nodiscard]] static LlvmType wide(LlvmType element, unsigned lanes) {
    return lanes == 1 ? element : LLVMVectorType(element, lanes);
  }
  [[nodiscard]] LlvmType in_register(DType dtype) const;
  [[nodiscard]] LlvmType in_register(ir::Type type) const {
    return wide(in_register(type.dtype), type.lanes);
  }
  [[nodiscard]] LlvmType in_buffer(DType dtype) const;
  /// As in registers, but for bool.
  [[nodiscard]] LlvmType in_local(DType dtype) const;
  /// The type of `like` with other elements.
  [[nodiscard]] static LlvmType with_element(Value like, LlvmType element);
  [[nodiscard]] static LlvmType element_of(Value value);
  [[nodiscard]] static unsigned lanes_of(Value value);

  // ---- constants ----

  [[nodiscard]] Value constant(DType dtype, std::uint64_t bits) const;
  [[nodiscard]] Value i64(std::uint64_t value) const { return LLVMConstInt(integer(64), value, 0); }
  /// An integer constant of the type (and lanes) of `like`.
  [[nodiscard]] Value same(Value like, std::uint64_t value) const;

  // ---- instructions ----

  Value call(std::string_view intrinsic, std::initializer_list<LlvmType> types,
             std::initializer_list<Value> args);
  Value compare(LLVMIntPredicate predicate, Value a, Value b) {
    return LLVMBuildICmp(builder_, predicate, a, b, "");
  }
  Value compare(LLVMRealPredicate predicate, Value a, Value b) {
    return LLVMBuildFCmp(builder_, predicate, a, b, "");
  }
  Value select(Value condition, Value a, Value b) {
    return LLVMBuildSelect(builder_, condition, a, b, "");
  }
  Value splat(Value value, unsigned lanes);
  Value lane(Value value, unsigned lane);
  Value bitcast(Value value, LlvmType element) {
    return LLVMBuildBitCast(builder_, value, with_element(value, element), "");
  }

  // ---- kinds of numbers ----

  /// An f32 as the f16 or bf16 next to it; others as they are.
  Value rounded(DType dtype, Value value);
  /// An f64 as the float next to it, rounded once.
  Value from_f64(DType dtype, Value value);
  Value to_f64(DType dtype, Value value);
  Value cast(DType from, DType to, Value value);
  Value to_buffer(DType dtype, Value value);
  Value from_buffer(DType dtype, Value value);
  Value bitcast(DType from, DType to, Value value);

 private:
  Value integer_cast(DType from, DType to, Value value);
  Value odd_f32(Value value);
  Value encode_f16(Value value);
  Value decode_f16(Value bits);

  LLVMContextRef context_;
  LLVMModuleRef module_;
  bool has_f16_;
  LLVMBuilderRef builder_;
};

}  // namespace sinter::llvm
