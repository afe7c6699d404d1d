// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of datasets, their transforms, and rows.
#include "sinter/data/dataset.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace sinter::data {
namespace {

InMemoryDataset<int> numbers(int n) {
  std::vector<int> items;
  for (int i = 0; i < n; ++i) {
    items.push_back(i);
  }
  return InMemoryDataset<int>(std::move(items));
}

template <Dataset D>
std::vector<ItemOf<D>> all(const D& dataset) {
  std::vector<ItemOf<D>> items;
  for (std::int64_t i = 0; i < dataset.size(); ++i) {
    items.push_back(dataset.get(i));
  }
  return items;
}

TEST(Dataset, in_memory_and_map) {
  const MapDataset doubled(numbers(4), [](int x) { return x * 2.5; });
  static_assert(std::is_same_v<ItemOf<decltype(doubled)>, double>);
  EXPECT_EQ(all(doubled), (std::vector<double>{0, 2.5, 5, 7.5}));
  EXPECT_THROW((void)doubled.get(4), IndexError);
  EXPECT_THROW((void)doubled.get(-1), IndexError);
}

TEST(Dataset, subsets) {
  EXPECT_EQ(all(SubsetDataset(numbers(5), {4, 0, 4})), (std::vector<int>{4, 0, 4}));
  EXPECT_THROW(SubsetDataset(numbers(5), {5}), IndexError);
  EXPECT_EQ(all(partial(numbers(5), 1, 3)), (std::vector<int>{1, 2}));
  EXPECT_EQ(partial(numbers(5), 5, 5).size(), 0);
  EXPECT_THROW(partial(numbers(5), 3, 2), IndexError);
  EXPECT_THROW(partial(numbers(5), 0, 6), IndexError);
  std::vector<int> mixed = all(shuffled(numbers(50), 1));
  EXPECT_NE(mixed, all(numbers(50)));
  EXPECT_EQ(mixed, all(shuffled(numbers(50), 1)));
  EXPECT_NE(mixed, all(shuffled(numbers(50), 2)));
  std::sort(mixed.begin(), mixed.end());
  EXPECT_EQ(mixed, all(numbers(50)));
  EXPECT_EQ(sampled(numbers(3), 100, 5).size(), 100);
  EXPECT_THROW(sampled(numbers(0), 1, 5), IndexError);
}

TEST(Dataset, split_has_every_item_once) {
  const auto [a, b] = split(numbers(10), 7, 3);
  EXPECT_EQ(a.size(), 7);
  EXPECT_EQ(b.size(), 3);
  std::set<int> seen;
  for (const int x : all(a)) {
    seen.insert(x);
  }
  for (const int x : all(b)) {
    seen.insert(x);
  }
  EXPECT_EQ(seen.size(), 10u);
}

TEST(Dataset, concat) {
  const ConcatDataset joined(numbers(2), MapDataset(numbers(3), [](int x) { return 10 + x; }),
                             numbers(0));
  EXPECT_EQ(all(joined), (std::vector<int>{0, 1, 10, 11, 12}));
  EXPECT_THROW((void)joined.get(5), IndexError);
}

TEST(Dataset, any_dataset_hides_the_type) {
  std::vector<AnyDataset<int>> many{numbers(2), partial(numbers(9), 7, 9)};
  EXPECT_EQ(many[0].get(1), 1);
  EXPECT_EQ(many[1].get(1), 8);
}

TEST(Cases, DAT_10_windows) {
  EXPECT_EQ(WindowsDataset(numbers(3), 5).size(), 0);
  EXPECT_THROW((void)WindowsDataset(numbers(3), 5).get(0), IndexError);
  EXPECT_EQ(WindowsDataset(numbers(0), 1).size(), 0);
  EXPECT_EQ(WindowsDataset(numbers(5), 5).size(), 1);
  const WindowsDataset windows(numbers(6), 3);
  ASSERT_EQ(windows.size(), 4);
  EXPECT_EQ(windows.get(3), (std::vector<int>{3, 4, 5}));
  const WindowsDataset strided(numbers(7), 3, 2);
  ASSERT_EQ(strided.size(), 3);
  EXPECT_EQ(strided.get(2), (std::vector<int>{4, 5, 6}));
  EXPECT_EQ(WindowsDataset(numbers(6), 3, 2).size(), 2);
  EXPECT_THROW(WindowsDataset(numbers(3), 0), ArgumentError);
  EXPECT_THROW(WindowsDataset(numbers(3), 1, 0), ArgumentError);
}

TEST(Rows, gather_and_row) {
  const HostData source({3, 2}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  const std::int64_t indices[] = {2, 0, 2};
  EXPECT_TRUE(gather_rows(source, indices) ==
              HostData({3, 2}, {5.0f, 6.0f, 1.0f, 2.0f, 5.0f, 6.0f}));
  EXPECT_TRUE(row(source, 1) == HostData({2}, {3.0f, 4.0f}));
  const std::int64_t bad[] = {3};
  EXPECT_THROW((void)gather_rows(source, bad), IndexError);
  EXPECT_THROW((void)row(source, -1), IndexError);
  EXPECT_THROW((void)row(HostData({}, {1.0f}), 0), ShapeError);
  EXPECT_EQ(gather_rows(HostData({4, 0}, DType::f32), indices).shape(), Shape({3, 0}));
}

TEST(Rows, normalised_pixels) {
  HostData source({2, 2, 1, 3}, DType::u8);
  for (int i = 0; i < 12; ++i) {
    source.as<std::uint8_t>()[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  }
  const std::int64_t indices[] = {1, 0};
  const float scale[] = {2, 3};
  const float shift[] = {0.5f, -1};
  float out[12];
  gather_normalized(source, indices, scale, shift, out);
  const float expected[] = {12.5f, 14.5f, 16.5f, 26, 29, 32, 0.5f, 2.5f, 4.5f, 8, 11, 14};
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(out[i], expected[i]) << i;
  }
}

TEST(ColumnDataset, rows_of_each_column) {
  const ColumnDataset columns({HostData({3, 2}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}),
                               HostData({3}, {std::int64_t{7}, std::int64_t{8}, std::int64_t{9}})});
  EXPECT_EQ(columns.size(), 3);
  EXPECT_TRUE(columns.get(1)[0] == HostData({2}, {3.0f, 4.0f}));
  EXPECT_EQ(columns.get(2)[1].int_at(0), 9);
  EXPECT_THROW(ColumnDataset({HostData({3}, DType::f32), HostData({2}, DType::f32)}), ShapeError);
  EXPECT_EQ(ColumnDataset({}).size(), 0);
}

}  // namespace
}  // namespace sinter::data
