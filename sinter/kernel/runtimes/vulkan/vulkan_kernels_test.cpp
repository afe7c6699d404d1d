// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels with structure on a Vulkan device: shared memory, atomics, planes, control flow,
// arguments.
#include <cmath>
#include <numeric>

#include "sinter/kernel/dsl/kernels_test.hpp"
#include "sinter/kernel/runtimes/vulkan/vulkan_test.hpp"
#if __has_include(<vulkan/vulkan_core.h>)
#include "sinter/kernel/runtimes/vulkan/detail/runtime.hpp"
#endif

namespace sinter::kernel {
namespace {

using namespace dsl;

class VulkanKernels : public VulkanTest {};

TEST_F(VulkanKernels, tiled_matmul) {
  const std::uint32_t m = 37, n = 29, k = 41, tile = 8;
  const ir::Kernel kernel =
      record("matmul", {.cube = {tile, tile, 1}}, [&] { dsl::tiled_matmul(tile); });
  std::vector<float> a = noise(m * k, 1), b = noise(k * n, 2), c(m * n);
  std::vector<float> expected(m * n);
  const ir::Extent cubes{(n + tile - 1) / tile, (m + tile - 1) / tile, 1};
  check(kernel, cubes, 8, {m, n, k}, a, b, expected);
  run(runtime(), kernel, cubes, {m, n, k}, a, b, c);
  EXPECT_EQ(c, expected);
}

template <class T>
void atomics_body() {
  const Buffer<T> x("x", ir::Access::read), sums("sums"), old("old");
  const Shared<T> tile("tile", 3);
  const Index i = absolute_pos(), u = unit_pos();
  KERNEL_IF (u < 3u) {
    tile[u] = x[Index(0u)];
  }
  sync_cube();
  tile.atomic_add(Index(0u), x[i].value());
  tile.atomic_min(Index(1u), x[i].value());
  tile.atomic_max(Index(2u), x[i].value());
  sums.atomic_add(Index(0u), x[i].value());
  sums.atomic_min(Index(1u), x[i].value());
  sums.atomic_max(Index(2u), x[i].value());
  old[i] = sums.atomic_exchange(i + 6u, x[i].value()) +
           sums.atomic_compare_exchange(i + 6u, x[i].value(), Expr<T>(T(9)));
  sync_cube();
  KERNEL_IF (u < 3u) {
    sums[u + 3u] = tile[u];
  }
}

template <class T>
class VulkanAtomics : public VulkanTest {};
using AtomicTypes =
    testing::Types<float, double, f16, bf16, std::int64_t, std::uint64_t, std::int32_t,
                   std::uint32_t, std::int16_t, std::uint16_t, std::int8_t, std::uint8_t>;
TYPED_TEST_SUITE(VulkanAtomics, AtomicTypes);

TYPED_TEST(VulkanAtomics, buffers_and_shared_memory) {
  using T = TypeParam;
  const ir::Kernel kernel = record("atomics", {.cube = {32}}, atomics_body<T>);
  std::vector<T> x(32), sums(40), old(32);
  for (std::size_t i = 0; i < x.size(); ++i) {
    // Whole numbers, whose sums don't depend on the order.
    x[i] = static_cast<T>(static_cast<float>((7 * i) % 13 + 1));
  }
  for (T& value : sums) {
    value = static_cast<T>(4.0f);
  }
  std::vector<T> wanted = sums, wanted_old = old;
  check(kernel, {}, 8, {}, x, wanted, wanted_old);
  run(this->runtime(), kernel, {}, {}, x, sums, old);
  const auto as_double = [](const std::vector<T>& values) {
    std::vector<double> result;
    for (const T value : values) {
      result.push_back(static_cast<double>(value));
    }
    return result;
  };
  EXPECT_EQ(as_double(sums), as_double(wanted));
  EXPECT_EQ(as_double(old), as_double(wanted_old));
}

template <class T>
void planes_body() {
  const Buffer<T> x("x", ir::Access::read), y("y");
  const Index i = absolute_pos(), n = Index(64u);
  const Expr<T> v = x[i];
  y[i] = plane_sum(v);
  y[i + n] = plane_min(v);
  y[i + n * 2u] = plane_max(v);
  y[i + n * 3u] = plane_shuffle(v, (plane_pos() + 1u) % plane_dim());
  // Some units of each plane.
  KERNEL_IF ((i & 1u) == 0u) {
    y[i + n * 4u] = plane_sum(v);
  }
}

template <class T>
class VulkanPlanes : public VulkanTest {};
using PlaneTypes = testing::Types<float, double, f16, std::int64_t, std::int32_t, std::uint32_t,
                                  std::int8_t, std::uint16_t>;
TYPED_TEST_SUITE(VulkanPlanes, PlaneTypes);

TYPED_TEST(VulkanPlanes, sums_and_shuffles) {
  using T = TypeParam;
  const ir::Kernel kernel = record("planes", {.cube = {64}}, planes_body<T>);
  std::vector<T> x(64), y(320);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(static_cast<float>((11 * i) % 17) - 3.0f);
  }
  std::vector<T> wanted = y;
  check(kernel, {}, this->runtime().properties().plane, {}, x, wanted);
  run(this->runtime(), kernel, {}, {}, x, y);
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(static_cast<double>(y[i]), static_cast<double>(wanted[i])) << i;
  }
}

