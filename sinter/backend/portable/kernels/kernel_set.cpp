// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernel table of the instruction set this file is compiled for.
#include "sinter/backend/portable/kernels/kernel_set.hpp"

#include "sinter/backend/portable/kernels/tables.hpp"

#define SINTER_STRING_(x) #x
#define SINTER_STRING(x) SINTER_STRING_(x)

namespace sinter::portable::SINTER_ISA {

namespace {

template <class Table, void (*... fill)(Table&)>
const Table& filled() {
  static const Table table = [] {
    Table t;
    (fill(t), ...);
    return t;
  }();
  return table;
}

template <class T>
const NnKernels<T>& nn_kernels() {
  static const NnKernels<T> kernels{.pool = pool_kernels<T>(),
                                    .softmax = softmax_kernels<T>(),
                                    .norm = norm_kernels<T>(),
                                    .optim = optim_kernels<T>()};
  return kernels;
}

}  // namespace

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
      .elementwise = filled<ElementwiseTable, fill_arithmetic, fill_compare, fill_bits,
                            fill_exponential, fill_trigonometry, fill_activation>,
      .convert = filled<ConvertTable, fill_convert>,
      .reduce = filled<ReduceTable, fill_reduce>,
      .copy = filled<CopyTable, fill_copy>,
      .nn_f32 = nn_kernels<float>,
      .nn_f64 = nn_kernels<double>,
      .order = order_kernels,
      .random = random_kernels,
  };
  return set;
}

}  // namespace sinter::portable::SINTER_ISA
