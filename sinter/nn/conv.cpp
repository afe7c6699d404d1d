// SPDX-License-Identifier: MIT OR Apache-2.0
// Cores of convolution layers.
#include "sinter/nn/conv.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/conv/conv.hpp"

namespace sinter::nn::detail {
namespace {

ops::ConvWindow window_of(const ConvGeometry& geometry) {
  return {geometry.stride, geometry.before, geometry.after, geometry.dilation, geometry.groups};
}

// Zeros that make the output ceil(input / stride) long, the odd one after.
void pad_same(ops::ConvWindow& window, const ConvGeometry& geometry, const Value& x) {
  const int spatial = geometry.kernel.rank();
  for (int i = 0; i < spatial && i + 2 < x.rank(); ++i) {
    const std::int64_t input = x.size(i + 2);
    const std::int64_t stride = geometry.stride[i];
    const std::int64_t outputs = (input + stride - 1) / stride;
    const std::int64_t reach = geometry.dilation[i] * (geometry.kernel[i] - 1) + 1;
    const std::int64_t total = std::max<std::int64_t>((outputs - 1) * stride + reach - input, 0);
    window.padding_before[i] = total / 2;
    window.padding_after[i] = total - total / 2;
  }
}

void check_channels(std::string_view name, std::int64_t channels, std::int64_t groups) {
  if (channels <= 0 || groups <= 0 || channels % groups != 0) {
    throw ArgumentError(fmt::format(
        "convolution: `{}` must be a positive multiple of `groups`, got {} channels in {} groups",
        name, channels, groups));
  }
}

Value bias_of(const ParamBase& bias) { return bias.empty() ? Value() : bias.value(); }

}  // namespace

ParamSpec conv_weight(std::int64_t in, std::int64_t out, const ConvGeometry& geometry,
                      const Initializer& init, bool transposed) {
  check_channels("in", in, geometry.groups);
  check_channels("out", out, geometry.groups);
  Shape shape = transposed ? Shape{in, out / geometry.groups} : Shape{out, in / geometry.groups};
  for (std::int64_t size : geometry.kernel) {
    if (size <= 0) {
      throw ArgumentError(fmt::format("convolution: kernel sizes must be 1 or more, got {}",
                                      geometry.kernel.str()));
    }
    shape.push_back(size);
  }
  return {.shape = shape, .initializer = init, .fans = conv_fans(shape)};
}

ParamSpec conv_bias(std::int64_t out, const ParamSpec& weight) {
  const bool shaped = weight.initializer.kind == Initializer::Kind::orthogonal;
  return {.shape = {out},
          .initializer = shaped ? Initializer::zeros() : weight.initializer,
          .fans = weight.fans};
}

Value conv(const Value& x, const ParamBase& weight, const ParamBase& bias,
           const ConvGeometry& geometry) {
  ops::ConvWindow window = window_of(geometry);
  if (geometry.same) {
    pad_same(window, geometry, x);
  }
  return ops::conv(x, weight.value(), bias_of(bias), window);
}

Value conv_transpose(const Value& x, const ParamBase& weight, const ParamBase& bias,
                     const ConvGeometry& geometry) {
  return ops::conv_transpose(x, weight.value(), bias_of(bias), window_of(geometry),
                             geometry.output_padding);
}

}  // namespace sinter::nn::detail
