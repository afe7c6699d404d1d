// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of the distribution and repeatability of orders.
#include "sinter/data/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace sinter::data {
namespace {

double chi_square(const std::vector<std::int64_t>& counts) {
  const double total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0ll));
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (const std::int64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    sum += off * off / expected;
  }
  return sum;
}

TEST(Cases, DAT_04_with_replacement_is_uniform) {
  const EpochOrder order(Order::with_replacement, 100, 100'000, 17, 2);
  std::vector<std::int64_t> draws(100'000);
  order.fill(0, draws);
  std::vector<std::int64_t> counts(100);
  std::vector<std::int64_t> pairs(100);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    ASSERT_TRUE(draws[i] >= 0 && draws[i] < 100);
    ++counts[static_cast<std::size_t>(draws[i])];
    if (i > 0) {
      ++pairs[static_cast<std::size_t>((draws[i] - draws[i - 1] + 100) % 100)];
    }
  }
  // 99 degrees of freedom: mean 99, and 148.2 (63.2) is passed by chance once in a thousand.
  EXPECT_LT(chi_square(counts), 148.2);
  EXPECT_GT(chi_square(counts), 63.2);
  EXPECT_LT(chi_square(pairs), 148.2);
}

TEST(Cases, DAT_04_without_replacement_is_a_permutation) {
  for (const std::int64_t n : {0, 1, 2, 7, 1000, 60'000}) {
    std::vector<std::int64_t> order = permutation(n, 5, 9);
    std::sort(order.begin(), order.end());
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
    }
  }
}

TEST(Cases, DAT_04_permutations_are_equally_likely) {
  // All 24 orders of four items over 24 000 epochs, and the same over seeds.
  for (const bool by_seed : {false, true}) {
    std::map<std::vector<std::int64_t>, std::size_t> index;
    std::vector<std::int64_t> counts(24);
    for (std::uint64_t i = 0; i < 24'000; ++i) {
      const auto order = by_seed ? permutation(4, i, 0) : permutation(4, 3, i);
      ++counts[index.emplace(order, index.size()).first->second];
    }
    EXPECT_EQ(index.size(), 24u);
    // 23 degrees of freedom: 49.7 is passed once in a thousand.
    EXPECT_LT(chi_square(counts), 49.7);
  }
}

TEST(Sampler, depends_on_seed_and_epoch_alone) {
  const auto order = [](std::uint64_t seed, std::int64_t epoch) {
    std::vector<std::int64_t> out(100);
    EpochOrder(Order::shuffled, 100, 0, seed, epoch).fill(0, out);
    return out;
  };
  EXPECT_EQ(order(1, 2), order(1, 2));
  EXPECT_NE(order(1, 2), order(1, 3));
  EXPECT_NE(order(1, 2), order(2, 2));
  EXPECT_NE(order(1, 2), order(2, 1));
  // Any part may be asked for.
  std::vector<std::int64_t> part(10);
  EpochOrder(Order::shuffled, 100, 0, 1, 2).fill(50, part);
  const auto whole = order(1, 2);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 50));
}

}  // namespace
}  // namespace sinter::data
