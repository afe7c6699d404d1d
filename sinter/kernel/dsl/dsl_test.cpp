// SPDX-License-Identifier: MIT OR Apache-2.0
// Recorded kernels: their text, their results in checked mode, and what is refused.
#include <cmath>
#include <cstring>
#include <stdexcept>

#include <gtest/gtest.h>

#include "sinter/base/error.hpp"
#include "sinter/kernel/dsl/control.hpp"
#include "sinter/kernel/dsl/kernels_test.hpp"
#include "sinter/kernel/ir/interpret.hpp"
#include "sinter/kernel/ir/text.hpp"
#include "sinter/kernel/ir/verify.hpp"
#include "sinter/ops/activation.hpp"

namespace sinter::dsl {
namespace {

template <class T>
ir::BufferArg arg(std::vector<T>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), values.size()};
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Kernel, tiled_matmul_equals_the_plain_sum) {
  const std::uint32_t m = 11, n = 13, k = 10, tile = 4;
  const ir::Kernel kernel =
      record("matmul", {.cube = {tile, tile, 1}}, [&] { tiled_matmul(tile); });
  std::vector<float> a = noise(m * k, 1), b = noise(k * n, 2), c(m * n, NAN);
  const ir::BufferArg buffers[] = {arg(a), arg(b), arg(c)};
  const std::uint64_t scalars[] = {m, n, k};
  ir::interpret(kernel, {.cubes = {(n + tile - 1) / tile, (m + tile - 1) / tile, 1},
                         .buffers = buffers,
                         .scalars = scalars});
  for (std::uint32_t i = 0; i < m; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::uint32_t p = 0; p < k; ++p) {
        sum += double{a[i * k + p]} * b[p * n + j];
      }
      EXPECT_NEAR(c[i * n + j], sum, 1e-5) << i << ", " << j;
    }
  }
}

// g++ and clang evaluate arguments in different orders: the text is the same.
TEST(Kernel, text_does_not_depend_on_the_order_of_evaluation) {
  const ir::Kernel kernel = record("order", {.cube = {4}}, [] {
    const Buffer<float> x("x"), y("y");
    const Index i = unit_pos();
    const Expr<float> sum = x[i + 1u].value() * y[i].value() + y[i + 2u].value() * 3.0f;
    y[i] = 0.0f;
    x[i] = sum;
  });
  EXPECT_EQ(ir::print(kernel), R"(kernel order cube 4 1 1
buffer x f32 read_write
buffer y f32 read_write
{
  %0 = unit_pos x : u32
  %1 = constant 0 : f32
  %2 = constant 1 : u32
  %3 = add %0 %2 : u32
  %4 = load x %3 : f32
  %5 = constant 2 : u32
  %6 = add %0 %5 : u32
  %7 = load y %6 : f32
  %8 = load y %0 : f32
  store y %0 %1
  %9 = constant 3 : f32
  %10 = mul %7 %9 : f32
  %11 = mul %4 %8 : f32
  %12 = add %10 %11 : f32
  store x %0 %12
}
)");
}

TEST(Kernel, a_formula_of_an_operation_is_recorded) {
  const ir::Kernel kernel = record("gelu", {.cube = {8}}, [] {
    const Buffer<float> x("x"), y("y", ir::Access::write);
    const Index i = absolute_pos();
    y[i] = Expr<float>(ops::Sigmoid::forward(Val(x[i].value())));
  });
  std::vector<float> x = noise(16, 3), y(16);
  const ir::BufferArg buffers[] = {arg(x), arg(y)};
  ir::interpret(kernel, {.cubes = {2, 1, 1}, .buffers = buffers, .scalars = {}});
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(y[i], 1 / (1 + std::exp(-double{x[i]})), 1e-6);
  }
}

