// SPDX-License-Identifier: MIT OR Apache-2.0
// Cases of elementwise and creating operations, with the values they must give.
#include "sinter/tensor/cases_test.hpp"

namespace sinter::testing {
namespace {

using F1 = Tensor<1>;
using F2 = Tensor<2>;
using I1 = Tensor<1, Int>;
using I2 = Tensor<2, Int>;

TEST(Cases, OPS_01_shift) {
  on_each_device([] {
    const auto a = I2::from({{1, 2, 3, 4}, {5, 6, 7, 8}});
    const auto b = I2::from({{0, 1, 2, 3}, {3, 2, 1, 0}});
    expect(a << b, {2, 4}, {1, 4, 12, 32, 40, 24, 14, 8});
    expect(a >> b, {2, 4}, {1, 1, 0, 0, 0, 1, 3, 8});
  });
}

TEST(Cases, OPS_02_remainder) {
  on_each_device([] {
    const auto x = I1::from({-5, -2, -1, 0, 1, 2, 5});
    expect_values(x % 3, {1, 1, 2, 0, 1, 2, 2});
    expect_values(x % -3, {-2, -2, -1, 0, -2, -1, -1});
    expect_values(x.fmod(3), {-2, -2, -1, 0, 1, 2, 2});
    const auto u = I1::arange(1, 11).cast(DType::u32);
    const auto m = u % 3;
    EXPECT_EQ(m.dtype(), DType::u32);
    expect_values(m, {1, 2, 0, 1, 2, 0, 1, 2, 0, 1});
  });
}

TEST(Cases, OPS_04_floor_division) {
  on_each_device([] {
    expect_values(F1::from({-7.5}).floor_div(2), {-4});
    expect_values(F1::from({-7.5}).remainder(2), {0.5});
    const auto q = I1::from({-7}).floor_div(2);
    EXPECT_EQ(q.dtype(), DType::i64);
    expect_values(q, {-4});
  });
}

TEST(Cases, OPS_05_integer_power) {
  on_each_device([] {
    EXPECT_THROW((void)I1::from({2}).pow(I1::from({-1})).to_data(), UserError);
    expect_values(I1::from({2, -3}).pow(I1::from({10, 3})), {1024, -27});
  });
}

TEST(Cases, OPS_06_power) {
  on_each_device([] {
    expect_values(F1::from({-2, -2, -2, 0, 0}).pow(F1::from({3, 2, 0.5, 0, -1})),
                  {-8, 4, nan, 1, inf});
    expect_values(F1::from({-0.0}).pow(-1), {-inf});
    for (std::int64_t n = 1; n <= 9; ++n) {
      expect_values(F1::full({n}, -2).pow(3), std::vector<double>(static_cast<std::size_t>(n), -8));
    }
  });
}

TEST(Cases, OPS_08_truth) {
  on_each_device([] {
    EXPECT_FALSE(F1::from({-0.0}).any().item<bool>());
    EXPECT_FALSE(F1::from({-0.0, 1}).all().item<bool>());
    EXPECT_TRUE(F1::from({nan}).any().item<bool>());
  });
}

TEST(Cases, OPS_09_closeness) {
  on_each_device([] {
    EXPECT_FALSE(F1::from({inf}).all_close(F1::from({-inf})));
    EXPECT_FALSE(F1::from({1}).all_close(F1::from({inf})));
    EXPECT_TRUE(F1::from({inf}).all_close(F1::from({inf})));
    EXPECT_FALSE(F1::from({nan}).all_close(F1::from({nan})));
    EXPECT_TRUE((F1::from({inf}) == F1::from({inf})).item<bool>());
    EXPECT_TRUE(F1::from({1}).all_close(F1::from({1.000001})));
    EXPECT_FALSE(F1::from({1}).all_close(F1::from({1.001})));
  });
}

TEST(Cases, OPS_10_erf) {
  on_each_device([] {
    expect_values(F1::from({nan, 0.5, -0.5}).erf(), {nan, 0.5204999, -0.5204999}, 1e-6);
    const auto x = F1::linspace(-6, 6, 1001);
    const std::vector<double> at = x.to_data().to_doubles(), found = x.erf().to_data().to_doubles();
    for (std::size_t i = 0; i < at.size(); ++i) {
      EXPECT_NEAR(found[i], std::erf(at[i]), 1e-6);
    }
  });
}

TEST(Cases, OPS_12_minimum_of_nan) {
  on_each_device([] {
    const auto ten = F1::from({10});
    expect_values(F1::from({nan}).minimum(ten), {nan});
    expect_values(ten.minimum(F1::from({nan})), {nan});
    expect_values(F1::from({nan, nan}).minimum(ten), {nan, nan});
    expect_values(ten.maximum(F1::from({nan, nan})), {nan, nan});
    expect(F2::from({{nan}}).minimum(F2::from({{10, 10}})), {1, 2}, {nan, nan});
    expect(F2::from({{10, 10}}).maximum(F2::from({{nan}})), {1, 2}, {nan, nan});
  });
}

TEST(Cases, OPS_13_sign_of_nan) {
  on_each_device(
      [] { expect_values(F1::from({nan, -nan, 0, -0.0, -3}).sign(), {nan, nan, 0, 0, -1}); });
  on_each_autodiff([] {
    const auto x = F1::from({-0.5}).require_grad();
    const double g = x.grad(x.log().abs().sum().backward())->sum().item();
    EXPECT_NE(g, -2);
    EXPECT_FALSE(std::isfinite(g));
  });
}

TEST(Cases, OPS_14_descending_sort) {
  on_each_device([] {
    expect_values(I1::from({1, 2, 3, 4, 5}).sort(0, true), {5, 4, 3, 2, 1});
    const auto view = I1::from({9, 9, 3, 1, 2}).slice(range(2, none));
    expect_values(view.argsort(0), {1, 2, 0});
  });
}

TEST(Cases, OPS_16_topk) {
  on_each_device([] {
    const auto [values, indices] = F1::from({1, 3, 2}).topk_with_indices(3);
    expect_values(values, {3, 2, 1});
    expect_values(indices, {1, 2, 0});
    EXPECT_THROW((void)F1::from({1, 3, 2}).topk(4), UserError);
    expect(F1::from({1, 3, 2}).topk(0), {0}, {});
  });
}

TEST(Cases, OPS_17_repeat_by_zero) {
  on_each_device([] {
    EXPECT_EQ(Tensor<3>::ones({2, 3, 4}).repeat({1, 0, 2}).shape(), (Shape{2, 0, 8}));
    expect(F2::from({{1, 2}}).repeat({2, 2}), {2, 4}, {1, 2, 1, 2, 1, 2, 1, 2});
  });
}

TEST(Cases, OPS_18_unsqueeze_dims) {
  on_each_device([] {
    const auto x = F2::zeros({3, 4});
    EXPECT_EQ(x.unsqueeze_dims<4>({-1, -1}).shape(), (Shape{3, 4, 1, 1}));
    EXPECT_EQ(x.unsqueeze_dims<4>({0, 0}).shape(), (Shape{1, 1, 3, 4}));
    const std::string text = error_of<UserError>([&] { (void)x.unsqueeze(5); });
    EXPECT_NE(text.find('5'), text.npos) << text;
    EXPECT_NE(text.find('3'), text.npos) << text;
  });
}

TEST(Cases, OPS_20_one_hot) {
  on_each_device([] {
    expect(I1::from({0, 2, 1}).one_hot(3), {3, 3}, {1, 0, 0, 0, 0, 1, 0, 1, 0});
    EXPECT_THROW((void)I1::from({3}).one_hot(3).to_data(), IndexError);
  });
}

TEST(Cases, OPS_21_cross_product) {
  on_each_device([] {
    const auto a = F2::from({{1, 0}, {0, 1}, {0, 0}}), b = F2::from({{0, 0}, {1, 0}, {0, 1}});
    expect(a.cross(b, 0), {3, 2}, {0, 1, 0, 0, 1, 0});
  });
}

TEST(Cases, OPS_22_arange_linspace) {
  on_each_device([] {
    const auto x = I1::arange(2147483648, 2147483650);
    EXPECT_EQ(x.dtype(), DType::i64);
    EXPECT_EQ(x.to_vector<std::int64_t>(), (std::vector<std::int64_t>{2147483648, 2147483649}));
    expect_values(F1::linspace(0, 1, 1), {0});
    expect_values(F1::linspace(0, 1, 3), {0, 0.5, 1});
    expect_values(I1::arange(5, 0, -2), {5, 3, 1});
    expect_values(F1::arange(0, 1, 0.25), {0, 0.25, 0.5, 0.75});
    EXPECT_THROW((void)I1::arange(0, 5, 0), ArgumentError);
  });
}

TEST(Cases, OPS_25_fill) {
  on_each_device([] {
    const double most = std::numeric_limits<float>::max();
    for (const double v : {-inf, inf, nan, most}) {
      expect_values(F1::full({3}, v), {v, v, v});
      expect_values(F1::from({1, 2}).mask_fill(Tensor<1, Bool>::from({true, false}), v), {v, 2});
    }
  });
}

TEST(Cases, OPS_26_padding) {
  on_each_device([] {
    EXPECT_THROW((void)F1::zeros({0}).pad({2}, {2}, PadMode::reflect), UserError);
    EXPECT_EQ(F2::zeros({0, 3}).pad({0, 2}, {0, 1}).shape(), (Shape{0, 6}));
    const auto x = F1::from({1, 2, 3});
    expect_values(x.pad({2}, {2}, PadMode::reflect), {3, 2, 1, 2, 3, 2, 1});
    expect_values(x.pad({2}, {2}, PadMode::symmetric), {2, 1, 1, 2, 3, 3, 2});
    expect_values(x.pad({1}, {2}, PadMode::constant, 9), {9, 1, 2, 3, 9, 9});
  });
}

TEST(Cases, DTY_01_bits) {
  on_each_device([] {
    expect_values(F1::from({1}, {}, DType::bf16) + F1::from({1}, {}, DType::bf16), {2});
    for (int i = 0; i < dtype_count; ++i) {
      const auto dtype = static_cast<DType>(i);
      HostData data({5}, dtype);
      for (std::size_t b = 0; b < data.bytes().size(); ++b) {
        data.bytes()[b] = static_cast<std::byte>(dtype == DType::boolean ? b % 2 : 37 * b + 11);
      }
      EXPECT_EQ(DynTensor::from_data(data).to_data(), data) << name_of(dtype);
    }
  });
}

TEST(Cases, DTY_02_bools) {
  on_each_device([] {
    const auto positive = F1::from({1, 0, 3}) > 0;
    expect_values(positive.to_int(), {1, 0, 1});
    expect_values(positive.to_float(), {1, 0, 1});
    const auto a = F1::from({1, 2, 3});
    EXPECT_TRUE((a <= a).all().item<bool>());
    expect_values((positive & !positive) | positive, {1, 0, 1});
    expect_values(positive ^ positive, {0, 0, 0});
  });
}

// Of NumPy and PyTorch: any and all in other words, and indices of the first.
TEST(Extremes, of_bool) {
  on_each_device([] {
    const auto x = Tensor<2, Bool>::from({{true, false, true}, {false, false, false}});
    const Tensor<1, Bool> largest = x.max(1);
    expect(largest, {2}, {1, 0});
    expect(x.min(0), {3}, {0, 0, 0});
    EXPECT_EQ(x.max().dtype(), DType::boolean);
    EXPECT_TRUE(x.max().item<bool>());
    EXPECT_FALSE(x.min().item<bool>());
    EXPECT_TRUE((Tensor<1, Bool>::ones({1000}).min().item<bool>()));
    EXPECT_THROW((void)(Tensor<2, Bool>::zeros({2, 0}).max(1)), ShapeError);
    const auto [values, indices] = x.max_with_indices(1);
    expect(values, {2}, {1, 0});
    expect(indices, {2}, {0, 0});
    expect(x.argmin(1), {2}, {1, 0});
    expect(x.flip({1}).cummax(1), {2, 3}, {1, 1, 1, 0, 0, 0});
    expect(x.cummin(1), {2, 3}, {1, 0, 0, 0, 0, 0});
    const auto row = Tensor<1, Bool>::from({true, true, false});
    expect(x.maximum(row.unsqueeze(0)), {2, 3}, {1, 1, 1, 1, 1, 0});
    expect(x.minimum(row.unsqueeze(0)), {2, 3}, {1, 0, 0, 0, 0, 0});
    EXPECT_EQ(x.maximum(row.unsqueeze(0)).dtype(), DType::boolean);
  });
}

// As PyTorch: what a limit of NaN lets through is unknown.
TEST(Clamp, limits_of_nan) {
  on_each_autodiff([] {
    const auto x = F1::from({-2, 0, inf}).require_grad();
    for (const auto& y : {x.clamp(nan, 1), x.clamp(-1, nan), x.clamp_min(nan), x.clamp_max(nan),
                          x.hardtanh(nan, nan)}) {
      expect_values(y, {nan, nan, nan});
    }
    expect_values(*x.grad(x.clamp_min(nan).sum().backward()), {0, 0, 0});
    const auto whole = Tensor<1, Int>::from({1, 2});
    EXPECT_NE(
        error_of<DTypeError>([&] { (void)whole.clamp_min(nan); }).find("clamp: a limit is NaN"),
        std::string::npos);
    expect_values(whole.clamp_min(-inf), {1, 2});
  });
}

TEST(Cases, DTY_05_abs_of_the_smallest) {
  on_each_device([] {
    const auto x = I1::from({-128}, {}, DType::i8);
    expect_values(x.abs(), {-128});
    const auto y = I1::full({1}, std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(y.abs().item<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  });
}

TEST(Cases, DTY_06_float_to_int) {
  on_each_device([] {
    expect_values(F1::from({1.9, -1.9}).to_int(), {1, -1});
    expect_values(F1::from({3e9, -3e9, nan, inf}).cast<Int>(DType::i32),
                  {2147483647, -2147483648.0, 0, 2147483647});
  });
}

TEST(Cases, DTY_08_exact_integers) {
  on_each_device([] {
    expect(I2::from({{16777217}}).matmul(I2::from({{1}})), {1, 1}, {16777217}, 0);
    EXPECT_EQ(I1::from({16777217, 1}).sum().item<std::int64_t>(), 16777218);
  });
}

TEST(Cases, DTY_13_random_range) {
  on_each_device([] {
    const auto x = I1::random({100000}, Distribution::randint(0, 3));
    EXPECT_EQ(x.min().item(), 0);
    EXPECT_EQ(x.max().item(), 2);
    EXPECT_EQ((x == 1).any().item(), 1);
    const auto y = F1::random({100000}, Distribution::uniform(2, 5));
    EXPECT_GE(y.min().item(), 2);
    EXPECT_LT(y.max().item(), 5);
  });
}

TEST(Cases, DTY_17_halves) {
  on_each_device([] {
    const auto x = F1::zeros({2}, {}, DType::f16);
    const auto y = x.slice_fill(true, range(0, 1));
    EXPECT_EQ(y.dtype(), DType::f16);
    expect_values(y, {1, 0});
    expect_values(F1::from({0.1}, {}, DType::f16), {0.0999755859375}, 0);
  });
}

}  // namespace
}  // namespace sinter::testing
