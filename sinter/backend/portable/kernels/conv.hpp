// SPDX-License-Identifier: MIT OR Apache-2.0
// f32 convolution on raw NCHW pointers: shape, plan, and the three passes as independent tasks.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sinter::portable {

/// x[n, ci, h, w] * weight[co, ci / groups, kh, kw] → y[n, co, oh, ow]; all contiguous.
///
/// Padding is zeros: `top`/`left` before, `bottom`/`right` after (used only for the output size). A
/// 1-d convolution has h = kh = 1.
struct ConvShape {
  int64_t n = 0, ci = 0, h = 1, w = 1;
  int64_t co = 0, kh = 1, kw = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t groups = 1;

  /// Output height and width; trailing input that fills no window is dropped.
  int64_t oh() const { return (h + top + bottom - (kh - 1) * dilation_h - 1) / stride_h + 1; }
  int64_t ow() const { return (w + left + right - (kw - 1) * dilation_w - 1) / stride_w + 1; }
};

enum class ConvPass : uint8_t { forward, data_gradient, weight_gradient };

/// Operands of a pass; the output of the pass is overwritten.
///   forward:          x, weight, bias (null for none) → y
///   data_gradient:    y (its gradient), weight        → x
///   weight_gradient:  x, y (its gradient)             → weight
struct ConvArgs {
  const float* x = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  const float* y = nullptr;
  float* out = nullptr;
};

/// How a pass runs: call `conv_prepare` once, then `conv_task` for every task in [0, tasks) on any
/// threads, then, when `parts` > 0, `conv_finish` for every part in [0, parts). The caller owns
/// `shared_bytes` (one buffer for the pass) and `scratch_bytes` (one buffer per thread), 64-byte
/// aligned.
struct ConvPlan {
  ConvShape shape;
  ConvPass pass = ConvPass::forward;
  int64_t tasks = 0;
  int64_t parts = 0;
  size_t shared_bytes = 0;
  size_t scratch_bytes = 0;
};

}  // namespace sinter::portable
