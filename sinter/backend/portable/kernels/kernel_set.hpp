// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of portable kernels: one instance per instruction set, chosen at run time.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sinter/backend/portable/kernels/conv.hpp"
#include "sinter/backend/portable/kernels/elementwise.hpp"
#include "sinter/backend/portable/kernels/gemm.hpp"
#include "sinter/backend/portable/kernels/nn.hpp"
#include "sinter/backend/portable/kernels/order.hpp"
#include "sinter/backend/portable/kernels/random.hpp"
#include "sinter/backend/portable/kernels/reduce.hpp"

namespace sinter::portable {

/// Elementary functions reachable through the table.
enum class MathFn : uint8_t {
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  sqrt,
  rsqrt,
  abs,
  floor,
  ceil,
  trunc,
  round
};
enum class MathFn2 : uint8_t { pow, atan2, fmod, hypot, maximum, minimum, copysign };

/// Function pointers of one instruction set. All are pure C++ without heap, threads or exceptions.
struct KernelSet {
  const char* name;  ///< instruction set, e.g. "avx512"

  /// y[i] = f(x[i]) for i < n.
  void (*math_f32)(MathFn f, const float* x, float* y, size_t n);
  void (*math_f64)(MathFn f, const double* x, double* y, size_t n);
  /// z[i] = f(x[i], y[i]) for i < n.
  void (*math2_f32)(MathFn2 f, const float* x, const float* y, float* z, size_t n);
  void (*math2_f64)(MathFn2 f, const double* x, const double* y, double* z, size_t n);

  /// See gemm.hpp.
  size_t (*gemm_f32_scratch_bytes)(int64_t m, int64_t n, int64_t k);
  void (*gemm_f32)(const Gemm<float>& g, void* scratch);
  size_t (*gemm_f64_scratch_bytes)(int64_t m, int64_t n, int64_t k);
  void (*gemm_f64)(const Gemm<double>& g, void* scratch);
  size_t (*gemm_i8_scratch_bytes)(int64_t m, int64_t n, int64_t k);
  void (*gemm_i8)(const GemmI8& g, void* scratch);

  /// See conv.hpp.
  ConvPlan (*conv_plan)(const ConvShape& s, ConvPass pass);
  void (*conv_prepare)(const ConvPlan& p, const ConvArgs& a, void* shared);
  void (*conv_task)(const ConvPlan& p, const ConvArgs& a, const void* shared, void* scratch,
                    int64_t task);
  void (*conv_finish)(const ConvPlan& p, const ConvArgs& a, void* shared, int64_t part,
                      int64_t parts);

  /// Tables of many kernels, filled at the first call. See elementwise.hpp and reduce.hpp.
  const ElementwiseTable& (*elementwise)();
  const ConvertTable& (*convert)();
  const ReduceTable& (*reduce)();
  const CopyTable& (*copy)();

  /// See nn.hpp.
  const NnKernels<float>& (*nn_f32)();
  const NnKernels<double>& (*nn_f64)();

  /// See order.hpp and random.hpp.
  const OrderKernels& (*order)();
  const RandomKernels& (*random)();
};

}  // namespace sinter::portable
