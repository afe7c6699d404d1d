// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernel table of the instruction set this file is compiled for.
#include "sinter/backend/portable/kernels/kernel_set.hpp"

#include "sinter/backend/portable/kernels/tables.hpp"

#define SINTER_STRING_(x) #x
#define SINTER_STRING(x) SINTER_STRING_(x)

namespace sinter::portable::SINTER_ISA {

const KernelSet& kernel_set() {
  static constexpr KernelSet set{
      .name = SINTER_STRING(SINTER_ISA),
      .math_f32 = math_f32,
      .math_f64 = math_f64,
      .math2_f32 = math2_f32,
      .math2_f64 = math2_f64,
      .gemm_f32_scratch_bytes = gemm_f32_scratch_bytes,
      .gemm_f32 = gemm_f32,
      .gemm_f64_scratch_bytes = gemm_f64_scratch_bytes,
      .gemm_f64 = gemm_f64,
      .gemm_i8_scratch_bytes = gemm_i8_scratch_bytes,
      .gemm_i8 = gemm_i8,
      .conv_plan = conv_plan,
      .conv_prepare = conv_prepare,
      .conv_task = conv_task,
      .conv_finish = conv_finish,
  };
  return set;
}

}  // namespace sinter::portable::SINTER_ISA
