// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolution layers, and their transposes.
#pragma once

#include <array>

#include "sinter/nn/param.hpp"

namespace sinter::nn {

/// `valid`: none. `same`: as many zeros as make the output ceil(input / stride) long; an odd one
/// comes last. `amounts`: `before` and `after` each dim.
enum class PaddingKind : std::uint8_t { valid, same, amounts };

/// Zeros around the last `N` dims.
template <int N>
struct Padding {
  using Sizes = std::array<std::int64_t, N>;
  PaddingKind kind = PaddingKind::valid;
  Sizes before = {};
  Sizes after = {};

  static constexpr Padding valid() { return {}; }
  static constexpr Padding same() { return {.kind = PaddingKind::same}; }
  static constexpr Padding amounts(Sizes both) {
    return {.kind = PaddingKind::amounts, .before = both, .after = both};
  }
  static constexpr Padding amounts(Sizes before, Sizes after) {
    return {.kind = PaddingKind::amounts, .before = before, .after = after};
  }
};
using Padding1d = Padding<1>;
using Padding2d = Padding<2>;
using Padding3d = Padding<3>;

template <int N>
constexpr std::array<std::int64_t, N> filled(std::int64_t value) {
  std::array<std::int64_t, N> sizes{};
  for (std::int64_t& size : sizes) {
    size = value;
  }
  return sizes;
}

template <int N>
struct ConvConfig {
  std::int64_t in = 0;  ///< channels
  std::int64_t out = 0;
  std::array<std::int64_t, N> kernel = filled<N>(3);
  std::array<std::int64_t, N> stride = filled<N>(1);
  std::array<std::int64_t, N> dilation = filled<N>(1);
  std::int64_t groups = 1;
  Padding<N> padding = {};
  bool bias = true;
  Initializer init = Initializer::fan_in_uniform();
};
using Conv1dConfig = ConvConfig<1>;
using Conv2dConfig = ConvConfig<2>;
using Conv3dConfig = ConvConfig<3>;

template <int N>
struct ConvTransposeConfig {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::array<std::int64_t, N> kernel = filled<N>(3);
  std::array<std::int64_t, N> stride = filled<N>(1);
  std::array<std::int64_t, N> padding = filled<N>(0);
  std::array<std::int64_t, N> output_padding = filled<N>(0);
  std::array<std::int64_t, N> dilation = filled<N>(1);
  std::int64_t groups = 1;
  bool bias = true;
  Initializer init = Initializer::fan_in_uniform();
};

namespace detail {

/// The windows of a convolution without its template.
struct ConvGeometry {
  Dims kernel;
  Dims stride;
  Dims dilation;
  Dims before;
  Dims after;
  Dims output_padding;
  std::int64_t groups = 1;
  bool same = false;
};

ParamSpec conv_weight(std::int64_t in, std::int64_t out, const ConvGeometry& geometry,
                      const Initializer& init, bool transposed);
ParamSpec conv_bias(std::int64_t out, const ParamSpec& weight);
Value conv(const Value& x, const ParamBase& weight, const ParamBase& bias,
           const ConvGeometry& geometry);
Value conv_transpose(const Value& x, const ParamBase& weight, const ParamBase& bias,
                     const ConvGeometry& geometry);

template <std::size_t N>
Dims dims(const std::array<std::int64_t, N>& sizes) {
  return Dims(std::span<const std::int64_t>(sizes));
}

template <int N>
class Conv {
 public:
  Param<N + 2> weight;  ///< [out, in / groups, kernel…]
  Param<1> bias;        ///< empty without bias

  Conv() = default;
  /// ArgumentError unless channels are positive and divisible by `groups`.
  Conv(const ConvConfig<N>& config, const Device& device = {})
      : geometry_{dims(config.kernel),
                  dims(config.stride),
                  dims(config.dilation),
                  dims(config.padding.before),
                  dims(config.padding.after),
                  {},
                  config.groups,
                  config.padding.kind == PaddingKind::same} {
    const ParamSpec spec = conv_weight(config.in, config.out, geometry_, config.init, false);
    weight = Param<N + 2>(spec, device);
    if (config.bias) {
      bias = Param<1>(conv_bias(config.out, spec), device);
    }
  }

  /// [batch, in, sizes…] -> [batch, out, sizes'…]
  template <class K>
  Tensor<N + 2, K> forward(const Tensor<N + 2, K>& x) const {
    return Tensor<N + 2, K>(apply(x.value()));
  }
  DynTensor forward(const DynTensor& x) const { return DynTensor(apply(x.value())); }
  Value apply(const Value& x) const { return conv(x, weight, bias, geometry_); }

  SINTER_FIELDS(weight, bias)

 private:
  ConvGeometry geometry_;
};

template <int N>
class ConvTranspose {
 public:
  Param<N + 2> weight;  ///< [in, out / groups, kernel…]
  Param<1> bias;

  ConvTranspose() = default;
  ConvTranspose(const ConvTransposeConfig<N>& config, const Device& device = {})
      : geometry_{dims(config.kernel),   dims(config.stride),
                  dims(config.dilation), dims(config.padding),
                  dims(config.padding),  dims(config.output_padding),
                  config.groups,         false} {
    const ParamSpec spec = conv_weight(config.in, config.out, geometry_, config.init, true);
    weight = Param<N + 2>(spec, device);
    if (config.bias) {
      bias = Param<1>(conv_bias(config.out, spec), device);
    }
  }

  /// [batch, in, sizes…] -> [batch, out, sizes'…]; see ops::conv_transpose for the sizes.
  template <class K>
  Tensor<N + 2, K> forward(const Tensor<N + 2, K>& x) const {
    return Tensor<N + 2, K>(apply(x.value()));
  }
  DynTensor forward(const DynTensor& x) const { return DynTensor(apply(x.value())); }
  Value apply(const Value& x) const { return conv_transpose(x, weight, bias, geometry_); }

  SINTER_FIELDS(weight, bias)

 private:
  ConvGeometry geometry_;
};

}  // namespace detail

struct Conv1d : detail::Conv<1> {
  using Conv::Conv;
};
struct Conv2d : detail::Conv<2> {
  using Conv::Conv;
};
struct Conv3d : detail::Conv<3> {
  using Conv::Conv;
};
struct ConvTranspose1d : detail::ConvTranspose<1> {
  using ConvTranspose::ConvTranspose;
};
struct ConvTranspose2d : detail::ConvTranspose<2> {
  using ConvTranspose::ConvTranspose;
};
struct ConvTranspose3d : detail::ConvTranspose<3> {
  using ConvTranspose::ConvTranspose;
};

}  // namespace sinter::nn
