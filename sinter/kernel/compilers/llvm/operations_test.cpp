// SPDX-License-Identifier: MIT OR Apache-2.0
// Every instruction that is a function of its arguments, for every dtype, against checked mode.
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "sinter/base/half.hpp"
#include "sinter/kernel/compilers/llvm/harness_test.hpp"

namespace sinter::llvm {
namespace {

using ir::Op;

/// One instruction: what it is called, its dtypes, and how its text goes.
struct Case {
  Op op;
  DType from;
  DType to;
};

bool is_function(Op op) {
  const ir::OpTraits& traits = ir::traits_of(op);
  return traits.is(ir::pure) && traits.arguments > 0 && op != Op::splat && op != Op::extract &&
         op != Op::insert;
}

/// The instructions that take `from`, casts to every dtype among them.
std::vector<Case> cases_of(DType from) {
  std::vector<Case> cases;
  for (int i = 0; i < ir::op_count(); ++i) {
    const Op op = static_cast<Op>(i);
    for (const DType to : value_dtypes) {
      const bool converts = op == Op::cast || op == Op::bitcast;
      if (!is_function(op) || (!converts && from != to) ||
          (op == Op::bitcast && size_of(from) != size_of(to))) {
        continue;
      }
      const ir::Type type{from, 1};
      const ir::Type arguments[] = {op == Op::select ? ir::truth_type : type, type, type};
      const ir::Typing typing = ir::type_of(op, arguments, {to, 1});
      if (typing.problem.empty()) {
        cases.push_back({op, from, typing.type.dtype});
      }
    }
  }
  return cases;
}

// ---- numbers to try ----

std::vector<std::uint64_t> special_values(DType dtype) {
  if (!is_floating(dtype)) {
    const int width = 8 * static_cast<int>(size_of(dtype));
    std::vector<std::uint64_t> values{0, 1, 2, 3, 7, ~std::uint64_t{0}, ~std::uint64_t{0} - 1};
    for (const int bit : {width - 1, width / 2, width - 2}) {
      values.push_back(std::uint64_t{1} << bit);
      values.push_back((std::uint64_t{1} << bit) - 1);
    }
    values.push_back(static_cast<std::uint64_t>(width));
    values.push_back(static_cast<std::uint64_t>(width) - 1);
    return values;
  }
  std::vector<std::uint64_t> values;
  for (const double value : {0.0,          0.5,          1.0,
                             1.5,          2.5,          3.0,
                             100.3,        127.5,        255.5,
                             32768.0,      65504.0,      65520.0,
                             2147483648.0, 4294967040.0, 1.8446742974197924e19,
                             9.3e18,       3.0e38,       1e-39,
                             6e-8,         1.0 / 3,      1.17549435e-38,
                             1e300}) {
    values.push_back(memory_bits(dtype, value));
    values.push_back(memory_bits(dtype, -value));
  }
  values.push_back(memory_bits(dtype, std::numeric_limits<double>::infinity()));
  values.push_back(memory_bits(dtype, -std::numeric_limits<double>::infinity()));
  values.push_back(memory_bits(dtype, std::numeric_limits<double>::quiet_NaN()));
  return values;
}

/// Argument `place` of all tries: it runs through the special values at another speed each.
std::vector<std::byte> tries(DType dtype, int place, std::size_t count) {
  const std::vector<std::uint64_t> special = special_values(dtype);
  std::mt19937_64 random(static_cast<std::uint64_t>(place) * 100 + static_cast<unsigned>(dtype));
  std::normal_distribution<double> normal(0, 20);
  std::vector<std::byte> bytes;
  std::size_t step = 1;
  for (int i = 0; i < place; ++i) {
    step *= special.size();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const bool uses_special = i % 4 != 3;
    const std::uint64_t noise =
        is_floating(dtype) && i % 8 == 3 ? memory_bits(dtype, normal(random)) : random();
    put_element(bytes, dtype,
                uses_special ? special[(i / (place == 2 ? 7 : step)) % special.size()] : noise);
  }
  return bytes;
}

// ---- kernels ----

std::string typed(DType dtype, int lanes) {
  return lanes == 1 ? std::string(name_of(dtype)) : fmt::format("{}x{}", name_of(dtype), lanes);
}

/// A kernel that does all the instructions on `lanes` elements from cube * lanes on. Buffers: a
/// truth value, three arguments, and a result for each instruction.
std::string text_of(const std::vector<Case>& cases, int lanes) {
  const DType from = cases[0].from;
  std::string head = "kernel operations cube 1 1 1\nbuffer choice bool read\n";
  std::string body = fmt::format(
      "{{\n  %0 = cube_pos x : u32\n  %1 = constant {} : u32\n  %2 = mul %0 %1 : u32\n"
      "  %3 = load choice %2 : {}\n",
      lanes, typed(DType::boolean, lanes));
  for (int i = 0; i < 3; ++i) {
    head += fmt::format("buffer a{} {} read\n", i, name_of(from));
    body += fmt::format("  %{} = load a{} %2 : {}\n", 4 + i, i, typed(from, lanes));
  }
  int next = 7;
  for (const Case& what : cases) {
    const ir::OpTraits& op = ir::traits_of(what.op);
    const std::string out = fmt::format("out{}", next);
    head += fmt::format("buffer {} {} write\n", out, name_of(what.to));
    body += fmt::format("  %{} = {}", next, op.name);
    for (int i = 0; i < op.arguments; ++i) {
      body += fmt::format(" %{}", what.op == Op::select ? 3 + i : 4 + i);
    }
    body += fmt::format(" : {}\n  store {} %2 %{}\n", typed(what.to, lanes), out, next++);
  }
  return head + body + "}\n";
}

void check(DType from, int lanes, const Request& request = {}) {
  constexpr std::size_t count = 1024;
  const std::vector<Case> cases = cases_of(from);
  Buffers buffers{tries(DType::boolean, 0, count)};
  for (int i = 0; i < 3; ++i) {
    buffers.push_back(tries(from, i, count));
  }
  for (const Case& what : cases) {
    buffers.push_back(std::vector<std::byte>(count * size_of(what.to)));
  }
  const auto results = run_both(
      ir::parse(text_of(cases, lanes)), buffers, {},
      {static_cast<std::uint32_t>(count) / static_cast<std::uint32_t>(lanes), 1, 1}, request);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    // The reciprocal root is rounded twice; what else is elementary is computed in f64 here and
    // there.
    const double slack = cases[i].op != Op::rsqrt ? 0
                         : from == DType::f64     ? 0
                         : from == DType::f32     ? 1.5e-7
                                                  : 1e-2;
    EXPECT_EQ(difference(cases[i].to, results.expected[4 + i], results.got[4 + i], slack), "")
        << ir::traits_of(cases[i].op).name << " of " << lanes << " " << name_of(from) << " to "
        << name_of(cases[i].to);
  }
}

class LlvmOperations : public ::testing::TestWithParam<DType> {};

TEST_P(LlvmOperations, equal_checked_mode) {
  SINTER_NEEDS_LLVM();
  for (const int lanes : {1, 4, 16}) {
    check(GetParam(), lanes);
  }
}

#ifdef __x86_64__
// Without instructions for fma, rounding and f16.
TEST(LlvmOldProcessor, floats_equal_checked_mode) {
  SINTER_NEEDS_LLVM();
  Request request;
  request.cpu = "x86-64";
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    check(dtype, 4, request);
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(DTypes, LlvmOperations, ::testing::ValuesIn(value_dtypes),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace sinter::llvm
