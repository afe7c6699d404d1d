// SPDX-License-Identifier: MIT OR Apache-2.0
// Cases of many operations in one program: shared results, views between, errors in the middle,
// memory over many calls. They hold however a backend groups or delays the work.
#include <cmath>
#include <thread>

#include "sinter/ops/op.hpp"
#include "sinter/tensor/cases_test.hpp"
#include "sinter/tensor/functional.hpp"

namespace sinter::testing {
namespace {

using F1 = Tensor<1>;
using F2 = Tensor<2>;
using F3 = Tensor<3>;
using F4 = Tensor<4>;
using I1 = Tensor<1, Int>;
using B1 = Tensor<1, Bool>;

TEST(Cases, FUS_01_masked_softmax_and_results_used_later) {
  on_each_device([] {
    constexpr std::int64_t count = 6, side = 96, all_of = count * side * side;
    const auto x = (F1::arange(all_of) / static_cast<double>(all_of) - 0.5) * 20;
    const auto visible = tril_mask<2>({side, side});
    const F3 scores = x.reshape<3>({count, side, side});
    const F3 y = scores.mask_fill(!visible.expand<3>({count, side, side}), -inf).softmax(2);
    const std::vector<double> found = y.to_vector<double>(), in = x.to_vector<double>();
    double worst = 0;
    for (std::int64_t row = 0; row < count * side; ++row) {
      double sum = 0;
      const std::int64_t last = row % side;
      const double most = in[static_cast<std::size_t>(row * side + last)];
      for (std::int64_t k = 0; k <= last; ++k) {
        sum += std::exp(in[static_cast<std::size_t>(row * side + k)] - most);
      }
      for (std::int64_t k = 0; k < side; ++k) {
        const auto at = static_cast<std::size_t>(row * side + k);
        const double expected = k <= last ? std::exp(in[at] - most) / sum : 0;
        worst = std::max(worst, std::abs(found[at] - expected));
      }
    }
    EXPECT_LT(worst, 1e-6);
    const auto a = F1::from({0, 1});
    const F1 e = a.exp();
    const F1 z = e * 2, w = a + 1;
    expect_values(e, {1, std::exp(1.0)});
    expect_values(z, {2, 2 * std::exp(1.0)});
    expect_values(w, {1, 2});
    expect_values(a, {0, 1});
  });
}

TEST(Cases, FUS_02_permuted_input_and_two_reductions) {
  on_each_device([] {
    const auto x = F1::arange(1024).reshape<3>({2, 2, 256}).permute({1, 2, 0});
    expect_values(x.mean(0).mean(0), {255.5, 767.5});
  });
}

TEST(Cases, FUS_04_broadcast_product_summed) {
  on_each_device([] {
    const auto rows = F2::from({{1, 1, 1}, {0, 0, 0}, {-1, -1, -1}});
    const auto columns = F2::from({{-1, 0, 1}, {-1, 0, 1}, {-1, 0, 1}});
    const auto e = stack({rows, columns}, 2);  // [3, 3, 2]
    const F1 one = F1::arange(1, 10);
    const F4 v = cat({one, one * 10}).reshape<4>({1, 2, 3, 3});
    const auto products = v.unsqueeze(4) * e.reshape<5>({1, 1, 3, 3, 2});
    expect(products.sum<3>({2, 3}), {1, 2, 2}, {-18, 6, -180, 60});
    expect(v.sum<2>({2, 3}), {1, 2}, {45, 450});
  });
}

TEST(Cases, FUS_05_a_long_loop_without_a_read) {
  on_each_device([] {
    const auto y = F1::from({0.5, -0.25, 3});
    auto late = F1::from({1, 2, 3}), early = late;
    for (int i = 0; i < 1000; ++i) {
      late = late * 0.99 + y;
      early = early * 0.99 + y;
      (void)early.to_data();
    }
    EXPECT_EQ(late.to_data(), early.to_data());
    expect_values(late, {50, -25, 300}, 1e-3);
  });
}

TEST(Cases, FUS_06_select_after_a_producer) {
  on_each_device([] {
    const auto base = F1::arange(300).reshape<4>({1, 3, 10, 10});
    const auto index = I1::from({1, 2, 3});
    const F4 made = base * 2 + 1;
    const F4 chosen = made.select(2, index).select(3, index);
    double total = 0;
    std::vector<double> expected;
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          expected.push_back(2.0 * (100 * c + 10 * (i + 1) + (j + 1)) + 1);
          total += expected.back();
        }
      }
    }
    expect(chosen, {1, 3, 3, 3}, expected);
    EXPECT_EQ((base * 2 + 1).select(2, index).select(3, index).sum().item(), total);
  });
}

