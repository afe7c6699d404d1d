// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiled kernels as wholes: control flow, memory, atomics, and what is refused.
#include <atomic>
#include <deque>
#include <limits>
#include <thread>

#include "sinter/base/error.hpp"
#include "sinter/kernel/compilers/llvm/harness_test.hpp"
#include "sinter/kernel/dsl/control.hpp"

namespace sinter::llvm {
namespace {

using namespace sinter::dsl;

template <class T>
std::vector<T> counted(std::size_t count, int seed = 1) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>((static_cast<int>(i) * 37 + seed * 11) % 101 - 50);
  }
  return values;
}

TEST(Llvm, elementwise_kernel_equals_checked_mode) {
  SINTER_NEEDS_LLVM();
  const ir::Kernel kernel = record("scale_and_add", {}, [] {
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
  const std::size_t n = 16 * 5 + 7;
  const auto results = run_both(kernel,
                                {bytes_of(counted<float>(n, 1)), bytes_of(counted<float>(n, 2)),
                                 bytes_of(std::vector<float>(n))},
                                {ir::constant_bits(DType::f32, 1.7)}, {6, 1, 1});
  EXPECT_EQ(values_of<float>(results.got[2]), values_of<float>(results.expected[2]));
  EXPECT_NE(values_of<float>(results.got[2])[n - 1], 0.0f);
}

// LLVM's masked bit selection once took its operands in the wrong order (see arithmetic.cpp).
TEST(Llvm, a_chosen_bit_selection_keeps_its_sides) {
  SINTER_NEEDS_LLVM();
  const ir::Kernel kernel = record("bit_selection", {}, [] {
    const Buffer<float> x("x", ir::Access::read), y("y", ir::Access::read);
    const Buffer<bf16> z("z", ir::Access::write);
    const Buffer<std::uint32_t> w("w", ir::Access::write);
    const auto a = x.load<16>(Index(0u)), b = y.load<16>(Index(0u));
    const auto bits_a = bitcast<Vec<std::uint32_t, 16>>(a);
    const auto bits_b = bitcast<Vec<std::uint32_t, 16>>(b);
    const auto chosen = dsl::select(a < 20.0f, copysign(b, a), a);
    z.store<16>(Index(0u), cast<Vec<bf16, 16>>(chosen));
    w.store<16>(Index(0u), dsl::select(bits_a != bits_b,
                                       (bits_a & 0x80000000u) | (bits_b & 0x7fffffffu), bits_a) >>
                               3u);
  });
  const auto results =
      run_both(kernel,
               {bytes_of(counted<float>(16, 1)), bytes_of(counted<float>(16, 2)),
                bytes_of(std::vector<bf16>(16)), bytes_of(std::vector<std::uint32_t>(16))},
               {}, {1, 1, 1});
  EXPECT_EQ(results.got, results.expected);
}

TEST(Llvm, positions_of_cubes_go_x_first) {
  SINTER_NEEDS_LLVM();
  const ir::Kernel kernel = record("positions", {}, [] {
    const Buffer<std::uint32_t> out("out", ir::Access::write);
    const Index x = cube_pos(Axis::x), y = cube_pos(Axis::y), z = cube_pos(Axis::z);
    const Index place = (z * cube_count(Axis::y) + y) * cube_count(Axis::x) + x;
    out[place] = x + y * 100u + z * 10000u;
  });
  const ir::Extent cubes{3, 4, 5};
  const Compiled compiled = compile(ir::print(kernel));
  ASSERT_EQ(compiled.message, "");
  Buffers buffers{bytes_of(std::vector<std::uint32_t>(60, 7))};
  const Bound bound(kernel, buffers);
  const std::vector<std::uint64_t> none;
  const Code code(compiled);
  // A range may begin and end anywhere; an empty one does nothing.
  code.run(call_of(bound, none, cubes), 17, 43);
  code.run(call_of(bound, none, cubes), 0, 0);
  code.run(call_of(bound, none, cubes), 60, 60);
  const std::vector<std::uint32_t> out = values_of<std::uint32_t>(buffers[0]);
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::uint32_t expected = i % 3 + i / 3 % 4 * 100 + i / 12 * 10000;
    EXPECT_EQ(out[i], i >= 17 && i < 43 ? expected : 7) << i;
  }
}

TEST(Llvm, loops_and_branches_equal_checked_mode) {
  SINTER_NEEDS_LLVM();
  const ir::Kernel kernel = record("nests", {}, [] {
    const Buffer<std::int32_t> x("x", ir::Access::read), out("out");
    const Index cube = cube_pos();
    Var<std::int32_t> sum = 0;
    for (const Index i : range(Index(0u), x.length(), Index(3u))) {
      const Expr<std::int32_t> value = x[i];
      KERNEL_IF (value < 0) {
        for (const Expr<std::int32_t> j : range(value, Expr<std::int32_t>(5))) {
          sum += j;
          break_if(sum.value() > 100);
        }
      } else {
        Var<std::int32_t> left = value;
        for ([[maybe_unused]] auto round : forever()) {
          break_if(left.value() <= 0);
          KERNEL_IF ((left.value() & 1) == 0) {
            sum += left.value();
            break_if(sum.value() > 400);
          }
          left -= 3;
        }
      }
    }
    out[cube] = sum.value() + cast<std::int32_t>(cube);
  });
  for (int seed = 0; seed < 5; ++seed) {
    const auto results = run_both(
        kernel, {bytes_of(counted<std::int32_t>(50, seed)), bytes_of(std::vector<std::int32_t>(4))},
        {}, {4, 1, 1});
    EXPECT_EQ(values_of<std::int32_t>(results.got[1]),
              values_of<std::int32_t>(results.expected[1]));
    EXPECT_NE(values_of<std::int32_t>(results.got[1])[0], 0);
  }
}

TEST(Llvm, vectors_are_taken_apart_and_put_together) {
  SINTER_NEEDS_LLVM();
  // Lane 1 of a vector goes to lane 0 of another, and a lane is spread over 16.
  const std::string text = R"(kernel lanes cube 1 1 1
buffer x f32 read
buffer y f32 write
{
  %0 = constant 0 : u32
  %1 = load x %0 : f32x4
  %2 = extract 1 %1 : f32
  %3 = extract 3 %1 : f32
  %4 = insert 0 %1 %2 : f32x4
  %5 = insert 2 %4 %3 : f32x4
  store y %0 %5
  %6 = splat %3 : f32x16
  %7 = constant 4 : u32
  store y %7 %6
  %8 = splat %2 : f32
  %9 = insert 0 %8 %3 : f32
  %10 = extract 0 %9 : f32
  %11 = constant 20 : u32
  store y %11 %10
}
)";
  const auto results = run_both(ir::parse(text), {bytes_of(std::vector<float>{1, 2, 3, 4}),
                                                  bytes_of(std::vector<float>(21))});
  const std::vector<float> got = values_of<float>(results.got[1]);
  EXPECT_EQ(got, values_of<float>(results.expected[1]));
  EXPECT_EQ(got[0], 2.0f);
  EXPECT_EQ(got[2], 4.0f);
  EXPECT_EQ(got[19], 4.0f);
  EXPECT_EQ(got[20], 4.0f);
}

