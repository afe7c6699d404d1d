// SPDX-License-Identifier: MIT OR Apache-2.0
// Every instruction on every dtype, on a Vulkan device and in checked mode.
#include <bit>
#include <cmath>
#include <random>

#include "sinter/base/error.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/kernel/compile_error.hpp"
#include "sinter/kernel/compilers/spirv/sweep_test.hpp"
#include "sinter/kernel/runtimes/vulkan/vulkan_test.hpp"

namespace sinter::kernel {
namespace {

using ir::Case;
using ir::Op;

constexpr std::uint32_t units = 64;

/// Numbers at which instructions have corners, as far as the dtype has them.
std::vector<double> corners(DType dtype) {
  if (dtype == DType::boolean) {
    return {0, 1};
  }
  if (is_floating(dtype)) {
    const double largest = dtype == DType::f16 ? 65504 : dtype == DType::f64 ? 1e308 : 3e38;
    const double least = dtype == DType::f16 ? 0x1p-14 : dtype == DType::f64 ? 0x1p-1022 : 0x1p-126;
    return {0,     -0.0,   1,       -1,       0.5,       1.5,   2.5,     -2.5,
            3.7,   1e-3,   100.25,  INFINITY, -INFINITY, NAN,   largest, least,
            65504, 0x1p31, -0x1p31, 0x1p63,   -0x1p63,   300.5, -129.25, 0.1,
            -0.7,  1e-4,   7,       33000,    -70000.5,  12.75, -0.999,  0.9999};
  }
  return {0,          1,      -1,     2,      3,       7,      8,          15,
          16,         31,     32,     33,     63,      64,     100,        -5,
          127,        -128,   255,    0x7fff, -0x8000, 0xffff, 0x7fffffff, -0x80000000ll,
          0xffffffff, 0x1p62, -0x1p63};
}

std::vector<std::byte> bytes_of(DType dtype, std::size_t count, int argument, bool wild) {
  std::mt19937_64 generator(static_cast<unsigned>(argument) + 17u);
  std::uniform_real_distribution<double> uniform(-4, 4);
  const std::vector<double> special = corners(dtype);
  std::vector<std::byte> bytes(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    double value = uniform(generator);
    if (wild) {
      // Arguments go through their corners at different speeds.
      value = special[(argument == 0 ? i : i / special.size()) % special.size()];
    }
    visit_dtype(dtype, [&]<class T>() {
      T element{};
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        element = static_cast<T>(wild ? static_cast<std::int64_t>(value)
                                      : static_cast<std::int64_t>(generator()));
      } else if constexpr (std::is_same_v<T, bool>) {
        element = value > 0.5;
      } else {
        element = static_cast<T>(value);
      }
      std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    });
  }
  return bytes;
}

template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

/// Steps between two floats, counted in their own format; far apart where one is NaN.
template <class T, class Bits>
std::int64_t steps(T a, T b) {
  const double x = static_cast<double>(a), y = static_cast<double>(b);
  if (std::isnan(x) || std::isnan(y)) {
    return std::isnan(x) && std::isnan(y) ? 0 : 1 << 20;
  }
  const auto place = [](T value) {
    const Bits bits = std::bit_cast<Bits>(value);
    constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
    const auto magnitude = static_cast<std::int64_t>(Bits(bits & Bits(~sign)));
    return (bits & sign) != 0 ? -magnitude : magnitude;
  };
  return x == y && std::signbit(x) != std::signbit(y) ? 1 << 20 : std::abs(place(a) - place(b));
}

bool is_elementary(Op op) {
  return op >= Op::sqrt && op <= Op::hypot && op != Op::floor && op != Op::ceil &&
         op != Op::trunc && op != Op::round;
}

/// The steps that a result may be off; 0 for all that is exact.
std::int64_t tolerance(const Case& c) {
  const bool whole = c.from == DType::f32 || c.from == DType::f64;  // 2 and 4 ulp of the true value
  return !is_elementary(c.op) ? 0 : whole ? 4 : 1;
}

template <class T>
std::string difference(const Case& c, std::size_t i, const std::vector<std::byte>& got,
                       const std::vector<std::byte>& expected) {
  T g, e;
  std::memcpy(&g, got.data() + i * sizeof(T), sizeof(T));
  std::memcpy(&e, expected.data() + i * sizeof(T), sizeof(T));
  if constexpr (std::is_integral_v<T>) {
    return g == e ? "" : fmt::format("expected {}, got {}", e, g);
  } else {
    using Bits = BitsOf<T>;
    const double wanted = static_cast<double>(e);
    // Vulkan lets a device give 0 for what is subnormal in the format that it computes in.
    const bool may_flush = sizeof(T) != 2 || !std::is_same_v<T, f16>;
    const double least = sizeof(T) == 8 ? 0x1p-1022 : 0x1p-126;
    if (may_flush && std::fabs(wanted) <= least && static_cast<double>(g) == 0) {
      return "";
    }
    return steps<T, Bits>(g, e) <= tolerance(c)
               ? ""
               : fmt::format("expected {}, got {}", wanted, static_cast<double>(g));
  }
}

class VulkanSweep : public VulkanTest {
 protected:
  /// The first difference from checked mode; empty if there is none.
  std::string problem(const Case& c, bool wild) {
    const std::uint32_t cubes = wild ? 32 / static_cast<std::uint32_t>(c.lanes) + 1 : 1;
    const std::size_t count = std::size_t{units} * cubes * static_cast<std::size_t>(c.lanes);
    const ir::Kernel kernel = c.kernel(units);
    std::vector<std::vector<std::byte>> host;
    for (int i = 0; i < c.arguments(); ++i) {
      host.push_back(bytes_of(c.dtype(i), count, i, wild));
    }
    host.emplace_back(count * size_of(c.to));
    std::vector<std::vector<std::byte>> expected = host;
    std::vector<ir::BufferArg> buffers;
    for (auto& bytes : expected) {
      buffers.push_back({bytes.data(), count});
    }
    ir::interpret(kernel, {.cubes = {cubes, 1, 1}, .buffers = buffers, .scalars = {}});

    const Ref<Program> program = runtime().load(kernel);
    std::vector<std::unique_ptr<OnDevice<std::byte>>> memories;
    std::vector<Binding> bindings;
    for (auto& bytes : host) {
      memories.push_back(std::make_unique<OnDevice<std::byte>>(runtime(), bytes));
      bindings.push_back({memories.back()->memory(), 0, count});
    }
    runtime().launch(*program, {.cubes = {cubes, 1, 1}, .buffers = bindings, .scalars = {}});
    memories.back()->read();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text = visit_dtype(
          c.to, [&]<class T>() { return difference<T>(c, i, host.back(), expected.back()); });
      if (!text.empty()) {
        return fmt::format("{}[{}]: {} ({})", c.name(), i, text, arguments(c, i, host));
      }
    }
    return "";
  }

