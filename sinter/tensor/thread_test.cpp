// SPDX-License-Identifier: MIT OR Apache-2.0
// Threads that compute at once, on tensors and graphs they share: each gets what it gets alone.
#include <thread>

#include "sinter/base/thread_pool.hpp"
#include "sinter/tensor/cases_test.hpp"
#include "sinter/tensor/functional.hpp"

namespace sinter::testing {
namespace {

// Calls `body(t)` for t < count one after another, then each in a thread of its own; the results
// must be alike.
template <class F>
void expect_same_at_once(int count, F&& body) {
  std::vector<decltype(body(0))> alone, together(static_cast<std::size_t>(count));
  for (int t = 0; t < count; ++t) {
    alone.push_back(body(t));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] { together[static_cast<std::size_t>(t)] = body(t); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (int t = 0; t < count; ++t) {
    EXPECT_EQ(together[static_cast<std::size_t>(t)], alone[static_cast<std::size_t>(t)]) << t;
  }
}

// Large enough that each thread's loops are cut for several threads of the one pool.
TEST(Thread, kernels_called_from_several_threads) {
  const Device device = Device::portable();
  device.seed(3);
  const auto a = Tensor<2>::random({160, 320}, Distribution::uniform(-1, 1), device);
  const auto b = Tensor<2>::random({320, 200}, Distribution::uniform(-1, 1), device);
  const auto image = Tensor<4>::random({2, 4, 64, 64}, Distribution::uniform(-1, 1), device);
  const auto kernel = Tensor<4>::random({8, 4, 3, 3}, Distribution::uniform(-1, 1), device);
  expect_same_at_once(4, [&](int t) {
    const ScopedThreads several(3);
    const auto product = (a + 0.1 * t).matmul(b).tanh();
    const auto filtered = functional::conv2d(image, kernel, Tensor<1>(), {.padding = {1, 1}});
    std::vector<double> result = product.softmax(1).sum(0).to_vector<double>();
    result.push_back((filtered * t).sum().item());
    result.push_back(product.sort(1).cumsum(1).mean().item());
    return result;
  });
}

// One graph, made by this thread, on top of which each thread goes its own way and back.
TEST(Thread, backward_through_a_shared_graph) {
  const DefaultDeviceScope scope(Device::portable().autodiff());
  const auto x = (Tensor<1>::arange(60).reshape<2>({6, 10}) * 0.1).sin().detach().require_grad();
  const auto shared = x.matmul(x.transpose()).tanh().exp();
  const Device device;
  expect_same_at_once(4, [&](int t) {
    const DefaultDeviceScope own(device);
    const auto loss = (shared * (1 + t)).pow(2).sum() + (x * t).abs().mean();
    const Gradients gradients = loss.backward();
    return x.grad(gradients)->to_vector<double>();
  });
  const Gradients gradients = shared.sum().backward();
  EXPECT_EQ(x.grad(gradients)->shape().str(), x.shape().str());
}

// The first use of a device, of its generator and of the tables behind them.
TEST(Thread, a_device_seeded_and_drawn_from_by_many) {
  const Device device = Device::portable();
  std::vector<std::thread> threads;
  std::vector<std::vector<double>> drawn(4);
  for (std::size_t t = 0; t < drawn.size(); ++t) {
    threads.emplace_back([&, t] {
      drawn[t] = Tensor<1>::random({64}, Distribution::normal(0, 1), device).to_vector<double>();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t t = 1; t < drawn.size(); ++t) {
    EXPECT_NE(drawn[0], drawn[t]) << "two threads drew the same numbers";
  }
}

}  // namespace
}  // namespace sinter::testing
