// SPDX-License-Identifier: MIT OR Apache-2.0
// How parameters get their first values.
#pragma once

#include <cstdint>

#include "sinter/graph/generator.hpp"
#include "sinter/graph/value.hpp"
#include "sinter/tensor/device.hpp"

namespace sinter::nn {

/// How many inputs reach one output of a weight, and how many outputs one input.
struct Fans {
  std::int64_t in = 1;
  std::int64_t out = 1;
};
/// A matrix [in, out], as Linear has it. ShapeError unless the rank is 2.
[[nodiscard]] Fans linear_fans(const Shape& weight);
/// A convolution's weight [out, in / groups, kernel…]: in / groups * kernel and out * kernel.
/// ShapeError for rank < 2.
[[nodiscard]] Fans conv_fans(const Shape& weight);

/// A distribution of first values; made by the functions below.
struct Initializer {
  enum class Kind : std::uint8_t {
    constant,
    uniform,
    normal,
    truncated_normal,
    xavier_uniform,
    xavier_normal,
    kaiming_uniform,
    kaiming_normal,
    orthogonal
  };
  Kind kind = Kind::constant;
  double a = 0;    ///< the constant, low, mean, or gain
  double b = 0;    ///< high, or deviation
  double low = 0;  ///< bounds of truncated_normal
  double high = 0;
  bool fan_out = false;  ///< Kaiming: keep the variance of gradients instead of activations

  static constexpr Initializer constant(double value) { return {.a = value}; }
  static constexpr Initializer zeros() { return constant(0); }
  static constexpr Initializer ones() { return constant(1); }
  /// [low, high)
  static constexpr Initializer uniform(double low = 0, double high = 1) {
    return {.kind = Kind::uniform, .a = low, .b = high};
  }
  static constexpr Initializer normal(double mean = 0, double std = 1) {
    return {.kind = Kind::normal, .a = mean, .b = std};
  }
  /// A normal distribution cut to [low, high].
  static constexpr Initializer truncated_normal(double mean = 0, double std = 1, double low = -2,
                                                double high = 2) {
    return {.kind = Kind::truncated_normal, .a = mean, .b = std, .low = low, .high = high};
  }
  /// Variance gain^2 * 2 / (fan in + fan out) (Glorot and Bengio 2010).
  static constexpr Initializer xavier_uniform(double gain = 1) {
    return {.kind = Kind::xavier_uniform, .a = gain};
  }
  static constexpr Initializer xavier_normal(double gain = 1) {
    return {.kind = Kind::xavier_normal, .a = gain};
  }
  /// Variance gain^2 / fan (He et al. 2015); the default gain suits ReLU.
  static constexpr Initializer kaiming_uniform(double gain = 1.4142135623730951,
                                               bool fan_out = false) {
    return {.kind = Kind::kaiming_uniform, .a = gain, .fan_out = fan_out};
  }
  static constexpr Initializer kaiming_normal(double gain = 1.4142135623730951,
                                              bool fan_out = false) {
    return {.kind = Kind::kaiming_normal, .a = gain, .fan_out = fan_out};
  }
  /// Rows or columns, whichever are fewer, are orthogonal and have norm `gain` (Saxe et al. 2013).
  /// Dims after the first count as columns.
  static constexpr Initializer orthogonal(double gain = 1) {
    return {.kind = Kind::orthogonal, .a = gain};
  }
  /// Uniform in [-1 / sqrt(fan in), 1 / sqrt(fan in)): the default of linear and convolution
  /// layers.
  static constexpr Initializer fan_in_uniform() { return kaiming_uniform(0.57735026918962576); }
};

/// How many random numbers `initialize` takes.
[[nodiscard]] std::uint64_t random_count(const Initializer& initializer, const Shape& shape);

/// First values on `device`. They depend on `key` alone: the same on every device.
/// ShapeError for orthogonal values of rank < 2; DTypeError unless `dtype` is floating or the
/// values are constant.
[[nodiscard]] Value initialize(const Initializer& initializer, const Shape& shape, const Fans& fans,
                               RandomKey key, const Device& device, DType dtype = DType::f32);

}  // namespace sinter::nn
