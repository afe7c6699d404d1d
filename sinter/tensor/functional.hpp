// SPDX-License-Identifier: MIT OR Apache-2.0
// Neural-network operations as functions: what modules compute, for those who hold the weights
// themselves.
#pragma once

#include <cstdint>

#include "sinter/tensor/tensor.hpp"

namespace sinter::functional {

using ops::Reduction;

/// How windows of a convolution lie; one number for each spatial dim.
struct ConvOptions {
  Dims stride = {};         ///< empty: 1
  Dims padding = {};        ///< zeros before each dim, and after it; empty: 0
  Dims padding_after = {};  ///< zeros after each dim where they differ; empty: as before
  Dims dilation = {};       ///< empty: 1
  std::int64_t groups = 1;
};
struct ConvTransposeOptions {
  Dims stride = {};
  Dims padding = {};
  Dims dilation = {};
  Dims output_padding = {};  ///< empty: 0
  std::int64_t groups = 1;
};
/// How pooling windows lie.
struct PoolOptions {
  Dims kernel = {};
  Dims stride = {};    ///< empty: the kernel's sizes
  Dims padding = {};   ///< empty: 0
  Dims dilation = {};  ///< empty: 1; max pooling only
  bool ceil_mode = false;
  bool count_include_pad = true;  ///< average pooling only
};
struct InterpolateOptions {
  InterpolateMode mode = InterpolateMode::nearest;
  bool align_corners = false;
};
struct AttentionOptions {
  double scale = 0;  ///< 0: 1 / sqrt(width)
  bool is_causal = false;
};
struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;
  bool zero_if_empty = false;  ///< a mean over no targets is 0 instead of NaN
};

namespace detail {

Value linear(const Value& x, const Value& weight, const Value& bias, SourceLoc where);
Value embedding(const Value& weight, const Value& index, SourceLoc where);
Value conv(const Value& x, const Value& weight, const Value& bias, const ConvOptions& options,
           SourceLoc where);
Value conv_transpose(const Value& x, const Value& weight, const Value& bias,
                     const ConvTransposeOptions& options, SourceLoc where);
Value max_pool(const Value& x, const PoolOptions& options, SourceLoc where);
Outputs max_pool_with_indices(const Value& x, const PoolOptions& options, SourceLoc where);
Value avg_pool(const Value& x, const PoolOptions& options, SourceLoc where);
Value adaptive_avg_pool(const Value& x, const Dims& size, SourceLoc where);
Value interpolate(const Value& x, const Dims& size, const InterpolateOptions& options,
                  SourceLoc where);
Value layer_norm(const Value& x, int dims, const Value& weight, const Value& bias, double eps,
                 SourceLoc where);
Value rms_norm(const Value& x, int dims, const Value& weight, double eps, SourceLoc where);
Value group_norm(const Value& x, std::int64_t groups, const Value& weight, const Value& bias,
                 double eps, SourceLoc where);
Value attention(const Value& q, const Value& k, const Value& v, const Value& mask,
                const AttentionOptions& options, SourceLoc where);
Value dropout(const Value& x, double p, SourceLoc where);
Value cross_entropy(const Value& logits, const Value& targets, const CrossEntropyOptions& options,
                    const Value& weights, SourceLoc where);
enum class Loss : std::uint8_t { mse, l1, bce, bce_with_logits, kl_div };
Value loss(Loss which, const Value& x, const Value& y, Reduction reduction);

}  // namespace detail

/// x W + b: [.., in], W [in, out], b [out] or empty -> [.., out].
template <int D, class K>
[[nodiscard]] Tensor<D, K> linear(const Tensor<D, K>& x, const Tensor<2, K>& weight,
                                  const Tensor<1, K>& bias = {},
                                  SourceLoc where = SourceLoc::current()) {
  return Tensor<D, K>(detail::linear(x.value(), weight.value(), bias.value(), where));
}
/// Rows of `weight` [n, d] named by an index of any shape: [.., d]. IndexError outside [0, n).
template <int D>
[[nodiscard]] Tensor<D + 1> embedding(const Tensor<2>& weight, const Tensor<D, Int>& index,
                                      SourceLoc where = SourceLoc::current()) {
  return Tensor<D + 1>(detail::embedding(weight.value(), index.value(), where));
}