TEST(Kernel, vectors_loops_and_atomics) {
  const ir::Kernel kernel = record("sum_of_squares", {.cube = {8}}, [] {
    const Buffer<float> x("x", ir::Access::read);
    const Buffer<float> total("total");
    Var<Vec<float, 4>> sum = Expr<Vec<float, 4>>(0.0f);
    for (const Index i : range(absolute_pos() * 4u, x.length(), cube_count() * (cube_dim() * 4u))) {
      const auto v = x.load<4>(i);
      sum += v * v;
    }
    const auto lanes = sum.value();
    total.atomic_add(0u, lanes.lane(0) + lanes.lane(1) + lanes.lane(2) + lanes.lane(3));
  });
  std::vector<float> x = noise(4 * 37, 4), total(1, 0.0f);
  const ir::BufferArg buffers[] = {arg(x), arg(total)};
  ir::interpret(kernel, {.cubes = {2, 1, 1}, .buffers = buffers, .scalars = {}});
  double expected = 0;
  for (const float value : x) {
    expected += double{value} * value;
  }
  EXPECT_NEAR(total[0], expected, 1e-4);
}

TEST(Kernel, a_loop_ends_by_break_if) {
  const ir::Kernel kernel = record("collatz", {.cube = {16}}, [] {
    const Buffer<std::int32_t> steps("steps", ir::Access::write);
    Var<std::int32_t> n = cast<std::int32_t>(unit_pos()) + 1;
    Var<std::int32_t> count = 0;
    for ([[maybe_unused]] const int round : forever()) {
      break_if(n.value() == 1);
      n = select((n.value() & 1) == 0, n.value() / 2, n.value() * 3 + 1);
      count += 1;
    }
    steps[unit_pos()] = count;
  });
  std::vector<std::int32_t> steps(16);
  const ir::BufferArg buffers[] = {arg(steps)};
  ir::interpret(kernel, {.cubes = {}, .buffers = buffers, .scalars = {}});
  EXPECT_EQ(steps,
            (std::vector<std::int32_t>{0, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14, 9, 9, 17, 17, 4}));
}

TEST(Kernel, planes_sum_and_shuffle) {
  const ir::Kernel kernel = record("planes", {.cube = {8}}, [] {
    const Buffer<std::uint32_t> out("out", ir::Access::write);
    const Index i = unit_pos();
    out[i] = plane_sum(i) * 100u + plane_shuffle(i, plane_dim() - 1u - plane_pos());
  });
  std::vector<std::uint32_t> out(8);
  const ir::BufferArg buffers[] = {arg(out)};
  ir::interpret(kernel, {.cubes = {}, .buffers = buffers, .scalars = {}, .plane = 4});
  EXPECT_EQ(out, (std::vector<std::uint32_t>{603, 602, 601, 600, 2207, 2206, 2205, 2204}));
}

// ---- what is refused ----

