// SPDX-License-Identifier: MIT OR Apache-2.0
// Declarations of the kernels of one instruction set, as the table getter and the kernel files see
// them.
#pragma once

#include "sinter/backend/portable/kernels/kernel_set.hpp"
#include "sinter/backend/portable/kernels/simd.hpp"

namespace sinter::portable::SINTER_ISA {

void math_f32(MathFn f, const float* x, float* y, size_t n);
void math_f64(MathFn f, const double* x, double* y, size_t n);
void math2_f32(MathFn2 f, const float* x, const float* y, float* z, size_t n);
void math2_f64(MathFn2 f, const double* x, const double* y, double* z, size_t n);

size_t gemm_f32_scratch_bytes(int64_t m, int64_t n, int64_t k);
void gemm_f32(const Gemm<float>& g, void* scratch);
size_t gemm_f64_scratch_bytes(int64_t m, int64_t n, int64_t k);
void gemm_f64(const Gemm<double>& g, void* scratch);
size_t gemm_i8_scratch_bytes(int64_t m, int64_t n, int64_t k);
void gemm_i8(const GemmI8& g, void* scratch);

ConvPlan conv_plan(const ConvShape& s, ConvPass pass);
void conv_prepare(const ConvPlan& p, const ConvArgs& a, void* shared);
void conv_task(const ConvPlan& p, const ConvArgs& a, const void* shared, void* scratch,
               int64_t task);
void conv_finish(const ConvPlan& p, const ConvArgs& a, void* shared, int64_t part, int64_t parts);

// One for each group of elementwise ops in ops.def.
void fill_arithmetic(ElementwiseTable& table);
void fill_compare(ElementwiseTable& table);
void fill_bits(ElementwiseTable& table);
void fill_exponential(ElementwiseTable& table);
void fill_trigonometry(ElementwiseTable& table);
void fill_activation(ElementwiseTable& table);
void fill_convert(ConvertTable& table);
void fill_reduce(ReduceTable& table);
void fill_copy(CopyTable& table);

// One for float and one for double.
template <class T>
PoolKernels<T> pool_kernels();
template <class T>
SoftmaxKernels<T> softmax_kernels();
template <class T>
NormKernels<T> norm_kernels();
template <class T>
OptimKernels<T> optim_kernels();

const OrderKernels& order_kernels();
const RandomKernels& random_kernels();

/// The table of this instruction set.
const KernelSet& kernel_set();

}  // namespace sinter::portable::SINTER_ISA