TEST(Llvm, strides_and_offsets_below_zero_wrap) {
  SINTER_NEEDS_LLVM();
  const ir::Kernel kernel = record("backwards", {}, [] {
    const Buffer<float> x("x", ir::Access::read), y("y", ir::Access::write);
    const Index stride = scalar<std::uint32_t>("stride"), offset = scalar<std::uint32_t>("offset");
    for (const Index i : range(y.length())) {
      y[i] = x[i * stride + offset + (cube_pos() - 1u)].value();
    }
  });
  const std::size_t n = 40;
  const std::uint64_t minus_two = 0xfffffffeu;
  const auto results =
      run_both(kernel, {bytes_of(counted<float>(2 * n)), bytes_of(std::vector<float>(n))},
               {minus_two, 2 * n - 1}, {2, 1, 1});
  EXPECT_EQ(values_of<float>(results.got[1]), values_of<float>(results.expected[1]));
  EXPECT_EQ(values_of<float>(results.got[1])[0], counted<float>(2 * n).back());
}

/// Locals of `size` elements: written by one index, read by another, some by vectors.
template <class T>
ir::Kernel local_kernel(std::uint32_t size) {
  return record("locals", {}, [&] {
    const Buffer<T> x("x", ir::Access::read), out("out", ir::Access::write);
    const Local<T> first(size), second(size);
    for (const Index i : range(Index(size))) {
      first[i] = x[i].value();
      second[Index(size - 1) - i] = x[i].value() + T(1);
    }
    for (const Index i : range(Index(0u), Index(size), Index(4u))) {
      first.template store<4>(i, first.template load<4>(i) + second.template load<4>(i));
    }
    for (const Index i : range(Index(size))) {
      out[cube_pos() * size + i] = first[i].value();
    }
  });
}

