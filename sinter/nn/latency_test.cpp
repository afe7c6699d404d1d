// SPDX-License-Identifier: MIT OR Apache-2.0
// What could make one call of many late: memory from the system, and waiting. Counted, not timed;
// the times are the benchmark row `infer_p99`.
#include <gtest/gtest.h>

#ifdef __linux__
#include <sys/resource.h>
#endif

#include "sinter/base/sanitized_test.hpp"
#include "sinter/nn/linear.hpp"
#include "sinter/nn/norm.hpp"
#include "sinter/tensor/tensor.hpp"

namespace sinter::nn {
namespace {

using testing::sanitized;

struct Net {
  Linear first;
  LayerNorm norm;
  Linear second;

  Tensor<2> forward(const Tensor<2>& x) const {
    return second.forward(norm.forward(first.forward(x)).relu()).softmax(1);
  }
};

struct Calls {
  std::size_t held = 0;    // bytes that the pool has from the system
  std::size_t in_use = 0;  // bytes that tensors have from the pool
  long waits = 0;          // times that this thread gave its processor up
  long faults = 0;         // pages that the system had to bring
};

Calls counted(const Device& device) {
  Calls calls;
  const MemoryStats memory = device.backend().memory();
  calls.held = memory.in_use + memory.cached;
  calls.in_use = memory.in_use;
#ifdef __linux__
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) == 0) {
    calls.waits = usage.ru_nvcsw;
    calls.faults = usage.ru_minflt + usage.ru_majflt;
  }
#endif
  return calls;
}

TEST(Cases, MEM_13_inference_neither_waits_nor_asks_for_memory) {
  const Device device = Device::portable();
  const Net net{Linear{{.in = 64, .out = 48}, device}, LayerNorm{{.features = 48}, device},
                Linear{{.in = 48, .out = 10}, device}};
  const auto x = Tensor<2>::random({4, 64}, Distribution::normal(0, 1), device);
  const auto run = [&](int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      sum += net.forward(x).to_data().at(0);
    }
    return sum;
  };
  const double one = run(1);
  (void)run(200);
  const Calls before = counted(device);
  const int calls = sanitized ? 200 : 10'000;
  EXPECT_NEAR(run(calls), calls * one, 1e-9 * calls);
  const Calls after = counted(device);
  EXPECT_EQ(after.held, before.held);
  EXPECT_EQ(after.in_use, before.in_use);
  if (!sanitized) {
    // The system itself may put the thread aside, or move a page, now and then.
    EXPECT_LT(after.waits - before.waits, calls / 100);
    EXPECT_LT(after.faults - before.faults, calls / 100);
  }
}

}  // namespace
}  // namespace sinter::nn
