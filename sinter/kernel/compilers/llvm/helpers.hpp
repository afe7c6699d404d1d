// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of functions that compiled code calls, filled from the standard library.
#pragma once

#include <cmath>

#include "sinter/kernel/compilers/llvm/plugin.hpp"

namespace sinter::llvm {

namespace detail {
using f64 = double(double);
using f64_f64 = double(double, double);
using f64_f64_f64 = double(double, double, double);
using f32_f32_f32 = float(float, float, float);
}  // namespace detail

/// One entry for each Helper.
inline const void* const* helper_table() {
  static const void* const table[] = {
#define SINTER_LLVM_HELPER(op, signature, function) \
  reinterpret_cast<const void*>(static_cast<detail::signature*>(&std::function)),
      SINTER_LLVM_HELPERS(SINTER_LLVM_HELPER)
#undef SINTER_LLVM_HELPER
  };
  return table;
}

}  // namespace sinter::llvm