TEST(Llvm, locals_lie_on_the_stack_or_in_scratch) {
  SINTER_NEEDS_LLVM();
  for (const std::uint32_t size : {8u, 1024u, 4096u}) {
    const ir::Kernel kernel = local_kernel<float>(size);
    const auto results =
        run_both(kernel, {bytes_of(counted<float>(size)), bytes_of(std::vector<float>(2 * size))},
                 {}, {2, 1, 1});
    EXPECT_EQ(values_of<float>(results.got[1]), values_of<float>(results.expected[1]));
    const Compiled compiled = compile(ir::print(kernel));
    EXPECT_EQ(compiled.scratch_bytes, size == 4096 ? 2 * 4096 * sizeof(float) : 0u);
  }
  const ir::Kernel halfs = local_kernel<bf16>(2048);
  const auto results =
      run_both(halfs, {bytes_of(counted<bf16>(2048)), bytes_of(std::vector<bf16>(2048))});
  EXPECT_EQ(difference(DType::bf16, results.expected[1], results.got[1]), "");
}

TEST(Llvm, units_become_vectors) {
  SINTER_NEEDS_LLVM();
  // What units_to_loops() makes of a cube of 64 units.
  const ir::Kernel kernel = record("units", {}, [] {
    const Buffer<float> x("x", ir::Access::read), y("y", ir::Access::write);
    for (const Index unit : range(Index(64u))) {
      const Index i = cube_pos() * 64u + unit;
      KERNEL_IF (i < y.length()) {
        y[i] = x[i].value() * x[i].value() + 1.0f;
      }
    }
  });
  const std::size_t n = 300;
  const auto results = run_both(
      kernel, {bytes_of(counted<float>(n)), bytes_of(std::vector<float>(n))}, {}, {5, 1, 1});
  EXPECT_EQ(values_of<float>(results.got[1]), values_of<float>(results.expected[1]));
  Request request;
  request.listing = 1;
  request.triple = "x86_64-unknown-linux-gnu";
  request.cpu = "haswell";
  const Compiled compiled = compile(ir::print(kernel), request);
  EXPECT_NE(compiled.listing.find("vmulps"), std::string::npos) << compiled.listing;
}

// ---- atomics ----

template <class T>
ir::Kernel histogram() {
  return record("histogram", {}, [] {
    const Buffer<T> sums("sums"), least("least"), most("most");
    const Buffer<std::uint32_t> turns("turns");
    const Index cube = cube_pos();
    const Index bin = cube % 8u;
    const Expr<T> value = cast<T>((cube * 7u) % 50u);
    sums.atomic_add(bin, value);
    least.atomic_min(bin, value);
    most.atomic_max(bin, value);
    turns.atomic_add(Index(0u), Index(1u));
  });
}

