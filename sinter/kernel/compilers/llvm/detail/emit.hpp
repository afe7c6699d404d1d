// SPDX-License-Identifier: MIT OR Apache-2.0
// From a kernel to LLVM's IR.
#pragma once

#include <cstdint>
#include <string>

#include <llvm-c/Core.h>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::llvm {

inline constexpr const char* function_name = "kernel";

struct EmitOptions {
  bool complete = true;       ///< the processor has fma, floor, ceil, trunc, round and f16
  bool wide_vectors = false;  ///< use registers of 512 bits
};

struct EmitResult {
  std::uint64_t scratch_bytes = 0;  ///< that the kernel needs
  bool has_loops = false;
  bool has_counted_loops = false;  ///< their lengths are known
};

/// Adds the kernel to `module` as a Function (plugin.hpp). Throws CompileError for what the
/// compiler doesn't take.
EmitResult emit(LLVMContextRef context, LLVMModuleRef module, const ir::Kernel& kernel,
                const EmitOptions& options);

}  // namespace sinter::llvm
