// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolution over any number of spatial dims, its two gradients, and transposed convolution.
#pragma once

#include <string_view>

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// How the windows of a convolution lie on its input; one number for each spatial dim.
struct ConvWindow {
  Dims stride{};          ///< empty: 1
  Dims padding_before{};  ///< zeros added before the first element; empty: 0
  Dims padding_after{};   ///< zeros added after the last one; empty: as before it
  Dims dilation{};        ///< distance of a window's elements; empty: 1
  std::int64_t groups = 1;

  /// The same with all defaults filled in. ArgumentError when a list has another length than
  /// `spatial` or holds numbers out of range.
  ConvWindow resolved(int spatial, std::string_view op) const;
  /// Sizes of the output for an input and a kernel of these sizes; `*this` must be resolved. Input
  /// at the end that fills no window is dropped. ShapeError when a kernel is larger than its input.
  Shape output_size(const Shape& input, const Shape& kernel, std::string_view op) const;

  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("stride", self.stride);
    visit("padding_before", self.padding_before);
    visit("padding_after", self.padding_after);
    visit("dilation", self.dilation);
    visit("groups", self.groups);
  }
};

/// x [N, Ci, *S], weight [Co, Ci / groups, *K], optional bias [Co] -> [N, Co, *S']. Like PyTorch's,
/// this is a correlation: kernels are not flipped.
struct Conv : ConvWindow {
  static constexpr OpInfo info{.name = "conv",
                               .domain = Domain::floating,
                               .saves = {.inputs = 3},
                               .cheap = false,
                               .tolerance = 2e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

/// The gradient of a convolution's input: g [N, Co, *S'], weight -> [N, Ci, *size].
struct ConvInputGrad : ConvWindow {
  static constexpr OpInfo info{.name = "conv_input_grad",
                               .domain = Domain::floating,
                               .saves = {.inputs = 3},
                               .cheap = false,
                               .tolerance = 2e-5};
  Shape size;  ///< the input's spatial sizes
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    ConvWindow::fields(self, visit);
    visit("size", self.size);
  }
};

/// The gradient of a convolution's weight: x [N, Ci, *S], g [N, Co, *S'] -> [Co, Ci / groups,
/// *kernel].
struct ConvWeightGrad : ConvWindow {
  static constexpr OpInfo info{.name = "conv_weight_grad",
                               .domain = Domain::floating,
                               .saves = {.inputs = 3},
                               .cheap = false,
                               .tolerance = 5e-5};
  Shape kernel;  ///< the weight's spatial sizes
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    ConvWindow::fields(self, visit);
    visit("kernel", self.kernel);
  }
};

/// See Conv; `bias` may be empty.
Value conv(const Value& x, const Value& weight, const Value& bias = {},
           const ConvWindow& window = {}, SourceLoc where = SourceLoc::current());

/// See ConvInputGrad and ConvWeightGrad.
Value conv_input_grad(const Value& g, const Value& weight, const Shape& size,
                      const ConvWindow& window);
Value conv_weight_grad(const Value& x, const Value& g, const Shape& kernel,
                       const ConvWindow& window);

/// x [N, Ci, *S], weight [Ci, Co / groups, *K], optional bias [Co] -> [N, Co, *S'] with
/// S' = (S - 1) * stride - paddings + dilation * (K - 1) + 1 + output_padding: the map whose
/// gradient is the convolution of this window. `output_padding` (empty: 0) is less than stride or
/// dilation.
Value conv_transpose(const Value& x, const Value& weight, const Value& bias = {},
                     const ConvWindow& window = {}, const Dims& output_padding = {},
                     SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