TEST_F(VulkanKernels, plane_minimum_keeps_nan_and_votes_count) {
  const ir::Kernel kernel = record("votes", {.cube = {32}}, [] {
    const Buffer<float> x("x", ir::Access::read), y("y");
    const Buffer<bool> any("any"), all("all");
    const Index i = absolute_pos();
    y[i] = plane_min(x[i].value());
    any[i] = plane_any(x[i].value() > 20.0f);
    all[i] = plane_all(x[i].value() >= 8.0f);
  });
  const std::size_t plane = runtime().properties().plane;
  std::vector<float> x(32), y(32);
  std::iota(x.begin(), x.end(), 0.0f);
  x[3] = NAN;
  // A vector of bool has no bytes.
  std::vector<std::uint8_t> any(32), all(32);
  run(runtime(), kernel, {}, {}, x, y, any, all);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t first = i / plane * plane;
    const bool bad = first <= 3 && 3 < first + plane;
    EXPECT_EQ(std::isnan(y[i]), bad) << i;
    EXPECT_EQ(bad || y[i] == static_cast<float>(first), true) << i;
    EXPECT_EQ(any[i], first + plane > 21 ? 1 : 0) << i;
    EXPECT_EQ(all[i], first >= 8 ? 1 : 0) << i;
  }
}

TEST_F(VulkanKernels, nests_of_loops_and_branches) {
  const ir::Kernel kernel = record("nest", {.cube = {8}}, [] {
    const Buffer<std::int32_t> x("x");
    const Index i = absolute_pos();
    const Local<std::int32_t> seen(4);
    for (std::uint32_t k = 0; k < 4; ++k) {
      seen[Index(k)] = 0;
    }
    Var<std::int32_t> sum = 0;
    for (const auto a : range(cast<std::int32_t>(i))) {
      KERNEL_IF (a % 3 == 2) {
        for ([[maybe_unused]] auto round : forever()) {
          sum += 7;
          KERNEL_IF (sum.value() > 40) {
            KERNEL_IF (sum.value() > 60) {
              break_if(Expr<bool>(true));
            } else {
              sum += 1;
            }
          } else {
            sum += 2;
          }
          break_if(sum.value() % 5 == 0);
        }
      } else {
        const Index place = cast<std::uint32_t>(a) % Index(4u);
        seen[place] = seen[place].value() + a;
      }
      break_if(sum.value() > 90);
      for (const auto b : range(Expr<std::int32_t>(10), a, Expr<std::int32_t>(3))) {
        sum += b;
      }
    }
    x[i] = sum.value() * 1000 + seen[Index(0u)].value() * 8 + seen[Index(3u)].value();
  });
  std::vector<std::int32_t> x(64), wanted(64);
  check(kernel, {8, 1, 1}, 8, {}, wanted);
  run(runtime(), kernel, {8, 1, 1}, {}, x);
  EXPECT_EQ(x, wanted);
}

