// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a formula has no slope, or a tensor no dims: what must come instead.
#include <cmath>

#include "sinter/tensor/cases_test.hpp"

namespace sinter::testing {
namespace {

TEST(Edges, TheDeviationOfEqualElementsHasNoSlope) {
  const Device device = Device::portable().autodiff();
  const auto x = Tensor<2>::from({{1, 1, 1}, {1, 2, 3}}, device).require_grad();
  const auto gradient = *x.grad(x.std(1).sum().backward());
  expect_values(gradient, {0, 0, 0, -0.5, 0, 0.5});
  EXPECT_TRUE(std::isnan(Tensor<1>::from({1}).std().item()));
}

TEST(Edges, ATensorWithoutDimsSaysSo) {
  try {
    (void)DynTensor(Tensor<0>::from(3)).sort(0);
    FAIL() << "expected an IndexError";
  } catch (const IndexError& error) {
    EXPECT_NE(std::string_view(error.what()).find("no dims"), std::string_view::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace sinter::testing
