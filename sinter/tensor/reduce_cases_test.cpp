// SPDX-License-Identifier: MIT OR Apache-2.0
// Cases of reductions, statistics and scans, with the values they must give.
#include "sinter/tensor/cases_test.hpp"
#include "sinter/tensor/functional.hpp"

namespace sinter::testing {
namespace {

using F1 = Tensor<1>;
using F2 = Tensor<2>;
using I1 = Tensor<1, Int>;
using I2 = Tensor<2, Int>;

// `head`, then zeros of the row up to `length`, so that short and vectorised paths are both taken.
F1 row(std::vector<double> head, std::size_t length, double fill) {
  std::vector<float> values(length, static_cast<float>(fill));
  for (std::size_t i = 0; i < head.size(); ++i) {
    values[i] = static_cast<float>(head[i]);
  }
  return F1::from_span(values, {static_cast<std::int64_t>(length)});
}

TEST(Cases, RED_01_nan_propagates) {
  on_each_device([] {
    for (const std::size_t length : {3u, 600u}) {
      const auto x = row({1, nan, 3}, length, 2);
      EXPECT_TRUE(std::isnan(x.max().item()));
      EXPECT_TRUE(std::isnan(x.min().item()));
      EXPECT_EQ(x.argmax(0).item(), 1);
      EXPECT_EQ(x.argmin(0).item(), 1);
    }
    expect_values(F1::from({1, nan, 5}).cummax(0), {1, nan, nan});
    expect_values(F1::from({1, nan, 5}).cummin(0), {1, nan, nan});
  });
}

TEST(Cases, RED_02_first_nan) {
  on_each_device([] {
    for (const std::size_t length : {3u, 511u, 512u, 513u}) {
      EXPECT_EQ(row({nan, 1, nan}, length, 0).argmax(0).item(), 0) << length;
    }
  });
}

TEST(Cases, RED_04_zero_length) {
  on_each_device([] {
    const auto x = F2::ones({2, 0});
    expect(x.sum(1), {2}, {0, 0});
    expect(x.prod(1), {2}, {1, 1});
    expect(x.any(1), {2}, {0, 0});
    expect(x.all(1), {2}, {1, 1});
    expect(x.mean(1), {2}, {nan, nan});
    EXPECT_THROW((void)x.max(1), ShapeError);
    EXPECT_THROW((void)x.argmax(1), ShapeError);
    expect(F2::ones({0, 2}).sum(1), {0}, {});
  });
}

TEST(Cases, RED_05_contains_nan) {
  on_each_device([] {
    std::vector<float> values(128);
    for (std::size_t i = 0; i < 128; ++i) {
      values[i] = i < 64 ? 60000.0f : -60000.0f;
    }
    const auto half = F1::from_span(values, {128}).cast(DType::f16);
    EXPECT_FALSE(half.contains_nan().item<bool>());
    values.assign(1025, 1);
    values.back() = static_cast<float>(nan);
    EXPECT_TRUE(F1::from_span(values, {1025}).contains_nan().item<bool>());
  });
}

TEST(Cases, RED_06_mean) {
  on_each_device([] {
    EXPECT_EQ(F1::full({1000}, 1000, {}, DType::f16).mean().item(), 1000);
    const auto x = F1::arange(1024).reshape<3>({2, 2, 256}).permute({1, 2, 0});
    expect_values(x.mean(0).mean(0), {255.5, 767.5});
  });
}

TEST(Cases, RED_08_transposed_sum) {
  on_each_device([] { expect_values(F2::from({{1, 2, 3}, {4, 5, 6}}).t().sum(1), {5, 7, 9}); });
}

TEST(Cases, RED_09_product) {
  on_each_device([] {
    EXPECT_EQ(F2::from({{1, -2, 3}, {5, 9, 6}}).prod().item(), -1620);
    EXPECT_EQ(F1::from({0, 5}).prod().item(), 0);
  });
  on_each_autodiff(
      [] { EXPECT_EQ(F2::from({{1, -2, 3}, {5, 9, 6}}).require_grad().prod().item(), -1620); });
}

TEST(Cases, RED_10_logsumexp) {
  on_each_device([] {
    EXPECT_NEAR(F1::from({1000, 1000}).logsumexp().item(), 1000.693147, 1e-4);
    EXPECT_NEAR(F1::from({-1000, -1000}).logsumexp().item(), -999.306853, 1e-4);
    EXPECT_EQ(F1::from({-inf, -inf}).logsumexp().item(), -inf);
    EXPECT_EQ(F1::from({inf, 1}).logsumexp().item(), inf);
    EXPECT_EQ(F2::zeros({2, 3}).logsumexp(1, keep_dim).shape(), (Shape{2, 1}));
    EXPECT_EQ(F2::zeros({2, 3}).logsumexp(0).shape(), (Shape{3}));
  });
}

TEST(Cases, RED_12_median) {
  on_each_device([] {
    EXPECT_TRUE(std::isnan(F1::from({1, nan, 3}).median().item()));
    EXPECT_EQ(F1::from({4, 1, 3, 2}).median().item(), 2);
    const auto [values, indices] = F2::from({{3, 1, 2}}).median_with_indices(1);
    expect_values(values, {2});
    expect_values(indices, {2});
  });
}

TEST(Cases, RED_13_flat_cumsum) {
  on_each_device([] {
    expect_values(F2::from({{1, 2}, {3, 4}}).flatten<1>().cumsum(0), {1, 3, 6, 10});
    EXPECT_THROW((void)F2::zeros({2, 2}).cumsum(2), IndexError);
  });
}

TEST(Cases, RED_14_integer_extremes) {
  on_each_device([] {
    for (const DType dtype : {DType::i8, DType::i32, DType::i64}) {
      EXPECT_EQ(I1::from({-5, -3}, {}, dtype).max().item(), -3);
    }
    for (const DType dtype : {DType::i8, DType::i32, DType::i64, DType::u8}) {
      EXPECT_EQ(I1::from({7, 9}, {}, dtype).min().item(), 7);
    }
    const std::int64_t least = std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(I1::full({1}, least).max().item<std::int64_t>(), least);
    const auto x = I2::from({{0, 1, 2}, {3, 4, 5}});
    expect(x.max(0, keep_dim), {1, 3}, {3, 4, 5});
    expect(x.max(1, keep_dim), {2, 1}, {2, 5});
  });
}

TEST(Cases, RED_16_sums_of_all_sizes) {
  on_each_device([] {
    for (const std::int64_t n :
         {0,  1,  2,  3,   4,   5,   7,   8,   9,   15,  16,  17,  31,   32,  33,
          63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1025}) {
      const auto x = cat({F1::arange(1, n + 1), F1::full({1}, nan)});
      EXPECT_EQ(x.slice(range(0, n)).sum().item(), static_cast<double>(n * (n + 1) / 2)) << n;
    }
  });
}

TEST(Cases, RED_17_seventy_thousand_rows) {
  on_each_device([] {
    constexpr std::int64_t rows = 70000;
    const auto x = F2::zeros({rows, 3}).slice_assign(F2::from({{3, 1, 2}}), range(rows - 1, rows));
    const auto last = [](const auto& y) { return y.slice(-1); };
    expect_values(last(x.sort(1)), {1, 2, 3});
    expect_values(last(x.argsort(1)), {1, 2, 0});
    expect_values(last(x.softmax(1)), {0.6652410, 0.0900306, 0.2447285});
    expect_values(last(x.max(1, keep_dim)), {3});
    expect_values(last(x.cumsum(1)), {3, 4, 6});
  });
}

TEST(Cases, RED_21_the_same_every_time) {
  on_each_autodiff([] {
    const auto x = (F1::arange(2 * 70) * 0.37).sin().reshape<2>({2, 70}).require_grad();
    const auto weight = F2::full({2, 70}, 0.5) + x.detach().cos();
    HostData gradient, scan, soft;
    for (int i = 0; i < 10000; ++i) {
      const Gradients grads = (functional::layer_norm(x) * weight).sum().backward();
      const HostData g = x.grad(grads)->to_data();
      const HostData c = x.detach().cumsum(1).to_data(), s = x.detach().softmax(1).to_data();
      if (i == 0) {
        gradient = g;
        scan = c;
        soft = s;
      }
      ASSERT_TRUE(g == gradient && c == scan && s == soft) << i;
    }
  });
}

TEST(Cases, RED_22_scatter_with_nan_and_many_writers) {
  on_each_device([] {
    auto values = F1::full({1000}, 1).slice_fill(nan, range(500, 501));
    const auto index = I1::zeros({1000});
    for (const IndexUpdate update : {IndexUpdate::mul, IndexUpdate::max, IndexUpdate::min}) {
      const F1 y = F1::ones({2}).scatter(0, index, values, update);
      expect_values(y, {nan, 1});
      expect_values(F1::ones({2}).select_assign(0, index, values, update), {nan, 1});
    }
    values = F1::full({1000}, 2).slice_fill(inf, range(1, 2));
    expect_values(F1::ones({2}).scatter(0, index, values, IndexUpdate::mul), {inf, 1});
  });
}

TEST(Cases, RED_18_normalize) {
  on_each_device([] {
    expect_values(F1::from({0, 0}).normalize(0), {0, 0});
    expect_values(F1::from({3, 4}).normalize(0), {0.6, 0.8});
    EXPECT_NEAR(F1::from({3, 4}).norm().item(), 5, 1e-6);
    EXPECT_EQ(F1::from({3, -4}).norm(1).item(), 7);
    EXPECT_EQ(F1::from({3, -4, 0}).norm(0).item(), 2);
    EXPECT_EQ(F1::from({3, -4}).norm(inf).item(), 4);
    EXPECT_EQ(F1::from({3, -4}).norm(-inf).item(), 3);
  });
  on_each_autodiff([] {
    const auto x = F1::zeros({2}).require_grad();
    expect_values(*x.grad(x.norm().backward()), {0, 0});
  });
}

TEST(Cases, RED_20_exact_sum) {
  on_each_device([] { EXPECT_EQ(F1::ones({1000000}).sum().item(), 1e6); });
}

TEST(Reductions, variance_divides_by_n_less_one) {
  on_each_device([] {
    const auto x = F2::from({{1, 2, 3, 4}, {2, 2, 2, 2}});
    expect_values(x.var(1), {5.0 / 3, 0});
    expect_values(x.var(1, 0), {1.25, 0});
    expect_values(x.std(1), {std::sqrt(5.0 / 3), 0});
    EXPECT_NEAR(x.var(all, 0).item(), 0.6875, 1e-6);
    EXPECT_TRUE(std::isnan(F1::from({3}).var().item()));
    const auto [var, mean] = x.var_mean(1);
    expect_values(var, {5.0 / 3, 0});
    expect_values(mean, {2.5, 2});
    // Far from 0 the naive formula loses everything.
    EXPECT_NEAR((F1::from({1, 2, 3, 4}, {}, DType::f64) + 1e9).var().item(), 5.0 / 3, 1e-9);
    // Observations of two variables: y = 2x + 1.
    expect(F2::from({{1, 3}, {2, 5}, {3, 7}}).cov(0), {2, 2}, {1, 2, 2, 4});
    expect(F2::from({{1, 2, 3}, {3, 5, 7}}).cov(1), {2, 2}, {1, 2, 2, 4});
  });
}

TEST(Reductions, several_dims) {
  on_each_device([] {
    const auto x = F1::arange(24).reshape<3>({2, 3, 4});
    expect(x.sum<1>({0, 2}), {3}, {60, 92, 124});
    expect(x.sum({0, 2}, keep_dim), {1, 3, 1}, {60, 92, 124});
    expect_values(x.max_with_indices(2).indices, {3, 3, 3, 3, 3, 3});
    EXPECT_EQ(x.argmin().item(), 0);
    EXPECT_EQ(x.argmax().item(), 23);
  });
}

}  // namespace
}  // namespace sinter::testing
