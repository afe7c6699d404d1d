// SPDX-License-Identifier: MIT OR Apache-2.0
// A Vulkan device as a runtime: kernels with structure, memory, order, errors, threads.
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/kernel/compile_error.hpp"
#include "sinter/kernel/runtimes/vulkan/vulkan_test.hpp"
#if __has_include(<vulkan/vulkan_core.h>)
#include "sinter/kernel/runtimes/vulkan/detail/runtime.hpp"
#endif

#if defined(__SANITIZE_THREAD__)
// A driver may synchronise in ways that the thread sanitizer can't see.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libvulkan_lvp.so\ncalled_from_lib:libvulkan.so\n";
}
#endif

namespace sinter::kernel {
namespace {

using namespace dsl;

std::vector<float> noise(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) {
    value = uniform(generator);
  }
  return values;
}

template <class F>
std::string message_of(F&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

ir::Kernel scale_kernel() {
  return record("scale", {.cube = {64}}, [] {
    const Buffer<float> x("x");
    const Expr<float> factor = scalar<float>("factor");
    const Index i = absolute_pos();
    KERNEL_IF (i < x.length()) {
      x[i] = x[i].value() * factor;
    }
  });
}

std::uint64_t bits(float value) { return ir::constant_bits(DType::f32, double{value}); }

class Vulkan : public VulkanTest {};

// ---- kernels with structure ----

TEST_F(Vulkan, tiled_matmul) {
  const std::uint32_t m = 37, n = 29, k = 41, tile = 8;
  const ir::Kernel kernel = record("matmul", {.cube = {tile, tile, 1}}, [&] {
    const Buffer<float> a("a", ir::Access::read), b("b", ir::Access::read), c("c");
    const Shared<float> sa("sa", tile * tile), sb("sb", tile * tile);
    const Index tx = unit_pos(Axis::x), ty = unit_pos(Axis::y);
    const Index row = cube_pos(Axis::y) * tile + ty, col = cube_pos(Axis::x) * tile + tx;
    Var<float> sum = 0.0f;
    for (const Index k0 : range(Index(0u), Index(k), Index(tile))) {
      KERNEL_IF ((row < m) & (k0 + tx < k)) {
        sa[ty * tile + tx] = a[row * k + k0 + tx];
      } else {
        sa[ty * tile + tx] = 0.0f;
      }
      KERNEL_IF ((k0 + ty < k) & (col < n)) {
        sb[ty * tile + tx] = b[(k0 + ty) * n + col];
      } else {
        sb[ty * tile + tx] = 0.0f;
      }
      sync_cube();
      for (std::uint32_t i = 0; i < tile; ++i) {
        sum += sa[ty * tile + i].value() * sb[i * tile + tx].value();
      }
      sync_cube();
    }
    KERNEL_IF ((row < m) & (col < n)) {
      c[row * n + col] = sum;
    }
  });
  std::vector<float> a = noise(m * k, 1), b = noise(k * n, 2), c(m * n);
  std::vector<float> expected(m * n);
  const ir::Extent cubes{(n + tile - 1) / tile, (m + tile - 1) / tile, 1};
  check(kernel, cubes, 8, {}, a, b, expected);
  run(runtime(), kernel, cubes, {}, a, b, c);
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

TEST_F(Vulkan, plane_minimum_keeps_nan_and_votes_count) {
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

TEST_F(Vulkan, nests_of_loops_and_branches) {
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

TEST_F(Vulkan, positions_along_all_axes_and_scalars_of_all_types) {
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

TEST_F(Vulkan, more_arguments_than_push_constants_hold) {
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

TEST_F(Vulkan, more_cubes_than_a_dispatch_takes) {
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

// ---- buffers ----

TEST_F(Vulkan, a_part_of_a_tensor_at_any_element) {
  const ir::Kernel kernel = record("part", {.cube = {1}}, [] {
    const Buffer<std::int8_t> x("x"), y("y");
    for (const Index i : range(x.length())) {
      y[i] = x[i].value() * std::int8_t(2);
    }
  });
  std::vector<std::int8_t> x(100), y(100, 1);
  std::iota(x.begin(), x.end(), std::int8_t{0});
  const Ref<Program> program = runtime().load(kernel);
  OnDevice dx(runtime(), x), dy(runtime(), y);
  const Binding bindings[] = {{dx.memory(), 13, 5}, {dy.memory(), 71, 5}};
  runtime().launch(*program, {.cubes = {}, .buffers = bindings, .scalars = {}});
  dy.read();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(y[static_cast<std::size_t>(i)], i >= 71 && i < 76 ? 2 * (i - 71 + 13) : 1) << i;
  }
}

TEST_F(Vulkan, writes_and_launches_keep_their_order) {
  const Ref<Program> program = runtime().load(scale_kernel());
  std::vector<float> x(1000, 1);
  OnDevice dx(runtime(), x);
  const Binding binding = dx.binding();
  float expected = 1;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t factor[] = {bits(i % 2 == 0 ? 2.0f : 0.75f)};
    runtime().launch(*program, {.cubes = {16, 1, 1}, .buffers = {&binding, 1}, .scalars = factor});
    expected *= i % 2 == 0 ? 2.0f : 0.75f;
    if (i % 10 == 5) {
      // Over work that is still going on.
      x.assign(x.size(), static_cast<float>(i));
      runtime().write(dx.memory(), 0, std::as_bytes(std::span(x)));
      expected = static_cast<float>(i);
    }
  }
  dx.read();
  EXPECT_EQ(x, std::vector<float>(1000, expected));
}

TEST_F(Vulkan, empty_launches_and_empty_buffers) {
  const Ref<Program> program = runtime().load(scale_kernel());
  const Binding nothing{nullptr, 0, 0};
  const std::uint64_t factor[] = {bits(2)};
  runtime().launch(*program, {.cubes = {1, 1, 1}, .buffers = {&nothing, 1}, .scalars = factor});
  runtime().launch(*program, {.cubes = {0, 1, 1}, .buffers = {&nothing, 1}, .scalars = factor});
  runtime().sync();
}

TEST_F(Vulkan, memory_is_flat_over_many_launches) {
  const Ref<Program> program = runtime().load(scale_kernel());
  std::vector<float> x(5000, 1);
  const std::uint64_t factor[] = {bits(1)};
  std::size_t held = 0;
  for (int i = 0; i < 1000; ++i) {
    OnDevice dx(runtime(), x);
    const Binding binding = dx.binding();
    runtime().launch(*program, {.cubes = {79, 1, 1}, .buffers = {&binding, 1}, .scalars = factor});
    if (i == 200) {
      held = runtime().memory().in_use + runtime().memory().cached;
    }
  }
  runtime().sync();
  EXPECT_LE(runtime().memory().in_use + runtime().memory().cached, held + (8u << 20));
  runtime().trim();
  EXPECT_LT(runtime().memory().cached, 16u << 20);
}

TEST_F(Vulkan, out_of_memory_is_recoverable) {
  const std::size_t before = runtime().memory().in_use;
  EXPECT_THROW((void)runtime().allocate(std::size_t{1} << 46), OutOfMemoryError);
  std::vector<void*> blocks;
  const std::size_t size = 512 << 20;
  const std::string text = message_of([&] {
    for (int i = 0; i < 4096; ++i) {
      blocks.push_back(runtime().allocate(size));
    }
  });
  EXPECT_NE(text.find("free tensors, or make batches smaller"), std::string::npos) << text;
  for (void* block : blocks) {
    runtime().free(block, size);
  }
  // What is cached is given back for what is needed.
  void* const large = runtime().allocate(size + (200 << 20));
  runtime().free(large, size + (200 << 20));
  EXPECT_EQ(runtime().memory().in_use, before);
  runtime().trim();
  std::vector<float> x(64, 3);
  run(runtime(), scale_kernel(), {}, {bits(2)}, x);
  EXPECT_EQ(x[63], 6);
}

// ---- errors ----

TEST_F(Vulkan, errors_name_the_kernel_and_the_way_out) {
  const ir::Kernel kernel = scale_kernel();
  const Ref<Program> program = runtime().load(kernel);
  void* const memory = runtime().allocate(1024);
  const std::uint64_t factor[] = {bits(2)};
  const auto launch = [&](Binding binding) {
    return message_of([&] {
      runtime().launch(*program, {.cubes = {}, .buffers = {&binding, 1}, .scalars = factor});
    });
  };
  EXPECT_NE(launch({memory, 0, 4096}).find("kernel scale, buffer x: expected elements of 4 bytes"),
            std::string::npos);
  EXPECT_NE(launch({nullptr, 0, 1}).find("got a null pointer"), std::string::npos);
  EXPECT_NE(message_of([&] { runtime().launch(*program, {}); }).find("expected 1 buffers and 1"),
            std::string::npos);
  runtime().free(memory, 1024);
  const ir::Kernel large = record("large", {}, [] {
    const Shared<float> s("s", 1 << 20);
    s[Index(0u)] = 0.0f;
  });
  const std::string text = message_of([&] { (void)runtime().load(large); });
  EXPECT_NE(text.find("kernel large: "), std::string::npos) << text;
  EXPECT_NE(text.find("bytes of shared memory, got 4194304"), std::string::npos) << text;
  const std::string missing = message_of([] { (void)open_vulkan(1000); });
  EXPECT_NE(missing.find("expected a device from 0 to"), std::string::npos) << missing;
}

TEST_F(Vulkan, a_buffer_beyond_the_range_of_a_descriptor) {
  const std::size_t count = (160u << 20) / 4;
  const Ref<Program> program = runtime().load(scale_kernel());
  void* const memory = runtime().allocate(4 * count);
  const Binding binding{memory, 0, count};
  const std::uint64_t factor[] = {bits(2)};
  const std::string text = message_of([&] {
    runtime().launch(*program, {.cubes = {}, .buffers = {&binding, 1}, .scalars = factor});
  });
  runtime().free(memory, 4 * count);
  runtime().trim();
  // A device without that limit runs it.
  EXPECT_TRUE(text == "no error" || text.find("split the tensor") != std::string::npos) << text;
}

TEST_F(Vulkan, profiles_on_the_device) {
  (void)runtime().profile();
  std::vector<float> x(100000, 1);
  run(runtime(), scale_kernel(), {1563, 1, 1}, {bits(2)}, x);
  const std::vector<Timing> timings = runtime().profile();
  ASSERT_EQ(timings.size(), 1u);
  EXPECT_EQ(timings[0].kernel, "scale");
  EXPECT_GT(timings[0].seconds, 0);
  EXPECT_LT(timings[0].seconds, 10);
  EXPECT_TRUE(runtime().profile().empty());
}

TEST_F(Vulkan, keeps_compiled_kernels_on_disk) {
  const std::string folder =
      os::join_path(os::temporary_directory(), fmt::format("sinter-vulkan-{}", os::process_id()));
  for (int i = 0; i < 2; ++i) {
    const auto other = open_vulkan(0, {.cache = folder, .messages = nullptr});
    std::vector<float> x(64, 3);
    run(*other, scale_kernel(), {}, {bits(2)}, x);
    EXPECT_EQ(x[0], 6);
    // A program may outlive the runtime.
    const Ref<Program> program = other->load(scale_kernel());
    EXPECT_EQ(program->name(), "scale");
  }
  EXPECT_FALSE(os::list_directory(folder).empty());
  os::remove_tree(folder);
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

TEST_F(Vulkan, narrow_elements_packed_into_words) {
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

TEST_F(Vulkan, memory_that_the_host_does_not_see) {
  auto far = std::make_unique<vulkan::VulkanRuntime>(
      0, VulkanOptions{.cache = "", .messages = &TestDevice::get().messages});
  far->device().memory.mapped = false;
  for (int i = 0; i < 20; ++i) {
    std::vector<float> x(30000, static_cast<float>(i));
    run(*far, scale_kernel(), {469, 1, 1}, {bits(3)}, x);
    EXPECT_EQ(x, std::vector<float>(30000, static_cast<float>(3 * i)));
  }
}

TEST_F(Vulkan, a_lost_device_says_so_from_then_on) {
  auto lost = std::make_unique<vulkan::VulkanRuntime>(0, VulkanOptions{});
  std::vector<float> x(64, 1);
  run(*lost, scale_kernel(), {}, {bits(2)}, x);
  lost->device().vk.vkQueueSubmit = [](VkQueue, std::uint32_t, const VkSubmitInfo*, VkFence) {
    return VK_ERROR_DEVICE_LOST;
  };
  const auto again = [&] { run(*lost, scale_kernel(), {}, {bits(2)}, x); };
  for (int i = 0; i < 3; ++i) {
    const std::string text = message_of(again);
    EXPECT_NE(text.find("was lost"), std::string::npos) << text;
    EXPECT_NE(text.find("start the program again"), std::string::npos) << text;
  }
}

TEST_F(Vulkan, a_driver_that_is_out_of_memory_once) {
  auto other = std::make_unique<vulkan::VulkanRuntime>(0, VulkanOptions{});
  std::vector<float> x(64, 1);
  const auto submit = other->device().vk.vkQueueSubmit;
  other->device().vk.vkQueueSubmit = [](VkQueue, std::uint32_t, const VkSubmitInfo*, VkFence) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  };
  EXPECT_THROW(run(*other, scale_kernel(), {}, {bits(2)}, x), OutOfMemoryError);
  other->device().vk.vkQueueSubmit = submit;
  run(*other, scale_kernel(), {}, {bits(2)}, x);
  EXPECT_EQ(x, std::vector<float>(64, 2));
}

#endif

// ---- threads ----

TEST_F(Vulkan, TwoThreadsLaunch) {
  const ir::Kernel kernel = scale_kernel();
  std::vector<std::string> problems(2);
  const auto work = [&](std::size_t me) {
    problems[me] = message_of([&] {
      for (int round = 0; round < 50; ++round) {
        std::vector<float> x(777 + 64 * static_cast<std::size_t>(round), 1);
        const float factor = static_cast<float>(me + 2);
        run(runtime(), kernel, {static_cast<std::uint32_t>(x.size() + 63) / 64, 1, 1},
            {bits(factor)}, x);
        if (x != std::vector<float>(x.size(), factor)) {
          throw InternalError("wrong result");
        }
      }
    });
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(problems, (std::vector<std::string>{"no error", "no error"}));
}

}  // namespace
}  // namespace sinter::kernel