TEST(Cases, FUS_08_one_helper_used_often) {
  on_each_device([] {
    const auto x = F1::from({0.5, 1, 2});
    const auto y = x.pow(2.5) + x.pow(3.5) + x.tanh() + (x * 2).tanh();
    std::vector<double> expected;
    for (const double v : {0.5, 1.0, 2.0}) {
      expected.push_back(std::pow(v, 2.5) + std::pow(v, 3.5) + std::tanh(v) + std::tanh(2 * v));
    }
    expect_values(y, expected);
  });
}

TEST(Cases, FUS_09_logic_at_every_length) {
  on_each_device([] {
    for (std::int64_t n = 1; n <= 9; ++n) {
      const auto a = F1::arange(n) % 2, b = F1::arange(n) % 3;
      const B1 p = a > 0.5, q = b < 0.5;
      std::vector<double> both, either, one, mixed;
      for (std::int64_t i = 0; i < n; ++i) {
        const bool x = i % 2 == 1, y = i % 3 == 0;
        both.push_back(x && y);
        either.push_back(x || y);
        one.push_back(x != y);
        mixed.push_back((x && !y) || (i % 2 >= i % 3));
      }
      expect_values(p & q, both);
      expect_values(p | q, either);
      expect_values(p ^ q, one);
      expect_values((p & !q) | (a >= b), mixed);
    }
  });
}

TEST(Cases, FUS_10_thirty_operands) {
  on_each_device([] {
    F2 sum = F2::full({3, 5}, 1);
    for (int i = 2; i <= 30; ++i) {
      sum = sum + F2::full({3, 5}, i);
    }
    expect_values(sum, std::vector<double>(15, 465));
  });
}

TEST(Cases, FUS_13_alike_but_for_the_op) {
  on_each_device([] {
    const auto x = F1::from({1, 10, 1024});
    expect_values(x.log2(), {0, std::log2(10.0), 10});
    expect_values(x.log10(), {0, 1, std::log10(1024.0)});
    expect_values(x.log2(), {0, std::log2(10.0), 10});
    expect_values(x.pow(2), {1, 100, 1048576});
    expect_values(x.pow(0.5), {1, std::sqrt(10.0), 32});
    expect_values(x.leaky_relu(0.5) - x.leaky_relu(0.1), {0, 0, 0});
    expect_values((-x).leaky_relu(0.5) - (-x).leaky_relu(0.1), {-0.4, -4, -409.6});
  });
}

TEST(Cases, FUS_14_errors_leave_things_usable) {
  on_each_autodiff([] {
    const auto x = F2::from({{1, 2}, {3, 4}}).require_grad();
    const auto y = x * 2 + 1;
    const auto mistake = [&] {
      return error_of<ShapeError>([&] { (void)y.exp().matmul(F2::ones({3, 1})); });
    };
    const std::string first = mistake();
    EXPECT_NE(first.find("matmul"), std::string::npos) << first;
    for (int i = 0; i < 30; ++i) {
      (void)error_of<IndexError>([&] { (void)y.select(0, I1::from({2})).to_data(); });
      (void)error_of<UserError>([&] { (void)y.backward(); });
    }
    expect_values(y, {3, 5, 7, 9});
    expect_values(*x.grad(y.sum().backward()), {2, 2, 2, 2});
    EXPECT_EQ(mistake(), first);
  });
}

TEST(Cases, FUS_17_views_between_operations) {
  on_each_device([] {
    const auto x = F1::arange(24).reshape<2>({4, 6});
    const F2 y = (x + 1).slice(range(1, 3), range(0, 6, 2)).t().reshape<2>({2, 3}) * 10 - 1;
    expect(y, {2, 3}, {69, 129, 89, 149, 109, 169});
    // Rows of width 3 within rows of 4: 16 bytes of pitch.
    const auto padded = F1::arange(20).reshape<2>({5, 4}).slice(all, range(0, 3));
    std::vector<double> expected;
    for (int r = 0; r < 5; ++r) {
      for (int c = 0; c < 3; ++c) {
        expected.push_back(2 * (4 * r + c) + 1);
      }
    }
    expect(padded * 2 + 1, {5, 3}, expected);
    expect((padded * 2 + 1).sum(0), {3}, {85, 95, 105});
  });
}

TEST(Cases, FUS_18_a_result_within_and_outside) {
  on_each_device([] {
    const auto x = F1::from({1, 2, 3, 6});
    const F1 twice = x * 2;
    const Tensor<0> s = twice.sum();
    const F1 y = twice - s / 4;
    EXPECT_EQ(s.item(), 24);
    expect_values(y, {-4, -2, 0, 6});
    expect_values(twice, {2, 4, 6, 12});
  });
}

TEST(Cases, MEM_02_predictions_of_varying_size) {
  const Device device = Device::portable();
  const auto w = F2::random({32, 48}, {}, device), v = F2::random({48, 10}, {}, device);
  const auto held = [&] { return device.memory().in_use + device.memory().cached; };
  std::size_t early = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t batch = 1 + i * 7 % 64;
    (void)F2::ones({batch, 32}, device).matmul(w).relu().matmul(v).softmax(1).to_data();
    if (i == 100) {
      early = held();
    }
  }
  EXPECT_LE(held(), early + early / 20 + (std::size_t{1} << 20));
}

