// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tensors' tests share: the devices they run on, and comparisons with NaN.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/tensor/combine.hpp"
#include "sinter/tensor/tensor.hpp"

namespace sinter::testing {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double inf = std::numeric_limits<double>::infinity();

/// Runs `body` with each tested device as the default one: SINTER_TEST_DEVICE's, else portable and
/// reference.
template <class F>
void on_each_device(F&& body) {
  const std::optional<std::string> name = os::environment("SINTER_TEST_DEVICE");
  const std::vector<Device> devices = name ? std::vector{Device::by_name(*name)}
                                           : std::vector{Device::portable(), Device::reference()};
  for (const Device& device : devices) {
    SCOPED_TRACE(device.name());
    const DefaultDeviceScope scope(device);
    body();
  }
}
/// The same with gradients.
template <class F>
void on_each_autodiff(F&& body) {
  on_each_device([&] {
    const DefaultDeviceScope scope(Device().autodiff());
    body();
  });
}

template <int D, class K>
void expect(const Tensor<D, K>& tensor, const Shape& shape, const std::vector<double>& values,
            double tolerance = 1e-6) {
  EXPECT_EQ(tensor.shape().str(), shape.str());
  const std::vector<double> found = tensor.to_data().to_doubles();
  ASSERT_EQ(found.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(found[i])) << "element " << i << " is " << found[i];
    } else if (std::isinf(values[i])) {
      EXPECT_EQ(found[i], values[i]) << "element " << i;
    } else {
      EXPECT_NEAR(found[i], values[i], tolerance * std::max(1.0, std::abs(values[i])))
          << "element " << i;
    }
  }
}
/// A vector, or anything in row-major order, of any shape.
template <int D, class K>
void expect_values(const Tensor<D, K>& tensor, const std::vector<double>& values,
                   double tolerance = 1e-6) {
  expect(tensor, tensor.shape(), values, tolerance);
}

/// The text of the error that `body` throws, which must be an E.
template <class E, class F>
std::string error_of(F&& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace sinter::testing
