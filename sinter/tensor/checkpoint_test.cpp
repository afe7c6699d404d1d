// SPDX-License-Identifier: MIT OR Apache-2.0
// Checkpointing changes what memory gradients need, never their values; long graphs.
#include <algorithm>

#include "sinter/tensor/cases_test.hpp"
#include "sinter/tensor/functional.hpp"

namespace sinter::testing {
namespace {

struct Trained {
  std::vector<double> loss, x, weight;
};

// Matrix products, cheap elementwise chains, views, dropout and normalisation, 12 layers deep.
Trained train_once(const AutodiffOptions& options) {
  const Device device = Device().autodiff(options);
  device.seed(7);
  const auto x =
      (Tensor<1>::arange(24, device).reshape<2>({4, 6}) * 0.1).sin().detach().require_grad();
  const auto weight =
      (Tensor<1>::arange(36, device).reshape<2>({6, 6}) * 0.37).cos().detach().require_grad();
  auto h = x;
  for (int i = 0; i < 12; ++i) {
    h = h.matmul(weight).tanh() * 0.9 + h.flip({1}).exp().log();
    h = functional::dropout(h, 0.25);
    h = functional::layer_norm(h, Tensor<1>(), Tensor<1>());
  }
  const auto loss = (h * h.transpose().transpose()).sum() + h.mean(0).abs().sum();
  const Gradients gradients = loss.backward();
  return {loss.to_vector<double>(), x.grad(gradients)->to_vector<double>(),
          weight.grad(gradients)->to_vector<double>()};
}

TEST(Cases, GRD_20_checkpointing_changes_no_gradient) {
  on_each_device([] {
    const Trained kept = train_once({});
    ASSERT_GT(std::abs(kept.weight[0]), 0);
    for (const AutodiffOptions& options :
         {AutodiffOptions{Checkpointing::balanced}, AutodiffOptions{Checkpointing::budget, 0},
          AutodiffOptions{Checkpointing::budget, 400}, AutodiffOptions{Checkpointing::budget, 4000},
          AutodiffOptions{Checkpointing::budget, std::size_t{1} << 30}}) {
      SCOPED_TRACE(static_cast<int>(options.checkpointing));
      SCOPED_TRACE(options.budget);
      const Trained again = train_once(options);
      // The same kernels on the same numbers: equal bits, dropout included.
      EXPECT_EQ(again.loss, kept.loss);
      EXPECT_EQ(again.x, kept.x);
      EXPECT_EQ(again.weight, kept.weight);
    }
  });
}

// The most that one forward and backward pass of 64 layers of 1 MiB holds.
std::size_t peak_of(const AutodiffOptions& options) {
  const Device device = Device::portable().autodiff(options);
  const auto x = Tensor<2>::full({512, 512}, 0.01, device).require_grad();
  const std::size_t before = device.memory().in_use;
  std::size_t most = 0;
  auto h = x;
  for (int i = 0; i < 64; ++i) {
    h = (h * 1.001).sin();
    most = std::max(most, device.memory().in_use);
  }
  const auto loss = h.sum();
  h = x;
  most = std::max(most, device.memory().in_use);
  const Gradients gradients = loss.backward();
  EXPECT_EQ(x.grad(gradients)->shape(), (Shape{512, 512}));
  return most - before;
}

TEST(Checkpointing, a_budget_lowers_the_memory_held) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  const std::size_t kept = peak_of({});
  EXPECT_GE(kept, 64 * mib);
  EXPECT_LE(peak_of({Checkpointing::budget, 16 * mib}), 24 * mib);
  EXPECT_LE(peak_of({Checkpointing::balanced}), kept / 2);
}

TEST(Cases, FUS_16_long_chains) {
  on_each_autodiff([] {
    const auto x = Tensor<1>::from({1, 2}).require_grad();
    auto y = x;
    for (int i = 0; i < 100'000; ++i) {
      y = y + 1;
    }
    expect_values(y, {100'001, 100'002});
    expect_values(*x.grad(y.sum().backward()), {1, 1});
    // Each step adds the value to itself: the graph is a diamond 1000 levels deep.
    auto z = x;
    for (int i = 0; i < 1000; ++i) {
      z = (z + z) * 0.5;
    }
    expect_values(*x.grad(z.sum().backward()), {1, 1});
    // Freed without a backward pass.
    auto unused = x;
    for (int i = 0; i < 100'000; ++i) {
      unused = unused * 1;
    }
  });
}

TEST(Cases, FUS_16_long_chains_under_checkpointing) {
  for (const AutodiffOptions& options :
       {AutodiffOptions{Checkpointing::balanced}, AutodiffOptions{Checkpointing::budget, 1000}}) {
    const DefaultDeviceScope scope(Device::portable().autodiff(options));
    const auto x = Tensor<1>::from({1, 2}).require_grad();
    auto y = x;
    for (int i = 0; i < 20'000; ++i) {
      y = y * 1 + 0;
    }
    expect_values(*x.grad(y.sum().backward()), {1, 1});
  }
}

}  // namespace
}  // namespace sinter::testing
