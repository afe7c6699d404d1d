// SPDX-License-Identifier: MIT OR Apache-2.0
// Sinter's headers after headers that define macros of common names: they compile, and the macros
// are there afterwards.
#include <gtest/gtest.h>

#define Bool int
#define None 0L
#define Status int
#define True 1
#define False 0
#define Success 0
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define near
#define far
#define CHECK(x) (x)
#define LOG(x) (x)
#define ERROR 0

#include <sinter/train.hpp>

namespace {

TEST(Cases, BLD_02_macros_of_others) {
  static_assert(std::is_same_v<Bool, int> && None == 0L && True == 1 && CHECK(2) == 2 &&
                LOG(3) == 3);
  static_assert(min(1, 2) == 1 && max(1, 2) == 2 && ERROR == 0);
  const auto x = sinter::Tensor<1>::from({1, 3, 2});
  EXPECT_EQ((x.max)().item(), 3);
  const sinter::Tensor<1, sinter::Boolean> positive = x > 2;
  EXPECT_EQ(positive.sum().item(), 1);
}

}  // namespace
