// SPDX-License-Identifier: MIT OR Apache-2.0
// Test help: every check runs on the reference and the portable backend.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sinter/backend/registry.hpp"
#include "sinter/graph/backend.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/op.hpp"

namespace sinter::backend::testing {

using Numbers = std::vector<double>;

inline std::vector<Backend*> both_backends() {
  static const std::unique_ptr<Backend> reference = find("reference").create(0);
  static const std::unique_ptr<Backend> portable = find("portable").create(0);
  return {reference.get(), portable.get()};
}

inline Value tensor(Backend& backend, const Shape& shape, const Numbers& values,
                    DType dtype = DType::f32) {
  return backend.from_data(HostData(shape, std::span<const double>(values)).cast(dtype));
}
inline Numbers numbers_of(const Value& value) { return value.backend().read(value).to_doubles(); }

/// Equal, NaN counting as equal to NaN.
inline void expect_numbers(const Value& value, const Numbers& expected, double tolerance = 0) {
  const Numbers got = numbers_of(value);
  ASSERT_EQ(got.size(), expected.size()) << value.backend().name() << " " << value.shape().str();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (expected[i] != expected[i]) {
      EXPECT_TRUE(got[i] != got[i]) << value.backend().name() << " at " << i << ": " << got[i];
    } else if (tolerance == 0) {
      EXPECT_EQ(got[i], expected[i]) << value.backend().name() << " at " << i;
    } else {
      EXPECT_NEAR(got[i], expected[i], tolerance) << value.backend().name() << " at " << i;
    }
  }
}

/// What `Op::backward` gives for the gradient `g` of output 0.
template <class Op>
Outputs gradients(const Op& op, const std::vector<Value>& inputs, const Value& g) {
  const Outputs outputs = apply(op, std::span<const Value>(inputs));
  Specs input_specs;
  Specs output_specs;
  std::vector<Value> grads(outputs.size());
  grads[0] = g;
  for (const Value& input : inputs) {
    input_specs.push_back({input.shape(), input.dtype()});
  }
  for (const Value& output : outputs) {
    output_specs.push_back({output.shape(), output.dtype()});
  }
  OpCall call{.def = &def_of<Op>(),
              .attributes = &op,
              .inputs = inputs,
              .outputs = {output_specs.data(), output_specs.size()},
              .donated = 0,
              .where = SourceLoc::current()};
  GradCall grad(call, {input_specs.data(), input_specs.size()}, {outputs.data(), outputs.size()},
                grads, ~std::uint64_t{0});
  def_of<Op>().backward(grad);
  return grad.results();
}

/// The message of the error of type `E` that `f` throws.
template <class E, class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no error";
  return {};
}

}  // namespace sinter::backend::testing
