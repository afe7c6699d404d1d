// SPDX-License-Identifier: MIT OR Apache-2.0
// Normalisation: layer, RMS, group, instance and batch norm, with one-pass gradients.
#pragma once

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// Normalisation of rows: the last `dims` dims together are one row.
struct RowNorm {
  int dims = 1;
  double eps = 1e-5;  ///< added to the variance (or mean square), inside the root
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dims", self.dims);
    visit("eps", self.eps);
  }
};

/// x[, weight[, bias]] -> (x - mean) / sqrt(var + eps) * weight + bias over each row; also each
/// row's mean and 1 / sqrt(var + eps), in at least f32. The variance is divided by n. Weight and
/// bias have the row's shape.
struct LayerNorm : RowNorm {
  static constexpr OpInfo info{.name = "layer_norm",
                               .domain = Domain::floating,
                               .saves = {.inputs = 3, .outputs = 6},
                               .untracked_outputs = 6,
                               .cheap = false,
                               .tolerance = 1e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

/// (g, x, mean, rstd[, weight]) -> the gradients of x and, with a weight, of weight and bias.
struct LayerNormGrad : RowNorm {
  static constexpr OpInfo info{
      .name = "layer_norm_grad", .domain = Domain::floating, .cheap = false, .tolerance = 2e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void decompose(const OpCall& call, Outputs& outputs);
};

/// x[, weight] -> x / sqrt(mean(x^2) + eps) * weight over each row; also each row's factor.
struct RmsNorm : RowNorm {
  static constexpr OpInfo info{.name = "rms_norm",
                               .domain = Domain::floating,
                               .saves = {.inputs = 3, .outputs = 2},
                               .untracked_outputs = 2,
                               .cheap = false,
                               .tolerance = 1e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

/// (g, x, factor[, weight]) -> the gradients of x and, with a weight, of the weight.
struct RmsNormGrad : RowNorm {
  static constexpr OpInfo info{
      .name = "rms_norm_grad", .domain = Domain::floating, .cheap = false, .tolerance = 2e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void decompose(const OpCall& call, Outputs& outputs);
};

/// Batch norm in training: x [N, C, ...], weight [C], bias [C] -> y and the batch's mean and
/// variance (divided by n) of each channel, in at least f32. ShapeError with one value per channel.
struct BatchNorm {
  static constexpr OpInfo info{.name = "batch_norm",
                               .domain = Domain::floating,
                               .saves = {.inputs = 3, .outputs = 6},
                               .untracked_outputs = 6,
                               .cheap = false,
                               .tolerance = 1e-5};
  double eps = 1e-5;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("eps", self.eps);
  }
};

/// (g, x, weight, mean, variance) -> the gradients of x, weight and bias.
struct BatchNormGrad {
  static constexpr OpInfo info{
      .name = "batch_norm_grad", .domain = Domain::floating, .cheap = false, .tolerance = 2e-5};
  double eps = 1e-5;
  static void infer(const OpCall& call, Specs& outputs);
  static void decompose(const OpCall& call, Outputs& outputs);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("eps", self.eps);
  }
};

/// See LayerNorm; weight and bias may be empty.
Value layer_norm(const Value& x, int dims = 1, const Value& weight = {}, const Value& bias = {},
                 double eps = 1e-5, SourceLoc where = SourceLoc::current());
/// See RmsNorm; weight may be empty and may broadcast against x.
Value rms_norm(const Value& x, int dims = 1, const Value& weight = {}, double eps = 1e-6,
               SourceLoc where = SourceLoc::current());
/// x [N, C, ...] normalised over `groups` groups of channels in each sample; weight and bias [C] or
/// empty.
Value group_norm(const Value& x, std::int64_t groups, const Value& weight = {},
                 const Value& bias = {}, double eps = 1e-5, SourceLoc where = SourceLoc::current());
/// Group norm of each channel alone.
Value instance_norm(const Value& x, const Value& weight = {}, const Value& bias = {},
                    double eps = 1e-5, SourceLoc where = SourceLoc::current());
/// y, mean and variance; see BatchNorm. Empty weight and bias count as 1 and 0.
Outputs batch_norm(const Value& x, const Value& weight, const Value& bias, double eps = 1e-5,
                   SourceLoc where = SourceLoc::current());
/// Batch norm with given statistics [C].
Value batch_norm_inference(const Value& x, const Value& mean, const Value& variance,
                           const Value& weight = {}, const Value& bias = {}, double eps = 1e-5,
                           SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