  static std::string arguments(const Case& c, std::size_t i,
                               const std::vector<std::vector<std::byte>>& host) {
    std::string text;
    for (int a = 0; a < c.arguments(); ++a) {
      visit_dtype(c.dtype(a), [&]<class T>() {
        T value;
        std::memcpy(&value, host[static_cast<std::size_t>(a)].data() + i * sizeof(T), sizeof(T));
        text += fmt::format(" {}", static_cast<double>(value));
      });
    }
    return text;
  }
};

TEST_F(VulkanSweep, every_instruction_on_every_dtype) {
  const bool full = os::environment("SINTER_TEST_FULL").has_value();
  int ran = 0, refused = 0;
  for (const Case& c : ir::all_cases({1, 4, 16})) {
    // Lanes differ in how they are loaded, stored and chosen alone: without SINTER_TEST_FULL three
    // instructions stand for all.
    const bool stands = c.op == Op::add || c.op == Op::bit_and || c.op == Op::select;
    if (!full && c.lanes > 1 && !stands) {
      continue;
    }
    try {
      ++ran;
      for (const bool wild : {false, true}) {
        EXPECT_EQ(problem(c, wild), "");
      }
    } catch (const CompileError& error) {
      ++refused;
      // Elementary functions of f64 have no formula.
      EXPECT_TRUE(c.from == DType::f64 && is_elementary(c.op)) << error.what();
    }
  }
  EXPECT_GT(ran, 500);
  RecordProperty("kernels", ran - refused);
}

}  // namespace
}  // namespace sinter::kernel
