// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans, sorting, topk, argmax, argmin and median: values, NaN, layouts, gradients.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sinter/backend/families_test.hpp"
#include "sinter/ops/random/random.hpp"
#include "sinter/ops/scan/scan.hpp"
#include "sinter/ops/sort/sort.hpp"

namespace sinter::backend::testing {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Cases, IDX_16_scan_over_odd_stride) {
  for (Backend* b : both_backends()) {
    const Value base = tensor(*b, {1, 10}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    const Value view = ops::narrow(base, 1, 3, 7);
    const Numbers same = {4, 5, 6, 7, 8, 9, 10};
    expect_numbers(ops::cumsum(view, 0), same);
    expect_numbers(ops::cumprod(view, 0), same);
    expect_numbers(ops::cummax(view, 0)[0], same);
    expect_numbers(ops::cummin(view, 0)[0], same);
  }
}

TEST(Cases, IDX_17_negative_strides) {
  for (Backend* b : both_backends()) {
    const Value y = ops::flip(tensor(*b, {2, 3}, {1, 2, 3, 4, 5, 6}), {1});
    expect_numbers(ops::argmax(y, 1), {0, 0});
    expect_numbers(ops::argmin(y, 1), {2, 2});
    expect_numbers(ops::cumsum(y, 1), {3, 5, 6, 6, 11, 15});
    expect_numbers(ops::sort(y, 1)[0], {1, 2, 3, 4, 5, 6});
    expect_numbers(ops::argsort(y, 1), {2, 1, 0, 2, 1, 0});
  }
}

TEST(Scan, dtypes_and_middle_dim) {
  for (Backend* b : both_backends()) {
    const Value small = ops::full(*b, {300}, 1, DType::u8);
    const Value counted = ops::cumsum(small, 0);
    EXPECT_EQ(counted.dtype(), DType::i64);
    EXPECT_EQ(numbers_of(counted)[299], 300);
    EXPECT_EQ(ops::cumsum(ops::full(*b, {4}, 1, DType::boolean), 0).dtype(), DType::i64);
    EXPECT_EQ(ops::cumsum(ops::full(*b, {4}, 1, DType::bf16), 0).dtype(), DType::bf16);
    expect_numbers(ops::cumsum(tensor(*b, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), 1),
                   {1, 2, 4, 6, 5, 6, 12, 14});
    expect_numbers(ops::cumprod(tensor(*b, {4}, {2, -3, 0.5, 4}), 0), {2, -6, -3, -12});
    expect_numbers(ops::cumsum(tensor(*b, {0, 3}, {}), 0), {});
    error_of<IndexError>([&] { ops::cumsum(small, 1); });
  }
}

TEST(Cases, RED_01_nan) {
  for (Backend* b : both_backends()) {
    expect_numbers(ops::cummax(tensor(*b, {3}, {1, nan, 5}), 0)[0], {1, nan, nan});
    expect_numbers(ops::cummax(tensor(*b, {4}, {1, nan, 5, nan}), 0)[1], {0, 1, 1, 1});
    expect_numbers(ops::cummin(tensor(*b, {5}, {3, 1, 1, 2, 0}), 0)[1], {0, 1, 1, 1, 4});
    for (const std::int64_t n : {3, 600}) {
      Numbers x(static_cast<std::size_t>(n), 1.0);
      x[1] = nan;
      x[2] = 3;
      for (const DType dtype : {DType::f32, DType::f64, DType::f16}) {
        const Value row = tensor(*b, {n}, x, dtype);
        expect_numbers(ops::argmax(row), {1});
        expect_numbers(ops::argmin(row), {1});
        // As columns, too.
        const Value columns = ops::contiguous(ops::expand(ops::reshape(row, {n, 1}), {n, 70}));
        expect_numbers(ops::argmax(columns, 0), Numbers(70, 1.0));
        EXPECT_TRUE(std::isnan(numbers_of(ops::topk(row, 2)[0])[0]));
        EXPECT_EQ(numbers_of(ops::topk(row, 2)[1])[0], 1);
        EXPECT_TRUE(std::isnan(numbers_of(ops::sort(row)[0]).back()));
        EXPECT_TRUE(std::isnan(numbers_of(ops::sort(row, 0, true)[0]).back()));
      }
    }
  }
}

TEST(Cases, RED_02_first_of_several_nan) {
  for (Backend* b : both_backends()) {
    for (const std::int64_t n : {3, 511, 512, 513, 3000}) {
      for (const std::int64_t first : {std::int64_t{0}, n - 2}) {
        Numbers x(static_cast<std::size_t>(n), 1.0);
        x[static_cast<std::size_t>(first)] = nan;
        x.back() = nan;
        expect_numbers(ops::argmax(tensor(*b, {n}, x)), {static_cast<double>(first)});
        expect_numbers(ops::argmin(tensor(*b, {n}, x)), {static_cast<double>(first)});
      }
    }
  }
}

TEST(Cases, RED_04_no_elements) {
  for (Backend* b : both_backends()) {
    const Value x = tensor(*b, {2, 0}, {});
    error_of<ShapeError>([&] { ops::argmax(x, 1); });
    error_of<ShapeError>([&] { ops::argmin(x); });
    error_of<ShapeError>([&] { ops::median(x, 1); });
    EXPECT_EQ(ops::argmax(x, 0).shape(), (Shape{0}));
    EXPECT_EQ(ops::sort(x)[0].shape(), (Shape{2, 0}));
  }
}

// Against the standard library, for sizes around vectors, blocks and the radix limit; few distinct
// values, so that ties are many.
TEST(Order, argmax_argmin_first_of_ties) {
  Backend& reference = *both_backends()[0];
  for (Backend* b : both_backends()) {
    for (const std::int64_t n : {1, 2, 7, 8, 9, 63, 64, 65, 129, 1023, 1025, 2500}) {
      for (const DType dtype :
           {DType::f32, DType::f64, DType::i32, DType::i64, DType::u64, DType::u8}) {
        const Value draw = ops::random(reference, {3, n}, ops::Distribution::randint(0, 5),
                                       DType::i64, {static_cast<std::uint64_t>(n), 0});
        const Value x = to_backend(ops::cast(draw, dtype), *b);
        const Numbers values = numbers_of(x);
        Numbers expected;
        for (std::int64_t row = 0; row < 3; ++row) {
          const auto begin = values.begin() + row * n;
          expected.push_back(static_cast<double>(std::max_element(begin, begin + n) - begin));
        }
        expect_numbers(ops::argmax(x, 1), expected);
        expect_numbers(ops::argmax(ops::transpose(x), 0), expected);
        expect_numbers(ops::argmax(ops::contiguous(ops::transpose(x)), 0), expected);
      }
    }
  }
}

TEST(Order, sort_is_stable_in_both_directions) {
  for (Backend* b : both_backends()) {
    for (const std::int64_t n : {1, 5, 100, 2047, 2048, 5000}) {
      for (const DType dtype :
           {DType::f32, DType::f64, DType::i32, DType::i64, DType::u8, DType::bf16}) {
        const Value draw = ops::random(*both_backends()[0], {n}, ops::Distribution::randint(0, 100),
                                       DType::i64, {static_cast<std::uint64_t>(n), 0});
        const Value x = to_backend(ops::cast(draw, dtype), *b);
        const Numbers values = numbers_of(x);
        std::vector<std::size_t> order(values.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (const bool descending : {false, true}) {
          std::iota(order.begin(), order.end(), std::size_t{0});
          std::stable_sort(order.begin(), order.end(), [&](std::size_t p, std::size_t q) {
            return descending ? values[p] > values[q] : values[p] < values[q];
          });
          Numbers sorted;
          for (const std::size_t i : order) {
            sorted.push_back(values[i]);
          }
          const Outputs got = ops::sort(x, 0, descending);
          EXPECT_EQ(got[0].dtype(), dtype);
          expect_numbers(got[0], sorted);
          expect_numbers(got[1], Numbers(order.begin(), order.end()));
          const std::int64_t k = std::min<std::int64_t>(n, 7);
          const Outputs best = ops::topk(x, k, 0, descending);
          expect_numbers(best[0], Numbers(sorted.begin(), sorted.begin() + k));
          expect_numbers(best[1], Numbers(order.begin(), order.begin() + k));
        }
      }
    }
    expect_numbers(ops::argsort(tensor(*b, {4}, {0.0, -0.0, -1, 0.0})), {2, 0, 1, 3});
    const double inf = std::numeric_limits<double>::infinity();
    expect_numbers(ops::sort(tensor(*b, {5}, {nan, inf, -inf, 0, -2}), 0, true)[0],
                   {inf, 0, -2, -inf, nan});
  }
}

TEST(Cases, OPS_14_descending_and_offset_views) {
  for (Backend* b : both_backends()) {
    expect_numbers(ops::sort(tensor(*b, {5}, {1, 2, 3, 4, 5}, DType::i32), 0, true)[0],
                   {5, 4, 3, 2, 1});
    const Value view = ops::narrow(tensor(*b, {5}, {9, 9, 3, 1, 2}), 0, 2, 3);
    expect_numbers(ops::argsort(view), {1, 2, 0});
  }
}

TEST(Cases, OPS_16_topk_bounds) {
  for (Backend* b : both_backends()) {
    const Value x = tensor(*b, {3}, {1, 3, 2});
    const Outputs all = ops::topk(x, 3);
    expect_numbers(all[0], {3, 2, 1});
    expect_numbers(all[1], {1, 2, 0});
    EXPECT_EQ(ops::topk(x, 0)[0].shape(), (Shape{0}));
    error_of<ArgumentError>([&] { ops::topk(x, 4); });
  }
}

TEST(Cases, RED_12_median) {
  for (Backend* b : both_backends()) {
    expect_numbers(ops::median(tensor(*b, {3}, {1, nan, 3})), {nan});
    expect_numbers(ops::median(tensor(*b, {4}, {4, 1, 3, 2})), {2});
    const Outputs rows = ops::median(tensor(*b, {2, 3}, {3, 1, 2, nan, 5, nan}), 1);
    expect_numbers(rows[0], {2, nan});
    expect_numbers(rows[1], {2, 0});
    expect_numbers(ops::median(tensor(*b, {3}, {7, 9, 8}, DType::i32)), {8});
  }
}

TEST(Cases, RED_17_many_rows) {
  for (Backend* b : both_backends()) {
    const Value x = ops::reshape(ops::arange(*b, 0, 1, 210000, DType::f32), {70000, 3});
    const Numbers sorted = numbers_of(ops::sort(ops::neg(x), 1)[0]);
    EXPECT_EQ(sorted[209997], -209999);
    EXPECT_EQ(sorted[209999], -209997);
    EXPECT_EQ(numbers_of(ops::argmin(ops::neg(x), 1))[69999], 2);
  }
}

TEST(Cases, RED_14_integer_extremes) {
  for (Backend* b : both_backends()) {
    const Value x =
        b->from_data(HostData(Shape{3}, {std::numeric_limits<std::int64_t>::min(), std::int64_t{-3},
                                         std::numeric_limits<std::int64_t>::min()}));
    expect_numbers(ops::argmax(x), {1});
    expect_numbers(ops::argmin(x), {0});
    const Value big =
        b->from_data(HostData(Shape{3}, {std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{2}}));
    expect_numbers(ops::argmax(big), {1});
    expect_numbers(ops::argsort(big), {0, 2, 1});
  }
}

TEST(Cases, GRD_01_cumprod_at_zeros) {
  for (Backend* b : both_backends()) {
    const ops::Cumprod op{{0}};
    const Value ones = tensor(*b, {4}, {1, 1, 1, 1});
    expect_numbers(gradients(op, {tensor(*b, {4}, {2, 0, 3, 4})}, ones)[0], {1, 32, 0, 0});
    expect_numbers(gradients(op, {tensor(*b, {4}, {2, 0, 3, 0})}, ones)[0], {1, 8, 0, 0});
    expect_numbers(gradients(op, {tensor(*b, {4}, {2, 1, 3, 4})}, ones)[0], {17, 32, 10, 6});
    expect_numbers(gradients(ops::Cumsum{{0}}, {ones}, tensor(*b, {4}, {1, 2, 3, 4}))[0],
                   {10, 9, 7, 4});
  }
}

TEST(Cases, GRD_08_gradients_go_back_where_values_came_from) {
  for (Backend* b : both_backends()) {
    const Value x = tensor(*b, {3}, {3, 1, 2});
    const Value g = tensor(*b, {3}, {10, 20, 30});
    expect_numbers(gradients(ops::Sort{0, false}, {x}, g)[0], {30, 10, 20});
    expect_numbers(gradients(ops::Cummax{{0}}, {tensor(*b, {3}, {1, 3, 2})}, g)[0], {10, 50, 0});
  }
}

TEST(Cases, GRD_22_topk) {
  for (Backend* b : both_backends()) {
    expect_numbers(gradients(ops::TopK{2, 0, true}, {tensor(*b, {3}, {1, 3, 2})},
                             tensor(*b, {2}, {10, 20}))[0],
                   {0, 10, 20});
  }
}

}  // namespace
}  // namespace sinter::backend::testing
