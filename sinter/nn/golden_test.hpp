// SPDX-License-Identifier: MIT OR Apache-2.0
// What tests of layers share: the device, formula inputs, and comparison with golden numbers.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sinter/base/os/process.hpp"
#include "sinter/nn/nn.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::testing {

/// The device named by SINTER_TEST_DEVICE, or `portable`.
inline Device plain_device() {
  return Device::by_name(os::environment("SINTER_TEST_DEVICE").value_or("portable"));
}
inline Device train_device() { return plain_device().autodiff(); }

/// The inputs of tools/golden/nn.py: sin(0.7 i + phase) * scale + offset.
inline Value wave(const Shape& shape, double phase, double scale = 1, double offset = 0,
                  const Device& device = train_device()) {
  HostData data(shape, DType::f32);
  std::size_t i = 0;
  for (float& x : data.as<float>()) {
    const auto base = static_cast<float>(std::sin(0.7 * static_cast<double>(i++) + phase));
    x = static_cast<float>(base * scale + offset);
  }
  return device.backend().from_data(data);
}
template <int D>
Tensor<D> wave_leaf(const Shape& shape, double phase) {
  return Tensor<D>(wave(shape, phase)).require_grad();
}

inline void expect_near(const HostData& got, const std::vector<double>& expected,
                        double tolerance = 2e-5) {
  const std::vector<double> values = got.to_doubles();
  ASSERT_EQ(values.size(), expected.size());
  double scale = 1;
  for (double x : expected) {
    scale = std::isfinite(x) ? std::max(scale, std::abs(x)) : scale;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << "element " << i << " is " << values[i];
    } else {
      EXPECT_NEAR(values[i], expected[i], tolerance * scale) << "element " << i;
    }
  }
}
template <int D, class K>
void expect_near(const Tensor<D, K>& got, const std::vector<double>& expected,
                 double tolerance = 2e-5) {
  expect_near(got.to_data(), expected, tolerance);
}
template <int D, class K>
void expect_near(const std::optional<Tensor<D, K>>& got, const std::vector<double>& expected,
                 double tolerance = 2e-5) {
  ASSERT_TRUE(got.has_value());
  expect_near(got->to_data(), expected, tolerance);
}

template <int D>
Gradients square_backward(const Tensor<D>& y) {
  return (y * y).sum().backward();
}

template <int D = 1>
Tensor<D> tensor(const std::vector<double>& values, const Shape& shape,
                 const Device& device = train_device()) {
  return Tensor<D>::from_data(HostData(shape, std::span<const double>(values)).cast(DType::f32),
                              device);
}
template <int D = 1>
Tensor<D, Int> integers(const std::vector<std::int64_t>& values, const Shape& shape,
                        const Device& device = train_device()) {
  return Tensor<D, Int>::from_data(HostData(shape, std::span<const std::int64_t>(values)), device);
}

}  // namespace sinter::testing
