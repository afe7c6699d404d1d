// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiled kernels as wholes: control flow, memory, atomics, and what is refused.
#include <chrono>
#include <thread>

#include "sinter/kernel/compilers/llvm/harness_test.hpp"
#include "sinter/kernel/dsl/control.hpp"

namespace sinter::llvm {
namespace {

using namespace sinter::dsl;

template <class T>
std::vector<T> counted(std::size_t count, int seed = 1) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>((static_cast<int>(i) * 37 + seed * 11) % 101 - 50) / T(4);
  }
  return values;
}

ir::Kernel scale_and_add() {
  return record("scale_and_add", {}, [] {
    const Buffer<float> x("x", ir::Access::read), y("y", ir::Access::read);
    const Buffer<float> z("z", ir::Access::write);
    const auto factor = scalar<float>("factor");
    const Index i = absolute_pos() * 16u;
    KERNEL_IF (i + 16u <= z.length()) {
      z.store<16>(i, x.load<16>(i) * splat<16>(factor) + y.load<16>(i));
    } else {
      for (const Index j : range(i, z.length())) {
        z[j] = x[j].value() * factor + y[j].value();
      }
    }
  });
}

TEST(Llvm, elementwise_kernel_equals_checked_mode) {
  SINTER_NEEDS_LLVM();
  const ir::Kernel kernel = scale_and_add();
  const std::size_t n = 16 * 5 + 7;
  const auto results = run_both(kernel,
                                {bytes_of(counted<float>(n, 1)), bytes_of(counted<float>(n, 2)),
                                 bytes_of(std::vector<float>(n))},
                                {ir::constant_bits(DType::f32, 1.7)}, {6, 1, 1});
  EXPECT_EQ(values_of<float>(results.got[2]), values_of<float>(results.expected[2]));
  EXPECT_NE(values_of<float>(results.got[2])[n - 1], 0.0f);
}

}  // namespace
}  // namespace sinter::llvm