// Another shape's memory is never taken for this one's.
TEST(Cases, MEM_09_shapes_that_come_back) {
  on_each_device([] {
    const auto w = F2::random({16, 16}, Distribution::normal(0, 1));
    const auto step = [&](const F3& x) { return (x.matmul(w.unsqueeze(0)) + x).softmax(2) * x; };
    const auto prefill = F3::random({1, 32, 16}, Distribution::normal(0, 1));
    const F3 whole = step(prefill);
    const HostData before = whole.to_data();
    for (std::int64_t t = 0; t < 3; ++t) {
      const F3 one = step(prefill.slice(all, range(t, t + 1), all));
      EXPECT_TRUE(one.all_close(whole.slice(all, range(t, t + 1), all), 1e-5, 1e-6));
    }
    const F3 again = step(prefill);
    EXPECT_EQ(again.to_data(), before);
    EXPECT_EQ(whole.to_data(), before);
  });
}

// What one thread builds another may use; results don't depend on who else computes.
TEST(ThreadCases, THR_04_two_programs_at_once) {
  on_each_device([] {
    const auto w = F2::random({24, 24}, Distribution::normal(0, 1));
    const Device device;  // a scope's default is its own thread's
    const auto run = [&, device](double scale) {
      F2 x = F2::full({5, 24}, scale, device);
      for (int i = 0; i < 50; ++i) {
        x = x.matmul(w).tanh() + scale;
      }
      return x;
    };
    const HostData first = run(0.1).to_data(), second = run(0.7).to_data();
    F2 a, b;
    std::thread one([&] { a = run(0.1); });
    std::thread two([&] { b = run(0.7); });
    one.join();
    two.join();
    EXPECT_EQ(a.to_data(), first);
    HostData seen;
    std::thread reader([&] { seen = (b * 1).to_data(); });
    reader.join();
    EXPECT_EQ(seen, second);
  });
}

TEST(Cases, ATT_05_forty_thousand_keys) {
  on_each_device([] {
    constexpr std::int64_t keys = 40000;
    const auto q = F3::ones({1, 1, 4});
    // Only the last key differs, and it wins.
    const auto k = F3::zeros({1, keys, 4}).slice_fill(30, all, range(keys - 1, keys), all);
    const auto v = F1::arange(keys).reshape<3>({1, keys, 1}).cast(DType::f32);
    EXPECT_NEAR(functional::attention(q, k, v).item(), keys - 1, 1);
  });
}

TEST(Cases, OPT_17_gumbel_in_half_precision) {
  on_each_device([] {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      const auto u = F1::from({0, 1, 5.9604645e-8}, {}, dtype);
      const std::vector<double> g = (-(-u.log()).log()).to_vector<double>();
      EXPECT_EQ(g[0], -inf);
      EXPECT_EQ(g[1], inf);
      EXPECT_NEAR(g[2], -2.812, 0.02);
      // Draws by Gumbel's trick: no NaN wins, and shares are those of the softmax.
      const auto logits = F1::from({0, 2, -inf, 1}, {}, dtype).unsqueeze(0);
      const auto drawn = logits.categorical(20000).to_vector<int>();
      std::vector<double> share(4, 0);
      for (const int c : drawn) {
        ASSERT_TRUE(c >= 0 && c < 4);
        share[static_cast<std::size_t>(c)] += 1.0 / 20000;
      }
      EXPECT_EQ(share[2], 0);
      EXPECT_NEAR(share[0], 0.0900, 0.015);
      EXPECT_NEAR(share[1], 0.6652, 0.015);
      EXPECT_NEAR(share[3], 0.2447, 0.015);
    }
  });
}

TEST(Cases, CNV_12_nearest_takes_the_same_pixels) {
  on_each_device([] {
    const auto x = F1::arange(49).reshape<4>({1, 1, 7, 7});
    const auto pick = [](std::int64_t from, std::int64_t to, bool exact) {
      std::vector<std::int64_t> at;
      for (std::int64_t i = 0; i < to; ++i) {
        at.push_back(exact ? (2 * i + 1) * from / (2 * to) : i * from / to);
      }
      return at;
    };
    for (const std::int64_t size : {1, 2, 3, 4, 5, 6, 7, 10, 14}) {
      for (const bool exact : {false, true}) {
        std::vector<double> expected;
        for (const std::int64_t r : pick(7, size, exact)) {
          for (const std::int64_t c : pick(7, 3, exact)) {
            expected.push_back(static_cast<double>(7 * r + c));
          }
        }
        const InterpolateMode mode =
            exact ? InterpolateMode::nearest_exact : InterpolateMode::nearest;
        expect_values(functional::interpolate(x, {size, 3}, {.mode = mode}), expected);
      }
    }
  });
}

}  // namespace
}  // namespace sinter::testing