TEST_F(VulkanKernels, positions_along_all_axes_and_scalars_of_all_types) {
  const ir::Kernel kernel = record("places", {.cube = {4, 2, 3}}, [] {
    const Buffer<std::int64_t> x("x");
    const auto wide = [](Index v) { return cast<std::int64_t>(v); };
    const Index cube =
        (cube_pos(Axis::z) * cube_count(Axis::y) + cube_pos(Axis::y)) * cube_count(Axis::x) +
        cube_pos(Axis::x);
    const Index unit = (unit_pos(Axis::z) * 2u + unit_pos(Axis::y)) * 4u + unit_pos(Axis::x);
    Expr<std::int64_t> sum = wide(cube * 100u + unit) + scalar<std::int64_t>("a");
    sum = sum + cast<std::int64_t>(scalar<double>("b")) + cast<std::int64_t>(scalar<f16>("c"));
    sum = sum + cast<std::int64_t>(scalar<std::int8_t>("d"));
    x[cube * 24u + unit] = sum + cast<std::int64_t>(scalar<bool>("e"));
  });
  const std::vector<std::uint64_t> scalars = {
      ir::constant_bits(DType::i64, std::int64_t{-5} << 40), ir::constant_bits(DType::f64, 1e12),
      ir::constant_bits(DType::f16, 2.5), ir::constant_bits(DType::i8, std::int64_t{-7}),
      ir::constant_bits(DType::boolean, std::int64_t{1})};
  const ir::Extent cubes{3, 2, 2};
  std::vector<std::int64_t> x(12 * 24), wanted(12 * 24);
  check(kernel, cubes, 8, scalars, wanted);
  run(runtime(), kernel, cubes, scalars, x);
  EXPECT_EQ(x, wanted);
}

TEST_F(VulkanKernels, more_arguments_than_push_constants_hold) {
  const ir::Kernel kernel = record("many", {.cube = {1}}, [] {
    const Buffer<std::uint64_t> x("x");
    Expr<std::uint64_t> sum = x[Index(0u)];
    for (int i = 0; i < 40; ++i) {
      sum = sum * 3ull + scalar<std::uint64_t>("s" + std::to_string(i));
    }
    x[Index(0u)] = sum;
  });
  std::vector<std::uint64_t> scalars(40);
  std::iota(scalars.begin(), scalars.end(), 1ull << 40);
  std::vector<std::uint64_t> x = {5}, wanted = {5};
  check(kernel, {}, 8, scalars, wanted);
  run(runtime(), kernel, {}, scalars, x);
  EXPECT_EQ(x, wanted);
}

TEST_F(VulkanKernels, more_cubes_than_a_dispatch_takes) {
  const ir::Kernel kernel = record("wide", {.cube = {1}}, [] {
    const Buffer<std::uint8_t> x("x");
    x[cube_pos()] = cast<std::uint8_t>(cube_pos() % Index(251u)) + cast<std::uint8_t>(cube_count());
  });
  const std::uint32_t count = 70001;
  std::vector<std::uint8_t> x(count);
  run(runtime(), kernel, {count, 1, 1}, {}, x);
  for (std::uint32_t i = 0; i < count; ++i) {
    ASSERT_EQ(x[i], static_cast<std::uint8_t>(i % 251 + count)) << i;
  }
}

