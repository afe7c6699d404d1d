// SPDX-License-Identifier: MIT OR Apache-2.0
// Thousands of steps: memory stays flat, threads that train models of their own get what one
// thread gets, and objects that live until the program's end do no harm.
#include <algorithm>
#include <thread>

#include "sinter/base/error.hpp"
#include "sinter/base/memory_pool.hpp"
#include "sinter/base/sanitized_test.hpp"
#include "sinter/nn/golden_test.hpp"
#include "sinter/nn/nn.hpp"
#include "sinter/nn/record.hpp"
#include "sinter/optim/optimizer.hpp"
#include "sinter/store/record.hpp"
#include "sinter/tensor/functional.hpp"

namespace sinter::optim {

struct SmallCnn {
  nn::Conv2d conv;
  nn::BatchNorm norm;
  nn::Dropout dropout;
  nn::Linear out;

  static SmallCnn make(const Device& device) {
    return {nn::Conv2d({.in = 1, .out = 4, .padding = nn::Padding2d::amounts({1, 1})}, device),
            nn::BatchNorm({.features = 4}, device), nn::Dropout{nn::DropoutConfig{0.2}},
            nn::Linear({.in = 4 * 4 * 4, .out = 3}, device)};
  }
  Tensor<2> forward(const Tensor<4>& x) const {
    const auto h = functional::max_pool(norm.forward(conv.forward(x)).relu(), {.kernel = {2, 2}});
    return out.forward(dropout.forward(h.flatten<2>(1)));
  }
};

struct SmallMlp {
  nn::Linear first, second;
  static SmallMlp make(const Device& device) {
    return {nn::Linear({.in = 8, .out = 16}, device), nn::Linear({.in = 16, .out = 3}, device)};
  }
  Tensor<2> forward(const Tensor<2>& x) const { return second.forward(first.forward(x).tanh()); }
};

namespace {

using namespace sinter::testing;

// Without a sanitizer, memory is also watched for what grows by less than a block a step.
constexpr int flat_steps = sanitized ? 100 : 1000;
constexpr int own_steps = sanitized ? 40 : 200;

// The memory in use after each of `steps` calls must not exceed what it was after the first 50.
template <class F>
void expect_flat(const Device& device, int steps, F&& step) {
  std::size_t settled = 0;
  std::size_t highest = 0;
  for (int i = 0; i < steps; ++i) {
    step();
    (i < 50 ? settled : highest) = std::max(i < 50 ? settled : highest, device.memory().in_use);
  }
  // Small blocks are counted in steps of 64 KiB for each thread.
  EXPECT_LE(highest, settled + (std::size_t{256} << 10));
}

template <class M, int D>
void check_memory(const Shape& input) {
  const Device device = train_device();
  M model = M::make(device);
  AdamW optim;
  const auto x = Tensor<D>::random(input, Distribution::normal(0, 1), device);
  const auto y = Tensor<1, Int>::arange(input[0], device) % 3;
  expect_flat(device, flat_steps,
              [&] { optim.step(1e-3, model, nn::cross_entropy(model.forward(x), y).backward()); });
  const M valid = nn::valid(model);
  const auto inner = x.inner();
  expect_flat(device, flat_steps, [&] { (void)valid.forward(inner).argmax(1).to_data(); });
  // Results that nobody differentiates free their graph as well.
  expect_flat(device, flat_steps, [&] { (void)model.forward(x).to_data(); });
}

TEST(Memory, steps_of_a_cnn_dont_grow) { check_memory<SmallCnn, 4>({6, 1, 8, 8}); }
TEST(Memory, steps_of_an_mlp_dont_grow) { check_memory<SmallMlp, 2>({6, 8}); }

// The parameters after `own_steps` steps of training that is the `t`-th thread's.
std::vector<double> train_own(int t, const store::Record& start) {
  const Device device = train_device();
  SmallMlp model = SmallMlp::make(device);
  (void)nn::load_state(model, start);
  Sgd optim({.momentum = 0.9});
  const auto x = Tensor<2>(wave({6, 8}, 0.1 * (t + 1)));
  const auto y = Tensor<1, Int>::arange(6, device) % 3;
  for (int step = 0; step < own_steps; ++step) {
    optim.step(0.05, model, nn::cross_entropy(model.forward(x), y).backward());
  }
  std::vector<double> result = model.first.weight.tensor().template to_vector<double>();
  const std::vector<double> second = model.second.weight.tensor().template to_vector<double>();
  result.insert(result.end(), second.begin(), second.end());
  return result;
}

TEST(Thread, THR_01_own_models_train_as_they_do_alone) {
  constexpr int threads = 8;
  const SmallMlp model = SmallMlp::make(train_device());
  const store::Record start = nn::state(model);
  std::vector<std::vector<double>> serial(threads);
  std::vector<std::vector<double>> parallel(threads);
  for (int t = 0; t < threads; ++t) {
    serial[static_cast<std::size_t>(t)] = train_own(t, start);
  }
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] { parallel[static_cast<std::size_t>(t)] = train_own(t, start); });
  }
  for (std::thread& thread : pool) {
    thread.join();
  }
  EXPECT_EQ(parallel, serial);
  EXPECT_NE(serial[0], serial[1]);
}

// Objects that the process destroys after main: their tensors outlive devices' users.
Tensor<2> global_tensor;
std::optional<SmallMlp> global_model;
thread_local Tensor<1> local_tensor;

void leave_globals() {
  global_model = SmallMlp::make(train_device());
  global_tensor = global_model->forward(Tensor<2>(wave({2, 8}, 0.1)));
  local_tensor = global_tensor.sum(1);
  std::thread([] {
    local_tensor = Tensor<1>::ones({3}, train_device()).require_grad() * 2;
  }).join();
}

TEST(Cases, MEM_06_globals_survive_until_exit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        leave_globals();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sinter::optim
