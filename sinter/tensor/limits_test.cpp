// SPDX-License-Identifier: MIT OR Apache-2.0
// Sizes beyond memory and beyond 63 bits, tensors that were never set, operands that overlap: typed
// errors and right values, never a crash.
#include <cstdint>

#include "sinter/tensor/cases_test.hpp"
#include "sinter/tensor/combine.hpp"
#include "sinter/tensor/functional.hpp"

namespace sinter::testing {
namespace {

constexpr std::int64_t huge = std::int64_t{1} << 62;

TEST(Limits, bytes_beyond_the_address_space) {
  on_each_device([] {
    error_of<OutOfMemoryError>([] { (void)Tensor<1>::zeros({huge}).to_data(); });
    error_of<OutOfMemoryError>([] { (void)(Tensor<1>::zeros({1}).expand({huge}) + 1).to_data(); });
    error_of<OutOfMemoryError>([] { (void)Tensor<1, Int>::randperm(huge); });
    error_of<OutOfMemoryError>([] { (void)Tensor<1>::arange(0, 4e18).to_data(); });
  });
  error_of<OutOfMemoryError>([] { (void)HostData({huge}, DType::f32); });
  error_of<OutOfMemoryError>([] { (void)HostData({huge / 8}, DType::u8); });
}

TEST(Limits, elements_beyond_63_bits) {
  on_each_device([] {
    error_of<ShapeError>([] { (void)Tensor<2>::zeros({huge, huge}); });
    const auto stretched = Tensor<1>::zeros({1}).expand({huge});
    EXPECT_NE(
        error_of<ShapeError>([&] { (void)cat({stretched, stretched, stretched}); }).find("2^63"),
        std::string::npos);
    EXPECT_NE(
        error_of<ShapeError>([&] { (void)Tensor<1>::zeros({4}).pad({huge}, {huge}); }).find("2^63"),
        std::string::npos);
    error_of<ShapeError>([] { (void)Tensor<1>::zeros({4}).repeat({huge}); });
  });
}

TEST(Limits, windows_beyond_31_bits) {
  on_each_device([] {
    const auto x = Tensor<4>::zeros({1, 1, 5, 5}), weight = Tensor<4>::zeros({1, 1, 3, 3});
    for (const std::int64_t size : {INT64_MAX, INT64_MAX / 2, std::int64_t{1} << 31}) {
      for (const functional::ConvOptions& options : {functional::ConvOptions{.stride = {size, 1}},
                                                     {.padding = {size, 1}},
                                                     {.padding_after = {1, size}},
                                                     {.dilation = {size, 1}}}) {
        error_of<ArgumentError>([&] { (void)functional::conv(x, weight, {}, options); });
      }
      error_of<ArgumentError>(
          [&] { (void)functional::conv_transpose(x, weight, {}, {.stride = {size, 1}}); });
      error_of<ArgumentError>(
          [&] { (void)functional::avg_pool(x, {.kernel = {size, 2}, .padding = {size / 2, 0}}); });
      error_of<ArgumentError>(
          [&] { (void)functional::max_pool(x, {.kernel = {2, 2}, .dilation = {size, 1}}); });
    }
  });
}

TEST(Limits, ranges_over_all_integers) {
  on_each_device([] {
    const auto wide = Tensor<1, Int>::arange(INT64_MIN, INT64_MAX, INT64_MAX);
    EXPECT_EQ(wide.to_vector<std::int64_t>(),
              (std::vector<std::int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
    const auto down = Tensor<1, Int>::arange(INT64_MAX, INT64_MIN, INT64_MIN);
    EXPECT_EQ(down.to_vector<std::int64_t>(), (std::vector<std::int64_t>{INT64_MAX, -1}));
    EXPECT_EQ((Tensor<1, Int>::arange(3, 3).num_elements()), 0);
    EXPECT_EQ((Tensor<1, Int>::arange(3, 1).num_elements()), 0);
    error_of<ArgumentError>([] { (void)Tensor<1, Int>::arange(INT64_MIN, INT64_MAX); });
    error_of<ArgumentError>([] { (void)Tensor<1>::arange(0, inf); });
    error_of<ArgumentError>([] { (void)Tensor<1>::arange(nan, 1); });
  });
}

TEST(Limits, tensors_that_were_never_set) {
  on_each_autodiff([] {
    const Tensor<2> unset;
    error_of<ArgumentError>([&] { (void)unset.to_data(); });
    error_of<ArgumentError>([&] { (void)unset.item(); });
    error_of<ArgumentError>([&] { (void)unset.backward(); });
    error_of<ArgumentError>([&] { (void)unset.require_grad(); });
    error_of<ArgumentError>([&] { (void)cat({unset, unset}); });
    error_of<ArgumentError>([&] { (void)stack({unset, unset}); });
    error_of<ArgumentError>([&] { (void)(Tensor<2>::ones({2, 2}) + unset); });
    error_of<ArgumentError>([&] { (void)unset.sum(); });
    EXPECT_EQ(unset.str(), "Tensor(unset)");
  });
}

TEST(Limits, a_tensor_with_itself) {
  on_each_autodiff([] {
    auto x = Tensor<1>::from({1, 2, 3}).require_grad();
    auto y = x;
    y *= y;
    y += y;
    y /= y.sum() + 1;
    y -= y;
    expect_values(y, {0, 0, 0});
    auto z = x;
    z *= z;
    expect_values(z, {1, 4, 9});
    expect_values(*x.grad(z.sum().backward()), {2, 4, 6});
  });
}

TEST(Limits, an_error_leaves_the_left_side_as_it_was) {
  on_each_device([] {
    auto x = Tensor<1>::from({1, 2, 3});
    error_of<ShapeError>([&] { x += Tensor<1>::ones({2}); });
    error_of<ArgumentError>([&] { x *= Tensor<1>(); });
    expect_values(x, {1, 2, 3});
    auto n = Tensor<1, Int>::from({1, 2});
    error_of<DTypeError>([&] { n += 0.5; });
    expect_values(n, {1, 2});
  });
}

TEST(Limits, operands_that_overlap) {
  on_each_device([] {
    auto x = Tensor<2>::from({{1, 2}, {3, 4}});
    x += x.transpose();
    expect_values(x, {2, 5, 5, 8});
    auto y = Tensor<2>::from({{1, 2}, {3, 4}});
    const auto turned = y.transpose();
    y *= turned;
    expect_values(y, {1, 6, 6, 16});
    expect_values(turned, {1, 3, 2, 4});
    auto z = Tensor<1>::from({1, 2, 3, 4, 5});
    const auto part = z.slice(range(1, 4));
    z = std::move(z).slice_assign(part, range(0, 3));
    expect_values(z, {2, 3, 4, 4, 5});
    expect_values(part, {2, 3, 4});
    auto wide = Tensor<2>::from({{1}, {2}}).expand({2, 3});
    wide += wide.flip({0});
    expect_values(wide, {3, 3, 3, 3, 3, 3});
  });
}

}  // namespace
}  // namespace sinter::testing
