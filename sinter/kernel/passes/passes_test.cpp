// SPDX-License-Identifier: MIT OR Apache-2.0
// Passes leave kernels that do the same: the checked interpreter runs them before and after.
#include <random>

#include <gtest/gtest.h>

#include "sinter/kernel/dsl/control.hpp"
#include "sinter/kernel/ir/interpret.hpp"
#include "sinter/kernel/ir/text.hpp"
#include "sinter/kernel/ir/verify.hpp"
#include "sinter/kernel/passes/passes.hpp"
#include "sinter/kernel/passes/rebuild.hpp"

namespace sinter::ir {
namespace {

using namespace dsl;

constexpr std::uint32_t units = 8;
constexpr std::uint32_t elements = 64;

Index at() { return absolute_pos(); }

void tree_sum() {
  const Buffer<float> x("x"), y("y");
  const Shared<float> s("s", units);
  s[unit_pos()] = x[at()];
  sync_cube();
  for (std::uint32_t half = units / 2; half > 0; half /= 2) {
    KERNEL_IF (unit_pos() < half) {
      s[unit_pos()] = s[unit_pos()].value() + s[unit_pos() + half].value();
    }
    sync_cube();
  }
  y[at()] = s[Index(0u)].value() + x[at()].value();
}

// A barrier in a loop, an accumulator that lives through it, a value read before and used after.
void rotate() {
  const Buffer<float> x("x"), y("y");
  const Shared<float> s("s", units);
  const Expr<float> first = x[at()];
  Var<float> sum = first;
  Var<Vec<float, 2>> pair = Expr<Vec<float, 2>>(1.0f);
  for (const Index k : range(Index(5u))) {
    s[unit_pos()] = sum.value() * 0.5f;
    sync_cube();
    const Expr<float> next = s[(unit_pos() + k + 1u) % Index(units)];
    Var<float> inner = next;
    for (const Index j : range(k)) {
      inner += cast<float>(j) * next;
    }
    sum += inner.value();
    pair = pair.value() + splat<2>(next);
    sync_cube();
  }
  y[at()] = sum.value() + first + pair.value().lane(1);
}

// A loop that all units leave together because of what they found in shared memory.
void leave_together() {
  const Buffer<float> x("x"), y("y");
  const Shared<std::uint32_t> rounds("rounds", 1);
  KERNEL_IF (unit_pos() == Index(0u)) {
    rounds[Index(0u)] = cube_pos();
  }
  sync_cube();
  const Index limit = rounds[Index(0u)];
  Var<std::uint32_t> round = Index(0u);
  Var<float> sum = 0.0f;
  for ([[maybe_unused]] const auto again : forever()) {
    break_if(round.value() >= limit);
    sum += x[at()].value() * cast<float>(round.value() + 1u);
    round += Index(1u);
    sync_cube();
  }
  y[at()] = sum;
}

void histogram() {
  const Buffer<float> x("x"), y("y");
  const Shared<std::uint32_t> bins("bins", units);
  bins[unit_pos()] = 0u;
  sync_cube();
  const Index bin = cast<std::uint32_t>(abs(x[at()].value()) * 8.0f) % Index(units);
  bins.atomic_add(bin, Index(1u));
  bins.atomic_max(Index(units - 1), unit_pos());
  sync_cube();
  y[at()] = cast<float>(bins[unit_pos()].value());
}

void planes() {
  const Buffer<float> x("x"), y("y");
  const Shared<float> s("s", units);
  const Expr<float> sum = plane_sum(x[at()].value());
  s[unit_pos()] = sum;
  sync_cube();
  Var<float> total = 0.0f;
  for (const Index i : range(Index(0u), Index(units), plane_dim())) {
    total += s[i].value();
  }
  y[at()] = total;
}

void two_axes() {
  const Buffer<float> x("x"), y("y");
  const Shared<float> s("s", units);
  const Index own = unit_pos(Axis::y) * cube_dim(Axis::x) + unit_pos(Axis::x);
  const Index place = cube_pos() * units + own;
  s[unit_pos(Axis::x) * cube_dim(Axis::y) + unit_pos(Axis::y)] = x[place];
  sync_cube();
  y[place] = s[own];
}

// Three memories, of which the first and the last are never alive together; the second lives
// through both.
void stages() {
  const Buffer<float> x("x"), y("y");
  const Shared<float> a("a", units), b("b", units), c("c", units + 2);
  a[unit_pos()] = x[at()];
  sync_cube();
  b[unit_pos()] = a[(unit_pos() + 1u) % Index(units)].value() * 2.0f;
  sync_cube();
  c[unit_pos() + 2u] = b[(unit_pos() + 3u) % Index(units)].value() + 1.0f;
  sync_cube();
  y[at()] = c[(unit_pos() * 3u) % Index(units) + 2u].value() + b[unit_pos()].value();
}

void no_barrier() {
  const Buffer<float> x("x"), y("y");
  Local<float> taps(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    taps[Index(i)] = x[min(at() + i, Index(elements - 1))].value();
  }
  Var<float> sum = 0.0f;
  for (const Index i : range(Index(3u))) {
    KERNEL_IF (taps[i].value() > 0.0f) {
      sum += taps[i].value() * (x[Index(0u)].value() + 1.0f);
    }
  }
  y[at()] = sum;
}

struct Case {
  const char* name;
  void (*body)();
  Extent cube{units};
};
const Case cases[] = {
    {"tree_sum", tree_sum},   {"rotate", rotate},    {"leave", leave_together},
    {"histogram", histogram}, {"planes", planes},    {"two_axes", two_axes, {4, 2}},
    {"stages", stages},       {"plain", no_barrier}, {"one_unit", no_barrier, {1}}};

std::vector<float> run(const Kernel& kernel) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<float> x(elements), y(elements, -1);
  for (float& v : x) {
    v = uniform(generator);
  }
  const BufferArg buffers[] = {{reinterpret_cast<std::byte*>(x.data()), x.size()},
                               {reinterpret_cast<std::byte*>(y.data()), y.size()}};
  interpret(kernel, {.cubes = {elements / units, 1, 1}, .buffers = buffers, .scalars = {}});
  return y;
}

class Passes : public testing::TestWithParam<Case> {
 protected:
  Kernel recorded() const {
    return record(GetParam().name, {.cube = GetParam().cube}, GetParam().body);
  }
};

TEST_P(Passes, each_keeps_the_results) {
  const std::vector<float> expected = run(recorded());
  for (const auto list : {cpu_passes(), device_passes()}) {
    Kernel kernel = recorded();
    for (const Pass& pass : list) {
      pass.run(kernel);
      require_valid(kernel, pass.name);
      EXPECT_EQ(run(kernel), expected) << pass.name << "\n" << print(kernel);
    }
  }
}

TEST_P(Passes, loops_leave_one_unit_and_no_barrier) {
  Kernel kernel = recorded();
  run_passes(kernel, cpu_passes());
  EXPECT_EQ(kernel.units(), 1u);
  for (const Memory& memory : kernel.memories) {
    EXPECT_NE(memory.space, Space::shared);
  }
  const std::string text = print(kernel);
  EXPECT_EQ(text.find("barrier"), std::string::npos);
  EXPECT_EQ(text.find("plane_"), std::string::npos);
}

TEST_P(Passes, rebuilding_without_a_hook_changes_nothing) {
  const Kernel kernel = recorded();
  const Kernel copy = rebuild(kernel, [](const Inst&, auto) { return std::nullopt; });
  EXPECT_EQ(run(copy), run(kernel));
  EXPECT_EQ(print(rebuild(copy, [](const Inst&, auto) { return std::nullopt; })), print(copy));
}

INSTANTIATE_TEST_SUITE_P(Kernel, Passes, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Pass, a_hook_replaces_instructions) {
  const Kernel kernel = record("twice", {.cube = {units}}, [] {
    const Buffer<float> x("x"), y("y");
    y[at()] = abs(x[at()].value());
  });
  const Kernel rebuilt = rebuild(kernel, [](const Inst& inst, std::span<const Val> args) {
    return inst.op == Op::abs ? std::optional(apply(Op::max, {args[0], -args[0]})) : std::nullopt;
  });
  EXPECT_EQ(print(rebuilt).find("abs"), std::string::npos);
  EXPECT_EQ(run(rebuilt), run(kernel));
}

TEST(Pass, invariants_leave_their_loops_and_equals_become_one) {
  Kernel kernel = record("loops", {.cube = {1}}, [] {
    const Buffer<float> x("x"), y("y");
    const Index n = scalar<std::uint32_t>("n");
    for (const Index i : range(n)) {
      for (const Index j : range(n)) {
        y[i * n + j] = x[i * n + j].value() * x[n * n].value();
      }
    }
  });
  hoist_invariants(kernel);
  merge_equal_values(kernel);
  drop_dead_code(kernel);
  EXPECT_EQ(print(kernel), R"(kernel loops cube 1 1 1
scalar n u32
buffer x f32 read_write
buffer y f32 read_write
{
  %0 = constant 0 : u32
  %1 = scalar n : u32
  %2 = constant 1 : u32
  %3 = mul %1 %1 : u32
  for %4 = %0 %1 %2 : u32 {
    %5 = mul %4 %1 : u32
    for %6 = %0 %1 %2 : u32 {
      %7 = add %6 %5 : u32
      %8 = load x %3 : f32
      %9 = load x %7 : f32
      %10 = mul %8 %9 : f32
      store y %7 %10
    }
  }
}
)");
}

TEST(Pass, shared_memories_take_turns_behind_a_barrier) {
  Kernel kernel = record("stages", {.cube = {units}}, stages);
  share_memories(kernel);
  std::vector<std::string> shared;
  for (const Memory& memory : kernel.memories) {
    if (memory.space == Space::shared) {
      shared.push_back(memory.name + " " + std::to_string(memory.size));
    }
  }
  EXPECT_EQ(shared, (std::vector<std::string>{"a 10", "b 8"}));
  // Without a barrier between them they may not.
  Kernel together = record("together", {.cube = {units}}, [] {
    const Buffer<float> x("x"), y("y");
    const Shared<float> a("a", units), b("b", units);
    a[unit_pos()] = x[at()];
    y[at()] = a[unit_pos()].value();
    b[unit_pos()] = x[at()].value() + 1.0f;
    y[at()] = b[unit_pos()].value();
  });
  share_memories(together);
  EXPECT_EQ(together.memories.size(), 4u);
}

TEST(Pass, a_run_is_a_loop_over_the_units) {
  Kernel kernel = record("reverse", {.cube = {4}}, [] {
    const Buffer<float> x("x"), y("y");
    const Shared<float> s("s", 4);
    const Expr<float> own = x[unit_pos()];
    s[unit_pos()] = own;
    sync_cube();
    y[unit_pos()] = s[Index(3u) - unit_pos()].value() + own;
  });
  run_passes(kernel, cpu_passes());
  EXPECT_EQ(print(kernel), R"(kernel reverse cube 1 1 1
buffer x f32 read_write
buffer y f32 read_write
local s f32 4
local v0 f32 4
{
  %0 = constant 0 : u32
  %1 = constant 4 : u32
  %2 = constant 1 : u32
  for %3 = %0 %1 %2 : u32 {
    %4 = load x %3 : f32
    store v0 %3 %4
    store s %3 %4
  }
  %5 = constant 3 : u32
  for %6 = %0 %1 %2 : u32 {
    %7 = load v0 %6 : f32
    %8 = sub %5 %6 : u32
    %9 = load s %8 : f32
    %10 = add %7 %9 : f32
    store y %6 %10
  }
}
)");
}

}  // namespace
}  // namespace sinter::ir