/// x [N, Ci, *S], weight [Co, Ci / groups, *K], bias [Co] or empty -> [N, Co, *S'] for 1 to 3
/// spatial dims. Kernels are not flipped. ShapeError for a kernel larger than its padded input.
template <int D>
  requires(D >= 3 && D <= 5)
[[nodiscard]] Tensor<D> conv(const Tensor<D>& x, const Tensor<D>& weight,
                             const Tensor<1>& bias = {}, const ConvOptions& options = {},
                             SourceLoc where = SourceLoc::current()) {
  return Tensor<D>(detail::conv(x.value(), weight.value(), bias.value(), options, where));
}
/// The map whose gradient is a convolution: x [N, Ci, *S], weight [Ci, Co / groups, *K] -> [N, Co,
/// *S'].
template <int D>
  requires(D >= 3 && D <= 5)
[[nodiscard]] Tensor<D> conv_transpose(const Tensor<D>& x, const Tensor<D>& weight,
                                       const Tensor<1>& bias = {},
                                       const ConvTransposeOptions& options = {},
                                       SourceLoc where = SourceLoc::current()) {
  return Tensor<D>(detail::conv_transpose(x.value(), weight.value(), bias.value(), options, where));
}
// Declared only: an inline one would have each user's compiler go through its tensor types.
#define SINTER_CONV(name, rank)                                                      \
  [[nodiscard]] Tensor<rank> conv##name(                                             \
      const Tensor<rank>& x, const Tensor<rank>& weight, const Tensor<1>& bias = {}, \
      const ConvOptions& options = {}, SourceLoc where = SourceLoc::current());      \
  [[nodiscard]] Tensor<rank> conv_transpose##name(                                   \
      const Tensor<rank>& x, const Tensor<rank>& weight, const Tensor<1>& bias = {}, \
      const ConvTransposeOptions& options = {}, SourceLoc where = SourceLoc::current());
SINTER_CONV(1d, 3)
SINTER_CONV(2d, 4)
SINTER_CONV(3d, 5)
#undef SINTER_CONV

/// Maxima, or means, of windows over the last `options.kernel.size()` dims; the dims before are a
/// batch. NaN is a maximum; padding never is.
template <int D>
[[nodiscard]] Tensor<D> max_pool(const Tensor<D>& x, const PoolOptions& options,
                                 SourceLoc where = SourceLoc::current()) {
  return Tensor<D>(detail::max_pool(x.value(), options, where));
}
/// The maxima, and the position of each within the flattened window dims of the input.
template <int D>
[[nodiscard]] WithIndices<D, Float> max_pool_with_indices(const Tensor<D>& x,
                                                          const PoolOptions& options,
                                                          SourceLoc where = SourceLoc::current()) {
  Outputs both = detail::max_pool_with_indices(x.value(), options, where);
  return {Tensor<D>(std::move(both[0])), Tensor<D, Int>(std::move(both[1]))};
}
template <int D>
[[nodiscard]] Tensor<D> avg_pool(const Tensor<D>& x, const PoolOptions& options,
                                 SourceLoc where = SourceLoc::current()) {
  return Tensor<D>(detail::avg_pool(x.value(), options, where));
}
/// Means of `size` windows of nearly equal length along each of the last dims.
template <int D>
[[nodiscard]] Tensor<D> adaptive_avg_pool(const Tensor<D>& x, const Dims& size,
                                          SourceLoc where = SourceLoc::current()) {
  return Tensor<D>(detail::adaptive_avg_pool(x.value(), size, where));
}
/// Resizes the last `size.size()` dims.
template <int D>
[[nodiscard]] Tensor<D> interpolate(const Tensor<D>& x, const Dims& size,
                                    const InterpolateOptions& options = {},
                                    SourceLoc where = SourceLoc::current()) {
  return Tensor<D>(detail::interpolate(x.value(), size, options, where));
}