template <class T>
void check_histogram() {
  const ir::Kernel kernel = histogram<T>();
  const std::uint32_t cubes = 4000;
  const Buffers start{bytes_of(std::vector<T>(8, T(0))), bytes_of(std::vector<T>(8, T(100))),
                      bytes_of(std::vector<T>(8, T(0))), bytes_of(std::vector<std::uint32_t>(1))};
  Buffers expected = start;
  const Bound checked(kernel, expected);
  ir::interpret(kernel, {.cubes = {cubes}, .buffers = checked.args, .scalars = {}, .plane = 1});

  const Compiled compiled = compile(ir::print(kernel));
  ASSERT_EQ(compiled.message, "");
  const Code code(compiled);
  Buffers got = start;
  const Bound bound(kernel, got);
  const std::vector<std::uint64_t> none;
  const Call call = call_of(bound, none, {cubes, 1, 1});
  std::atomic<int> ready{0};
  const auto work = [&](std::uint64_t first, std::uint64_t last) {
    ++ready;
    while (ready < 2) {
    }
    code.run(call, first, last);
  };
  std::thread other(work, 0, cubes / 2);
  work(cubes / 2, cubes);
  other.join();
  for (std::size_t i = 0; i < start.size(); ++i) {
    EXPECT_EQ(got[i], expected[i]) << name_of(kernel.memories[0].dtype) << ", buffer " << i;
  }
}

TEST(LlvmThread, atomics_of_two_threads_meet) {
  SINTER_NEEDS_LLVM();
  check_histogram<float>();
  check_histogram<double>();
  check_histogram<std::int32_t>();
  check_histogram<std::uint64_t>();
  check_histogram<std::int16_t>();
  check_histogram<std::uint8_t>();
}

TEST(Llvm, atomics_give_what_was_there) {
  SINTER_NEEDS_LLVM();
  const ir::Kernel kernel = record("old", {}, [] {
    const Buffer<float> x("x");
    const Buffer<bf16> b("b");
    const Buffer<float> out("out", ir::Access::write);
    out[Index(0u)] = x.atomic_add(Index(0u), 2.0f);
    out[Index(1u)] = x.atomic_min(Index(0u), -1.0f);
    out[Index(2u)] = x.atomic_max(Index(0u), Expr<float>(NAN));
    out[Index(3u)] = x.atomic_exchange(Index(0u), 5.0f);
    out[Index(4u)] = x.atomic_compare_exchange(Index(0u), Expr<float>(4.0f), 7.0f);
    out[Index(5u)] = x.atomic_compare_exchange(Index(0u), Expr<float>(5.0f), 7.0f);
    out[Index(6u)] = cast<float>(b.atomic_add(Index(1u), Expr<bf16>(bf16(0.01f))));
    out[Index(7u)] = cast<float>(b.atomic_exchange(Index(1u), Expr<bf16>(bf16(3.0f))));
  });
  const auto results = run_both(kernel, {bytes_of(std::vector<float>{1}),
                                         bytes_of(std::vector<bf16>{bf16(1.0f), bf16(10.0f)}),
                                         bytes_of(std::vector<float>(8))});
  EXPECT_EQ(difference(DType::f32, results.expected[0], results.got[0]), "");
  EXPECT_EQ(difference(DType::bf16, results.expected[1], results.got[1]), "");
  EXPECT_EQ(difference(DType::f32, results.expected[2], results.got[2]), "");
  EXPECT_EQ(values_of<float>(results.got[0])[0], 7.0f);
}

// ---- what is refused, and what may be ----

TEST(Llvm, compiles_for_several_callers) {
  SINTER_NEEDS_LLVM();
  const std::string text = ir::print(local_kernel<float>(64));
  const Compiled alone = compile(text);
  std::vector<Compiled> results(8);
  const auto work = [&](std::size_t first) {
    for (std::size_t i = first; i < results.size(); i += 2) {
      results[i] = compile(text);
    }
  };
  std::thread other(work, 0);
  work(1);
  other.join();
  for (const Compiled& result : results) {
    EXPECT_EQ(result.message, "");
    EXPECT_EQ(result.image, alone.image);
  }
}

