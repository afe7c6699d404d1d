// SPDX-License-Identifier: MIT OR Apache-2.0
// Limits of integers that lie beyond their dtype.
#include "sinter/backend/portable/layouts_test.hpp"

namespace sinter::backend::testing {
namespace {

TEST(Clamp, TakesIntegersByBoundsBeyondTheirDtype) {
  for (const DType dtype : {DType::i64, DType::i32, DType::i16, DType::i8, DType::u64, DType::u32,
                            DType::u16, DType::u8}) {
    SCOPED_TRACE(name_of(dtype));
    for (Backend* backend : {&portable(), &reference()}) {
      const Value x = ops::arange(*backend, 0, 1, 5, dtype);
      const auto clamped = [&](double low, double high) {
        return read(ops::clamp(x, low, high)).to_doubles();
      };
      EXPECT_EQ(clamped(2, INFINITY), (std::vector<double>{2, 2, 2, 3, 4}));
      EXPECT_EQ(clamped(2, 1e30), (std::vector<double>{2, 2, 2, 3, 4}));
      EXPECT_EQ(clamped(-INFINITY, 2), (std::vector<double>{0, 1, 2, 2, 2}));
      EXPECT_EQ(clamped(-1e30, 2), (std::vector<double>{0, 1, 2, 2, 2}));
      EXPECT_EQ(clamped(-1e30, 1e30), (std::vector<double>{0, 1, 2, 3, 4}));
      EXPECT_EQ(clamped(3, 1), (std::vector<double>(5, 1)));
    }
  }
}

}  // namespace
}  // namespace sinter::backend::testing