TEST(KernelErrors, leaving_a_block_natively_names_the_line) {
  const auto leave = [](bool by_break) {
    return message_of([&] {
      (void)record("bad", {}, [&] {
        for ([[maybe_unused]] const Index i : range(Index(4u))) {
          if (by_break) {
            break;
          }
          return;
        }
      });
    });
  };
  for (const bool by_break : {true, false}) {
    const std::string text = leave(by_break);
    EXPECT_NE(text.find("dsl_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("leaves a recorded for"), std::string::npos) << text;
  }
}

TEST(KernelErrors, a_host_exception_comes_through) {
  EXPECT_THROW((void)record("bad", {},
                            [] {
                              KERNEL_IF (unit_pos() == 0u) {
                                throw std::runtime_error("host");
                              }
                            }),
               std::runtime_error);
  EXPECT_THROW(Recorder::current(), ArgumentError);
}

TEST(KernelErrors, a_read_used_outside_its_block) {
  const std::string text = message_of([] {
    (void)record("bad", {.cube = {2}}, [] {
      const Buffer<float> x("x");
      std::vector<Expr<float>> kept;
      KERNEL_IF (unit_pos() == 0u) {
        kept.push_back(x[0u]);
        x[1u] = 2.0f;
      }
      x[0u] = kept[0];
    });
  });
  EXPECT_NE(text.find("used outside of it"), std::string::npos) << text;
}

TEST(KernelErrors, a_barrier_that_some_units_miss) {
  const std::string text = message_of([] {
    (void)record("bad", {.cube = {4}}, [] {
      KERNEL_IF (unit_pos() < 2u) {
        sync_cube();
      }
    });
  });
  EXPECT_NE(text.find("barrier: some units may not reach it"), std::string::npos) << text;
  EXPECT_NE(text.find("dsl_test.cpp:"), std::string::npos) << text;
  // Where all units decide alike it is legal.
  (void)record("good", {.cube = {4}}, [] {
    const Index n = scalar<std::uint32_t>("n");
    for ([[maybe_unused]] const Index i : range(n)) {
      KERNEL_IF (n < 2u) {
        sync_cube();
      }
    }
  });
}

TEST(KernelErrors, a_barrier_after_some_units_left_the_loop) {
  const std::string text = message_of([] {
    (void)record("bad", {.cube = {4}}, [] {
      for (const Index i : range(Index(9u))) {
        break_if(unit_pos() < i);
        sync_cube();
      }
    });
  });
  EXPECT_NE(text.find("some units may not reach it"), std::string::npos) << text;
}

TEST(KernelErrors, types_that_dont_go_together) {
  const std::string text = message_of([] {
    (void)record("bad", {}, [] {
      const Val a = Val::typed({DType::f32, 1}, 1);
      const Val b = Val::typed({DType::u32, 1}, 1);
      (void)(a + b);
    });
  });
  EXPECT_NE(text.find("add: the arguments' types don't go together: f32, u32"), std::string::npos)
      << text;
}

TEST(CheckedMode, an_index_outside_of_a_buffer) {
  const ir::Kernel kernel = record("far", {.cube = {4}}, [] {
    const Buffer<float> x("x");
    x[absolute_pos() + 1u] = 0.0f;
  });
  std::vector<float> x(4);
  const ir::BufferArg buffers[] = {arg(x)};
  const std::string text =
      message_of([&] { ir::interpret(kernel, {.cubes = {}, .buffers = buffers, .scalars = {}}); });
  EXPECT_NE(text.find("unit (3, 0, 0) of cube (0, 0, 0)"), std::string::npos) << text;
  EXPECT_NE(text.find("expected an index into x below 4, got 4"), std::string::npos) << text;
}

TEST(CheckedMode, a_missing_barrier) {
  for (const bool with_barrier : {false, true}) {
    const ir::Kernel kernel = record("reverse", {.cube = {4}}, [&] {
      const Buffer<float> x("x");
      const Shared<float> tile("tile", 4);
      const Index i = unit_pos();
      tile[i] = x[i];
      if (with_barrier) {
        sync_cube();
      }
      x[i] = tile[3u - i];
    });
    std::vector<float> x = {1, 2, 3, 4};
    const ir::BufferArg buffers[] = {arg(x)};
    const std::string text = message_of(
        [&] { ir::interpret(kernel, {.cubes = {}, .buffers = buffers, .scalars = {}}); });
    if (with_barrier) {
      EXPECT_EQ(x, (std::vector<float>{4, 3, 2, 1})) << text;
    } else {
      EXPECT_NE(text.find("another unit wrote tile[3] since the last barrier"), std::string::npos)
          << text;
    }
  }
}

TEST(CheckedMode, a_read_of_nothing) {
  const ir::Kernel kernel = record("hollow", {}, [] {
    const Buffer<float> x("x");
    const Local<float> own(2);
    own[0u] = 1.0f;
    x[0u] = own[1u];
  });
  std::vector<float> x(1);
  const ir::BufferArg buffers[] = {arg(x)};
  EXPECT_NE(message_of([&] {
              ir::interpret(kernel, {.cubes = {}, .buffers = buffers, .scalars = {}});
            }).find("read before anything is written"),
            std::string::npos);
}

}  // namespace
}  // namespace sinter::dsl