TEST(Llvm, refuses_with_a_reason) {
  SINTER_NEEDS_LLVM();
  const auto message = [](const std::string& text, const Request& request = {}) {
    const Compiled compiled = compile(text, request);
    EXPECT_TRUE(compiled.image.empty());
    return compiled.message;
  };
  EXPECT_NE(message("kernel nonsense").find("line 1"), std::string::npos);
  EXPECT_EQ(message("kernel k cube 4 1 1\n{\n}\n"),
            "expected a kernel of one unit a cube, got 4 units");
  EXPECT_EQ(message("kernel k cube 1 1 1\n{\n  barrier\n}\n"),
            "barrier: a cube of one unit has none to wait for");
  const std::string empty = "kernel k cube 1 1 1\n{\n}\n";
  Request request;
  request.triple = "vax-dec-ultrix";
  EXPECT_NE(message(empty, request), "");
  request = {};
  request.version = 99;
  EXPECT_NE(message(empty, request).find("version"), std::string::npos);
  EXPECT_EQ(compile(empty).message, "");
}

/// What "adrp x, page; ldr q, [x, offset]" reads, by the encodings of the Arm architecture.
std::vector<float> read_by_arm(const std::vector<std::byte>& image) {
  std::int64_t pages[32] = {};
  bool is_known[32] = {};
  for (std::size_t at = 0; at + 4 <= image.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, image.data() + at, 4);
    if ((word & 0x9f000000u) == 0x90000000u) {
      const std::uint32_t distance = (word >> 29 & 3) | (word >> 5 & 0x7ffff) << 2;
      pages[word & 31] =
          static_cast<std::int64_t>(at >> 12) + (static_cast<std::int32_t>(distance << 11) >> 11);
      is_known[word & 31] = true;
    } else if ((word & 0xffc00000u) == 0x3dc00000u && is_known[word >> 5 & 31]) {
      const std::int64_t place = pages[word >> 5 & 31] * 4096 + (word >> 10 & 0xfff) * 16;
      std::vector<float> values(4);
      if (place >= 0 && static_cast<std::size_t>(place) + 16 <= image.size()) {
        std::memcpy(values.data(), image.data() + place, 16);
      }
      return values;
    }
  }
  return {};
}

TEST(Llvm, arm_code_finds_its_constants) {
  SINTER_NEEDS_LLVM();
  const std::string text = R"(kernel constants cube 1 1 1
buffer x f32 read_write
{
  %0 = constant 0 : u32
  %1 = load x %0 : f32x4
  %2 = constant 1.25 : f32
  %3 = splat %2 : f32x4
  %4 = constant 7.5 : f32
  %5 = insert 2 %3 %4 : f32x4
  %6 = mul %1 %5 : f32x4
  store x %0 %6
}
)";
  Request request;
  request.triple = "aarch64-linux-gnu";
  request.cpu = "generic";
  const Compiled compiled = compile(text, request);
  ASSERT_EQ(compiled.message, "");
  EXPECT_EQ(read_by_arm(compiled.image), (std::vector<float>{1.25f, 1.25f, 7.5f, 1.25f}));
}

TEST(Llvm, every_level_gives_the_same) {
  SINTER_NEEDS_LLVM();
  const ir::Kernel kernel = local_kernel<float>(64);
  for (const std::int32_t level : {0, 1, 3}) {
    Request request;
    request.level = level;
    const auto results = run_both(
        kernel, {bytes_of(counted<float>(64)), bytes_of(std::vector<float>(64))}, {}, {}, request);
    EXPECT_EQ(values_of<float>(results.got[1]), values_of<float>(results.expected[1])) << level;
  }
}

}  // namespace
}  // namespace sinter::llvm
