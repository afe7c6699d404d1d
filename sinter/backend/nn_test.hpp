// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of structured ops on every host backend: values in, values out, and the gradient of one
// call.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "sinter/backend/registry.hpp"
#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/op.hpp"

namespace sinter::testing {

/// Runs each test on the reference and on the portable backend.
class OnHostBackends : public ::testing::TestWithParam<const char*> {
 protected:
  OnHostBackends() : backend_(backend::find(GetParam()).create(0)) {}

  Backend& backend() { return *backend_; }
  Value tensor(const Shape& shape, const std::vector<double>& values, DType dtype = DType::f32) {
    return backend_->from_data(HostData(shape, std::span<const double>(values)).cast(dtype));
  }
  Value vector(const std::vector<double>& values, DType dtype = DType::f32) {
    return tensor({static_cast<std::int64_t>(values.size())}, values, dtype);
  }
  Value filled(const Shape& shape, double value) {
    return ops::full(*backend_, shape, value, DType::f32);
  }
  /// 0, 1, 2, … times `step` from `start` on.
  Value counting(const Shape& shape, double start = 0, double step = 1) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < num_elements(shape); ++i) {
      values.push_back(start + step * static_cast<double>(i));
    }
    return tensor(shape, values);
  }
  std::vector<double> read(const Value& value) { return backend_->read(value).to_doubles(); }

  /// Compares element by element; NaN equals NaN.
  void expect(const Value& got, const std::vector<double>& want, double tolerance = 1e-5) {
    const std::vector<double> values = read(got);
    ASSERT_EQ(values.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (std::isnan(want[i])) {
        EXPECT_TRUE(std::isnan(values[i])) << "element " << i << " is " << values[i];
      } else if (values[i] != want[i]) {
        EXPECT_NEAR(values[i], want[i], tolerance * (1 + std::fabs(want[i]))) << "element " << i;
      }
    }
  }
  void expect_equal(const Value& got, const Value& want, double tolerance = 1e-5) {
    EXPECT_EQ(got.shape(), want.shape());
    expect(got, read(want), tolerance);
  }

  /// The gradients of sum(output 0 * upstream).
  template <class Op>
  std::vector<Value> gradients(const Op& op, const std::vector<Value>& inputs,
                               Value upstream = {}) {
    const OpDef& def = def_of<Op>();
    const Outputs outputs = sinter::apply(op, inputs);
    std::vector<TensorSpec> input_specs;
    Specs output_specs;
    std::uint64_t needed = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      input_specs.push_back({inputs[i].shape(), inputs[i].dtype()});
      needed |= is_floating(inputs[i].dtype()) ? std::uint64_t(1) << i : 0;
    }
    for (const Value& output : outputs) {
      output_specs.push_back({output.shape(), output.dtype()});
    }
    std::vector<Value> grads(outputs.size());
    grads[0] = upstream ? upstream : ops::full_like(outputs[0], 1);
    const OpCall call{.def = &def,
                      .attributes = &op,
                      .inputs = inputs,
                      .outputs = {output_specs.data(), output_specs.size()},
                      .donated = 0,
                      .where = SourceLoc::current()};
    GradCall grad_call(call, input_specs, {outputs.data(), outputs.size()}, grads, needed);
    def.backward(grad_call);
    return {grad_call.results().begin(), grad_call.results().end()};
  }

 private:
  std::unique_ptr<Backend> backend_;
};

/// The message of the exception of type E that `run` throws; empty if it throws none.
template <class E, class F>
std::string message_of(F&& run) {
  try {
    run();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}

#define SINTER_ON_HOST_BACKENDS(suite)                                                  \
  INSTANTIATE_TEST_SUITE_P(Backends, suite, ::testing::Values("reference", "portable"), \
                           [](const auto& info) { return std::string(info.param); })

}  // namespace sinter::testing
