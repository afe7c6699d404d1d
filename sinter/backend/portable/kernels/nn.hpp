// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels of pooling, resizing, softmax, normalisation and optimizer steps, for float and double.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sinter::portable {

/// Pooling of planes of up to three dims; missing ones come first, with size 1.
struct PoolShape {
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
};

/// Windows of averages: output o along dim d is the mean of elements [begin[d][o], end[d][o]),
/// divided by the product of count[d][o].
struct AverageShape {
  int64_t in[3], out[3];
  const int32_t* begin[3];
  const int32_t* end[3];
  const int32_t* count[3];
};

/// Linear interpolation: output o along dim d lies between elements low[d][o] and high[d][o].
template <class T>
struct ResizeShape {
  int64_t in[3], out[3];
  const int32_t* low[3];
  const int32_t* high[3];
  const T* weight[3];  ///< share of `high`
};

template <class T>
struct PoolKernels {
  /// Maxima and their positions within the plane; -inf and -1 for windows of padding alone.
  void (*max)(const PoolShape& s, const T* x, T* y, int32_t* at, int64_t planes);
  /// dx = 0, then dx[at] += g; positions below 0 are skipped.
  void (*scatter)(const T* g, const int32_t* at, T* dx, int64_t planes, int64_t windows,
                  int64_t plane);
  void (*take)(const T* x, const int32_t* at, T* y, int64_t planes, int64_t windows, int64_t plane);
  /// `row` has room for in[2] elements.
  void (*average)(const AverageShape& s, const T* x, T* y, T* row, int64_t planes);
  void (*spread)(const AverageShape& s, const T* g, T* dx, T* row, int64_t planes);
  void (*resize)(const ResizeShape<T>& s, const T* x, T* y, T* row, int64_t planes);
  void (*resize_grad)(const ResizeShape<T>& s, const T* g, T* dx, T* row, int64_t planes);
};

/// Columns of a matrix [n, inner]: those from `first` on, `count` of them (at most `max_columns`).
inline constexpr int64_t max_columns = 256;

template <class T>
struct SoftmaxKernels {
  /// Softmax of dense rows of n, or its logarithm.
  void (*rows)(const T* x, T* y, int64_t rows, int64_t n, bool logarithm);
  void (*columns)(const T* x, T* y, int64_t n, int64_t inner, int64_t count, bool logarithm);
  void (*rows_grad)(const T* y, const T* g, T* dx, int64_t rows, int64_t n, bool logarithm);
  void (*columns_grad)(const T* y, const T* g, T* dx, int64_t n, int64_t inner, int64_t count,
                       bool logarithm);
  /// log(sum(exp(x))).
  void (*rows_logsumexp)(const T* x, T* out, int64_t rows, int64_t n);
  void (*columns_logsumexp)(const T* x, T* out, int64_t n, int64_t inner, int64_t count);
  /// dx = exp(x - lse) * scale - offset * weights; `weights` null: 1.
  void (*row_probability)(const T* x, T* dx, int64_t n, T lse, T scale, T offset, const T* weights);
  void (*columns_probability)(const T* x, T* dx, int64_t n, int64_t inner, int64_t count,
                              const T* lse, const T* scale, const T* offset, const T* weights);
};

template <class T>
struct NormKernels {
  /// Dense rows of n. `weight`, `bias` and `mean` may be null; without `centred` the mean is 0.
  void (*rows)(const T* x, const T* weight, const T* bias, T* y, T* mean, T* rstd, int64_t rows,
               int64_t n, double eps, bool centred);
  /// Adds to `dweight` and `dbias`, which may be null.
  void (*rows_grad)(const T* g, const T* x, const T* weight, const T* mean, const T* rstd, T* dx,
                    T* dweight, T* dbias, int64_t rows, int64_t n);

  /// One channel: `runs` runs of `run` dense elements, `stride` apart. Mean and variance by n.
  void (*channel_statistics)(const T* x, int64_t runs, int64_t run, int64_t stride, T* mean,
                             T* variance);
  /// y = (x - mean) * scale + shift.
  void (*channel_affine)(const T* x, T* y, int64_t runs, int64_t run, int64_t stride, T mean,
                         T scale, T shift);
  /// Sums of g and of g * (x - mean).
  void (*channel_sums)(const T* g, const T* x, int64_t runs, int64_t run, int64_t stride, T mean,
                       double* sum_g, double* sum_gx);
  /// dx = a * g + b * (x - mean) + c.
  void (*channel_grad)(const T* g, const T* x, T* dx, int64_t runs, int64_t run, int64_t stride,
                       T mean, T a, T b, T c);

  /// The same for channels that lie next to each other: `rows` rows of `count` channels (at most
  /// `max_columns`), `stride` apart.
  void (*columns_statistics)(const T* x, int64_t rows, int64_t stride, int64_t count, T* mean,
                             T* variance);
  void (*columns_affine)(const T* x, T* y, int64_t rows, int64_t stride, int64_t count,
                         const T* mean, const T* scale, const T* shift);
  void (*columns_sums)(const T* g, const T* x, int64_t rows, int64_t stride, int64_t count,
                       const T* mean, double* sum_g, double* sum_gx);
  void (*columns_grad)(const T* g, const T* x, T* dx, int64_t rows, int64_t stride, int64_t count,
                       const T* mean, const T* a, const T* b, const T* c);
};

template <class T>
struct SgdArgs {
  T lr, momentum, keep, weight_decay;  ///< keep: 1 - dampening
  bool use_momentum, nesterov, first;
};
template <class T>
struct AdamArgs {
  T lr, beta1, beta2, eps, weight_decay;
  T keep1, keep2;  ///< 1 - beta, rounded once: f32 loses 1e-5 of 1 - 0.999f
  T step_size;     ///< lr / (1 - beta1^step)
  T root_second;   ///< sqrt(1 - beta2^step)
  bool decoupled;
};

/// State is read from `*_in` and written to `*_out`, which may be the same.
template <class T>
struct OptimKernels {
  void (*sgd)(const SgdArgs<T>& a, const T* p_in, const T* g, const T* buffer_in, T* p_out,
              T* buffer_out, int64_t n);
  /// `most_in` null: no amsgrad.
  void (*adam)(const AdamArgs<T>& a, const T* p_in, const T* g, const T* m_in, const T* v_in,
               const T* most_in, T* p_out, T* m_out, T* v_out, T* most_out, int64_t n);
  double (*sum_squares)(const T* x, int64_t n);
  void (*scale)(T factor, const T* x, T* y, int64_t n);
};

template <class T>
struct NnKernels {
  PoolKernels<T> pool;
  SoftmaxKernels<T> softmax;
  NormKernels<T> norm;
  OptimKernels<T> optim;
};

}  // namespace sinter::portable