TEST_F(VulkanKernels, a_barrier_shows_what_others_wrote_to_a_buffer) {
  const ir::Kernel kernel = record("relay", {.cube = {64}}, [] {
    const Buffer<float> x("x"), y("y");
    const Index i = unit_pos();
    for (std::uint32_t round = 0; round < 5; ++round) {
      x[i] = y[Index(63u) - i].value() + 1.0f;
      sync_cube();
      y[i] = x[(i + 7u) % Index(64u)].value() * 2.0f;
      sync_cube();
    }
  });
  std::vector<float> x(64), y = noise(64, 5);
  std::vector<float> wanted_x = x, wanted_y = y;
  check(kernel, {}, 8, {}, wanted_x, wanted_y);
  run(runtime(), kernel, {}, {}, x, y);
  EXPECT_EQ(y, wanted_y);
  EXPECT_EQ(x, wanted_x);
}

TEST_F(VulkanKernels, two_buffers_may_be_one_tensor) {
  const ir::Kernel kernel = record("inplace", {.cube = {64}}, [] {
    const Buffer<float> x("x", ir::Access::read), y("y");
    const Index i = absolute_pos();
    y[i] = x[i].value() + 1.0f;
    y[i] = x[i].value() * 10.0f;
  });
  std::vector<float> x(64, 2);
  const Ref<Program> program = runtime().load(kernel);
  OnDevice dx(runtime(), x);
  const Binding bindings[] = {dx.binding(), dx.binding()};
  runtime().launch(*program, {.cubes = {}, .buffers = bindings, .scalars = {}});
  dx.read();
  EXPECT_EQ(x, std::vector<float>(64, 30));
}

#if __has_include(<vulkan/vulkan_core.h>)

/// A device of its own, with less than it has.
std::unique_ptr<vulkan::VulkanRuntime> poor_device() {
  auto poor = std::make_unique<vulkan::VulkanRuntime>(
      0, VulkanOptions{.cache = "", .messages = &TestDevice::get().messages});
  spirv::Features& features = poor->device().features;
  features.storage8 = features.storage16 = false;
  features.buffer_f32_add = features.shared_f32_add = false;
  features.push_bytes = 4;
  return poor;
}

TYPED_TEST(VulkanAtomics, on_a_device_with_less) {
  using T = TypeParam;
  const auto poor = poor_device();
  const ir::Kernel kernel = record("atomics", {.cube = {32}}, atomics_body<T>);
  std::vector<T> x(32, static_cast<T>(2.0f)), sums(40, static_cast<T>(4.0f)), old(32);
  std::vector<T> wanted = sums, wanted_old = old;
  check(kernel, {}, 8, {}, x, wanted, wanted_old);
  run(*poor, kernel, {}, {}, x, sums, old);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(static_cast<double>(sums[i]), static_cast<double>(wanted[i])) << i;
  }
}

TEST_F(VulkanKernels, narrow_elements_packed_into_words) {
  const auto poor = poor_device();
  const ir::Kernel kernel = record("narrow", {.cube = {32}}, [] {
    const Buffer<std::int8_t> a("a");
    const Buffer<f16> b("b");
    const Buffer<bool> c("c");
    const Index i = absolute_pos();
    a[i] = a[i].value() * std::int8_t(-3);
    b[i] = b[i].value() + cast<f16>(a[i].value());
    c[i] = b[i].value() > cast<f16>(Expr<float>(0.0f));
  });
  std::vector<std::int8_t> a(64);
  std::iota(a.begin(), a.end(), std::int8_t{-32});
  std::vector<f16> b(64, f16(0.375f));
  std::vector<std::uint8_t> c(64);
  std::vector<std::int8_t> wanted_a = a;
  std::vector<f16> wanted_b = b;
  std::vector<std::uint8_t> wanted_c = c;
  check(kernel, {2, 1, 1}, 8, {}, wanted_a, wanted_b, wanted_c);
  run(*poor, kernel, {2, 1, 1}, {}, a, b, c);
  EXPECT_EQ(a, wanted_a);
  EXPECT_EQ(b, wanted_b);
  EXPECT_EQ(c, wanted_c);
}

#endif

}  // namespace
}  // namespace sinter::kernel
