// SPDX-License-Identifier: MIT OR Apache-2.0
// Neural-network operations: options become windows and attributes.
#include "sinter/tensor/functional.hpp"

#include "sinter/ops/attention/attention.hpp"
#include "sinter/ops/conv/conv.hpp"
#include "sinter/ops/index/index.hpp"
#include "sinter/ops/interpolate/interpolate.hpp"
#include "sinter/ops/loss/loss.hpp"
#include "sinter/ops/norm/norm.hpp"
#include "sinter/ops/pool/pool.hpp"
#include "sinter/ops/random/random.hpp"

namespace sinter::functional::detail {
namespace {

ops::PoolWindow window_of(const PoolOptions& options) {
  ops::PoolWindow window;
  window.kernel = options.kernel;
  window.stride = options.stride;
  window.padding_before = options.padding;
  window.dilation = options.dilation;
  window.ceil_mode = options.ceil_mode;
  return window;
}

}  // namespace

Value linear(const Value& x, const Value& weight, const Value& bias, SourceLoc where) {
  // A vector is one row; other dims before the last are rows too, so that one product serves them
  // all.
  const Value rows = x.rank() == 1 ? ops::unsqueeze(x, 0) : x;
  Value y = ops::call(OpCode::matmul, {rows, weight}, where);
  if (bias) {
    y = ops::add(y, bias, where);
  }
  return x.rank() == 1 ? ops::squeeze(y, 0) : y;
}
Value embedding(const Value& weight, const Value& index, SourceLoc where) {
  return ops::embedding(weight, index, where);
}

Value conv(const Value& x, const Value& weight, const Value& bias, const ConvOptions& options,
           SourceLoc where) {
  ops::ConvWindow window;
  window.stride = options.stride;
  window.padding_before = options.padding;
  window.padding_after = options.padding_after;
  window.dilation = options.dilation;
  window.groups = options.groups;
  return ops::conv(x, weight, bias, window, where);
}
Value conv_transpose(const Value& x, const Value& weight, const Value& bias,
                     const ConvTransposeOptions& options, SourceLoc where) {
  ops::ConvWindow window;
  window.stride = options.stride;
  window.padding_before = options.padding;
  window.dilation = options.dilation;
  window.groups = options.groups;
  return ops::conv_transpose(x, weight, bias, window, options.output_padding, where);
}

Value max_pool(const Value& x, const PoolOptions& options, SourceLoc where) {
  return ops::max_pool(x, window_of(options), where);
}
Outputs max_pool_with_indices(const Value& x, const PoolOptions& options, SourceLoc where) {
  return ops::max_pool_with_indices(x, window_of(options), where);
}
Value avg_pool(const Value& x, const PoolOptions& options, SourceLoc where) {
  return ops::avg_pool(x, window_of(options), options.count_include_pad, where);
}
Value adaptive_avg_pool(const Value& x, const Dims& size, SourceLoc where) {
  return ops::adaptive_avg_pool(x, size, where);
}
Value interpolate(const Value& x, const Dims& size, const InterpolateOptions& options,
                  SourceLoc where) {
  return ops::interpolate(x, size, options.mode, options.align_corners, where);
}

Value layer_norm(const Value& x, int dims, const Value& weight, const Value& bias, double eps,
                 SourceLoc where) {
  return ops::layer_norm(x, dims, weight, bias, eps, where);
}
Value rms_norm(const Value& x, int dims, const Value& weight, double eps, SourceLoc where) {
  return ops::rms_norm(x, dims, weight, eps, where);
}
Value group_norm(const Value& x, std::int64_t groups, const Value& weight, const Value& bias,
                 double eps, SourceLoc where) {
  return ops::group_norm(x, groups, weight, bias, eps, where);
}

Value attention(const Value& q, const Value& k, const Value& v, const Value& mask,
                const AttentionOptions& options, SourceLoc where) {
  ops::Attention op;
  op.scale = options.scale;
  op.is_causal = options.is_causal;
  return ops::attention(q, k, v, mask, op, where);
}
Value dropout(const Value& x, double p, SourceLoc where) { return ops::dropout(x, p, where); }

Value cross_entropy(const Value& logits, const Value& targets, const CrossEntropyOptions& options,
                    const Value& weights, SourceLoc where) {
  ops::CrossEntropyOptions op;
  op.ignore_index = options.ignore_index;
  op.label_smoothing = options.label_smoothing;
  op.reduction = options.reduction;
  op.zero_if_empty = options.zero_if_empty;
  return ops::cross_entropy(logits, targets, op, weights, where);
}

Value loss(Loss which, const Value& x, const Value& y, Reduction reduction) {
  switch (which) {
    case Loss::mse:
      return ops::mse_loss(x, y, reduction);
    case Loss::l1:
      return ops::l1_loss(x, y, reduction);
    case Loss::bce:
      return ops::bce_loss(x, y, reduction);
    case Loss::bce_with_logits:
      return ops::bce_with_logits_loss(x, y, reduction);
    case Loss::kl_div:
      break;
  }
  return ops::kl_div_loss(x, y, reduction);
}

}  // namespace sinter::functional::detail

namespace sinter::functional {

#define SINTER_CONV(name, rank)                                                                 \
  Tensor<rank> conv##name(const Tensor<rank>& x, const Tensor<rank>& weight,                    \
                          const Tensor<1>& bias, const ConvOptions& options, SourceLoc where) { \
    return conv(x, weight, bias, options, where);                                               \
  }                                                                                             \
  Tensor<rank> conv_transpose##name(const Tensor<rank>& x, const Tensor<rank>& weight,          \
                                    const Tensor<1>& bias, const ConvTransposeOptions& options, \
                                    SourceLoc where) {                                          \
    return conv_transpose(x, weight, bias, options, where);                                     \
  }
SINTER_CONV(1d, 3)
SINTER_CONV(2d, 4)
SINTER_CONV(3d, 5)
#undef SINTER_CONV

}  // namespace sinter::functional
