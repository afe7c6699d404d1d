// SPDX-License-Identifier: MIT OR Apache-2.0
// Joining, splitting, repeating, padding and diagonals.
#include "sinter/ops/join/join.hpp"

#include <limits>

#include "sinter/backend/families_test.hpp"

namespace sinter::backend::testing {
namespace {

using ops::PadMode;

TEST(Cat, any_layout_and_empty_parts) {
  for (Backend* b : both_backends()) {
    const Value x = ops::transpose(tensor(*b, {2, 3}, {1, 2, 3, 4, 5, 6}));  // [3, 2]
    const Value none = tensor(*b, {3, 0}, {});
    const Value one = tensor(*b, {3, 1}, {7, 8, 9});
    expect_numbers(ops::cat({x, none, one}, 1), {1, 4, 7, 2, 5, 8, 3, 6, 9});
    expect_numbers(ops::cat({x, x}, 0), {1, 4, 2, 5, 3, 6, 1, 4, 2, 5, 3, 6});
    EXPECT_EQ(ops::cat({x, ops::cast(one, DType::i32)}, 1).dtype(), DType::f32);
    error_of<ShapeError>([&] { ops::cat({x, tensor(*b, {2, 1}, {1, 2})}, 1); });
    error_of<ArgumentError>([&] { ops::cat(std::span<const Value>(), 0); });
    const std::vector<Value> many(150, one);
    EXPECT_EQ(ops::cat(many, 1).shape(), (Shape{3, 150}));
    expect_numbers(ops::stack({tensor(*b, {2}, {1, 2}), tensor(*b, {2}, {3, 4})}, -1),
                   {1, 3, 2, 4});
  }
}

TEST(Cases, GRD_09_cat_and_cross) {
  for (Backend* b : both_backends()) {
    const Value a = tensor(*b, {2}, {1, 1});
    const Value c = tensor(*b, {3}, {1, 1, 1});
    const Outputs grads = gradients(ops::Cat{0}, {a, c}, tensor(*b, {5}, {1, 2, 3, 4, 5}));
    expect_numbers(grads[0], {1, 2});
    expect_numbers(grads[1], {3, 4, 5});
    expect_numbers(ops::cross(tensor(*b, {3}, {1, 2, 3}), tensor(*b, {3}, {4, 5, 6})), {-3, 6, -3});
  }
}

TEST(Cases, OPS_21_cross_along_axis_0) {
  for (Backend* b : both_backends()) {
    expect_numbers(ops::cross(tensor(*b, {3, 2}, {1, 0, 0, 1, 0, 0}),
                              tensor(*b, {3, 2}, {0, 0, 1, 0, 0, 1}), 0),
                   {0, 1, 0, 0, 1, 0});
  }
}

TEST(Cases, OPS_17_repeat) {
  for (Backend* b : both_backends()) {
    EXPECT_EQ(ops::repeat(ops::full(*b, {2, 3, 4}, 1, DType::f32), {1, 0, 2}).shape(),
              (Shape{2, 0, 8}));
    expect_numbers(ops::repeat(tensor(*b, {2, 2}, {1, 2, 3, 4}), {2, 3}),
                   {1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4});
    EXPECT_EQ(ops::repeat(tensor(*b, {2}, {1, 2}), {3, 1, 2}).shape(), (Shape{3, 1, 4}));
    expect_numbers(ops::repeat_interleave(tensor(*b, {2, 2}, {1, 2, 3, 4}), 2, 1),
                   {1, 1, 2, 2, 3, 3, 4, 4});
  }
}

TEST(Cases, IDX_26_repeat_past_32_bits) {
  for (Backend* b : both_backends()) {
    const std::string text = error_of<ShapeError>(
        [&] { ops::repeat(ops::full(*b, {65536}, 1, DType::u8), {std::int64_t{1} << 62}); });
    EXPECT_FALSE(text.empty());
  }
}

TEST(Cases, OPS_18_unsqueeze_dims) {
  for (Backend* b : both_backends()) {
    const Value x = ops::full(*b, {3, 4}, 1, DType::f32);
    EXPECT_EQ(ops::unsqueeze_dims(x, {-1, -1}).shape(), (Shape{3, 4, 1, 1}));
    EXPECT_EQ(ops::unsqueeze_dims(x, {0, 0}).shape(), (Shape{1, 1, 3, 4}));
    EXPECT_EQ(ops::unsqueeze_dims(x, {0, -1}).shape(), (Shape{1, 3, 4, 1}));
    const std::string text = error_of<IndexError>([&] { ops::unsqueeze_dims(x, {5}); });
    EXPECT_NE(text.find('5'), std::string::npos) << text;
    EXPECT_NE(text.find('3'), std::string::npos) << text;
  }
}

TEST(Cases, OPS_26_padding) {
  for (Backend* b : both_backends()) {
    error_of<ShapeError>([&] { ops::pad(tensor(*b, {0}, {}), {2}, {2}, PadMode::reflect); });
    EXPECT_EQ(ops::pad(tensor(*b, {0, 3}, {}), {0, 2}, {0, 1}).shape(), (Shape{0, 6}));
    const Value x = tensor(*b, {3}, {1, 2, 3});
    expect_numbers(ops::pad(x, {2}, {2}, PadMode::reflect), {3, 2, 1, 2, 3, 2, 1});
    expect_numbers(ops::pad(x, {2}, {2}, PadMode::symmetric), {2, 1, 1, 2, 3, 3, 2});
    expect_numbers(ops::pad(x, {2}, {2}, PadMode::replicate), {1, 1, 1, 2, 3, 3, 3});
    expect_numbers(ops::pad(x, {2}, {2}, PadMode::circular), {2, 3, 1, 2, 3, 1, 2});
    expect_numbers(ops::pad(x, {1}, {2}, PadMode::constant, 9), {9, 1, 2, 3, 9, 9});
    expect_numbers(ops::pad(x, {-1}, {1}), {2, 3, 0});
    const double inf = std::numeric_limits<double>::infinity();
    expect_numbers(ops::pad(ops::transpose(tensor(*b, {2, 2}, {1, 2, 3, 4})), {1, 0}, {0, 1},
                            PadMode::constant, -inf),
                   {-inf, -inf, -inf, 1, 3, -inf, 2, 4, -inf});
    expect_numbers(ops::pad(tensor(*b, {0, 2}, {}), {1, 0}, {0, 1}, PadMode::constant, 5),
                   {5, 5, 5});
  }
}

TEST(Split, uneven) {
  for (Backend* b : both_backends()) {
    const Value x = ops::arange(*b, 0, 1, 7, DType::f32);
    const std::vector<Value> parts = ops::chunk(x, 3, 0);
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[0].size(0), 3);
    expect_numbers(parts[2], {6});
    EXPECT_EQ(ops::split(x, 5, 0)[1].size(0), 2);
    const std::int64_t sizes[] = {2, 0, 5};
    EXPECT_EQ(ops::split(x, std::span<const std::int64_t>(sizes), 0)[2].size(0), 5);
    const std::int64_t wrong[] = {2, 2};
    error_of<ShapeError>([&] { ops::split(x, std::span<const std::int64_t>(wrong), 0); });
    EXPECT_EQ(ops::unbind(ops::reshape(x, {7, 1}), 0).size(), 7u);
  }
}

TEST(Roll, both_ways) {
  for (Backend* b : both_backends()) {
    const Value x = tensor(*b, {2, 3}, {1, 2, 3, 4, 5, 6});
    expect_numbers(ops::roll(x, {1}, {1}), {3, 1, 2, 6, 4, 5});
    expect_numbers(ops::roll(x, {-4, 1}, {1, 0}), {5, 6, 4, 2, 3, 1});
  }
}

TEST(Cases, IDX_13_triangle_of_a_prefix) {
  for (Backend* b : both_backends()) {
    const Value x = ops::reshape(ops::arange(*b, 0, 1, 40, DType::f32), {8, 5});
    const Value prefix = ops::narrow(x, 0, 0, 5);
    expect_numbers(ops::sum(ops::tril(prefix)), {220});
    expect_numbers(ops::triu(tensor(*b, {2, 2}, {1, 2, 3, 4}), 1), {0, 2, 0, 0});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    expect_numbers(ops::tril(tensor(*b, {2, 2}, {1, nan, 3, 4})), {1, 0, 3, 4});
  }
}

TEST(Cases, OPS_24_diag_of_nothing) {
  for (Backend* b : both_backends()) {
    EXPECT_EQ(ops::diag(tensor(*b, {0}, {})).shape(), (Shape{0, 0}));
    expect_numbers(ops::diag(tensor(*b, {2}, {1, 2}), -1), {0, 0, 0, 1, 0, 0, 0, 2, 0});
    expect_numbers(ops::diag(tensor(*b, {2, 3}, {1, 2, 3, 4, 5, 6}), 1), {2, 6});
    expect_numbers(ops::diag(tensor(*b, {3, 2}, {1, 2, 3, 4, 5, 6}), -1), {3, 6});
    EXPECT_EQ(ops::diag(tensor(*b, {2, 2}, {1, 2, 3, 4}), 5).shape(), (Shape{0}));
    expect_numbers(ops::eye(*b, 2, 3, DType::f32), {1, 0, 0, 0, 1, 0});
  }
}

}  // namespace
}  // namespace sinter::backend::testing