/// (x - mean) / sqrt(var + eps) * weight + bias over the last W dims; weight and bias may be empty.
template <int D, int W = 1>
[[nodiscard]] Tensor<D> layer_norm(const Tensor<D>& x, const Tensor<W>& weight = {},
                                   const Tensor<W>& bias = {}, double eps = 1e-5,
                                   SourceLoc where = SourceLoc::current()) {
  return Tensor<D>(detail::layer_norm(x.value(), W, weight.value(), bias.value(), eps, where));
}
/// x / sqrt(mean(x^2) + eps) * weight over the last dim.
template <int D>
[[nodiscard]] Tensor<D> rms_norm(const Tensor<D>& x, const Tensor<1>& weight = {},
                                 double eps = 1e-6, SourceLoc where = SourceLoc::current()) {
  return Tensor<D>(detail::rms_norm(x.value(), 1, weight.value(), eps, where));
}
/// x [N, C, ..] normalised over groups of channels in each sample; weight and bias [C] may be
/// empty.
template <int D>
[[nodiscard]] Tensor<D> group_norm(const Tensor<D>& x, std::int64_t groups,
                                   const Tensor<1>& weight = {}, const Tensor<1>& bias = {},
                                   double eps = 1e-5, SourceLoc where = SourceLoc::current()) {
  return Tensor<D>(detail::group_norm(x.value(), groups, weight.value(), bias.value(), eps, where));
}

/// softmax(q k^T * scale + mask) v for q [.., H, S, D], k and v [.., Hk, T, D], H a multiple of Hk.
/// The mask broadcasts to [.., H, S, T]: bool (true: look) or floats that are added; it may be
/// empty. A row that sees no key gives zeros.
template <int D, class M = Bool>
[[nodiscard]] Tensor<D> attention(const Tensor<D>& q, const Tensor<D>& k, const Tensor<D>& v,
                                  const Tensor<D, M>& mask = {},
                                  const AttentionOptions& options = {},
                                  SourceLoc where = SourceLoc::current()) {
  return Tensor<D>(
      detail::attention(q.value(), k.value(), v.value(), mask.value(), options, where));
}
/// 0 with probability `p`, else x / (1 - p).
template <int D>
[[nodiscard]] Tensor<D> dropout(const Tensor<D>& x, double p,
                                SourceLoc where = SourceLoc::current()) {
  return Tensor<D>(detail::dropout(x.value(), p, where));
}

/// logits [N, C, ..] (or [C]), targets [N, ..] (or []) -> the loss; with Reduction::none in the
/// targets' shape, as a DynTensor. IndexError for a target outside the classes that is not
/// `ignore_index`.
template <int D>
[[nodiscard]] Tensor<0> cross_entropy(const Tensor<D>& logits,
                                      const Tensor<(D == 1 ? 0 : D - 1), Int>& targets,
                                      const CrossEntropyOptions& options = {},
                                      const Tensor<1>& weights = {},
                                      SourceLoc where = SourceLoc::current()) {
  return Tensor<0>(
      detail::cross_entropy(logits.value(), targets.value(), options, weights.value(), where));
}
/// The loss of each target.
template <int D>
[[nodiscard]] auto cross_entropy_each(const Tensor<D>& logits,
                                      const Tensor<(D == 1 ? 0 : D - 1), Int>& targets,
                                      CrossEntropyOptions options = {},
                                      const Tensor<1>& weights = {},
                                      SourceLoc where = SourceLoc::current()) {
  options.reduction = Reduction::none;
  return Tensor<(D == 1 ? 0 : D - 1)>(
      detail::cross_entropy(logits.value(), targets.value(), options, weights.value(), where));
}

/// Mean (or sum) of (x - y)^2, |x - y|, binary cross entropy of probabilities and of logits, and
/// y * (log y - x) for log-probabilities x.
#define SINTER_LOSS(name)                                                                \
  template <int D>                                                                       \
  [[nodiscard]] Tensor<0> name##_loss(const Tensor<D>& x, const Tensor<D>& y,            \
                                      Reduction reduction = Reduction::mean) {           \
    return Tensor<0>(detail::loss(detail::Loss::name, x.value(), y.value(), reduction)); \
  }
SINTER_LOSS(mse)
SINTER_LOSS(l1)
SINTER_LOSS(bce)
SINTER_LOSS(bce_with_logits)
SINTER_LOSS(kl_div)
#undef SINTER_LOSS

}  // namespace sinter::functional
