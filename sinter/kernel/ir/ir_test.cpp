// SPDX-License-Identifier: MIT OR Apache-2.0
// Text and back, the verifier's rules, scalar semantics and folding.
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "sinter/base/error.hpp"
#include "sinter/kernel/ir/evaluate.hpp"
#include "sinter/kernel/ir/fold.hpp"
#include "sinter/kernel/ir/text.hpp"
#include "sinter/kernel/ir/verify.hpp"

namespace sinter::ir {
namespace {

constexpr const char* sample = R"(kernel sample cube 8 2 1
scalar n u32
scalar scale f64
buffer x f16 read
buffer y f32 read_write
shared tile f32 16
local acc f32 4
{
  %0 = unit_pos x : u32
  %1 = scalar n : u32
  %2 = constant 1 : u32
  for %3 = %0 %1 %2 : u32 {
    %4 = load x %3 : f16x4
    %5 = cast %4 : f32x4
    store acc %0 %5
    %6 = extract 3 %5 : f32
    %7 = constant -0.1 : f32
    %8 = lt %6 %7 : bool
    if %8 {
      store tile %3 %6
    } else {
      store tile %3 %7
    }
  }
  loop {
    %9 = constant true_or_not : bool
    break_if %9
  }
  barrier
  %10 = load tile %0 : f32
  %11 = atomic_add y %0 %10 : f32
}
)";

std::string good_sample() {
  std::string text = sample;
  return text.replace(text.find("true_or_not"), 11, "1");
}

TEST(KernelText, prints_what_it_parsed) {
  const Kernel kernel = parse(good_sample());
  EXPECT_EQ(print(kernel), good_sample());
  EXPECT_EQ(verify(kernel), std::vector<std::string>{});
}

TEST(KernelText, special_constants_survive) {
  for (const char* value : {"nan", "inf", "-inf", "-0", "1e-45", "3.4028235e+38"}) {
    const std::string text = std::string("kernel k cube 1 1 1\nbuffer y f32 write\n{\n") +
                             "  %0 = constant 0 : u32\n  %1 = constant " + value +
                             " : f32\n  store y %0 %1\n}\n";
    EXPECT_EQ(print(parse(text)), text);
  }
}

TEST(KernelText, errors_name_the_line) {
  const auto problem = [](const std::string& text) {
    try {
      (void)parse(text);
    } catch (const FormatError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string head = "kernel k cube 1 1 1\nbuffer y f32 write\n{\n";
  EXPECT_EQ(problem(sample), "kernel text, line 26: expected a number, got 'true_or_not'");
  EXPECT_EQ(problem(head + "  %0 = ad %1 %2 : f32\n}\n"),
            "kernel text, line 4: 'ad' is no instruction");
  EXPECT_EQ(problem(head + "  %0 = neg %1 : f32\n}\n"),
            "kernel text, line 4: '%1' is not defined before its use");
  EXPECT_EQ(problem(head + "  %0 = constant 1 : f33\n}\n"),
            "kernel text, line 4: expected a dtype, got 'f33'");
  EXPECT_EQ(problem(head), "kernel text, line 3: expected '}', got the end of the text");
  EXPECT_EQ(problem(""), "kernel text, line 0: expected 'kernel', got the end of the text");
  EXPECT_EQ(problem("kernel k cube 1 1 1\nbuffer y f32 write\nscalar y u32\n{\n}\n"),
            "kernel text, line 3: 'y' is declared twice");
  EXPECT_NE(problem(head +
                    [] {
                      std::string deep;
                      for (int i = 0; i < 5000; ++i) {
                        deep += "loop {\n";
                      }
                      return deep;
                    }())
                .find("blocks within each other"),
            std::string::npos);
}

TEST(KernelText, every_cut_of_a_text_is_refused_or_legal) {
  const std::string text = good_sample();
  for (std::size_t size = 0; size < text.size(); ++size) {
    try {
      (void)verify(parse(text.substr(0, size)));
    } catch (const FormatError&) {
    }
  }
}

/// The one problem of a kernel with `statements`.
std::string problem_of(const std::string& statements) {
  const std::vector<std::string> problems =
      verify(parse("kernel k cube 8 1 1\nbuffer r f32 read\nbuffer w f32 write\nshared s u32 "
                   "4\nlocal l f32 1\n{\n"
                   "%u = unit_pos x : u32\n%0 = constant 0 : u32\n%f = constant 1 : f32\n%t = "
                   "constant 1 : bool\n" +
                   statements + "}\n"));
  return problems.empty() ? "none" : problems.front();
}

TEST(Verifier, rules) {
  EXPECT_EQ(problem_of(""), "none");
  EXPECT_EQ(problem_of("%a = constant -1 : i64\n"), "none");
  EXPECT_EQ(problem_of("%a = add %0 %f : f32\n"),
            "add: the arguments' types don't go together: u32, f32; cast or splat one");
  EXPECT_EQ(problem_of("%a = add %f %f : u32\n"), "add: gives f32, but is declared u32");
  EXPECT_EQ(problem_of("%a = add %t %t : bool\n"), "add: expected numbers, got bool");
  EXPECT_EQ(problem_of("%a = exp %0 : u32\n"), "exp: expected floats, got u32");
  EXPECT_EQ(problem_of("%a = bit_and %f %f : f32\n"),
            "bit_and: expected integers or truth values, got f32");
  EXPECT_EQ(problem_of("store r %0 %f\n"), "store: r is not declared for that access");
  EXPECT_EQ(problem_of("%a = load w %0 : f32\n"), "load: w is not declared for that access");
  EXPECT_EQ(problem_of("%a = load r %0 : f64\n"), "load: r holds f32, got f64");
  EXPECT_EQ(problem_of("%a = load r %f : f32\n"), "load: expected an index of u32, got f32");
  EXPECT_EQ(problem_of("%a = atomic_add l %0 %f : f32\n"),
            "atomic_add: l is local: no other unit sees it");
  EXPECT_EQ(problem_of("break_if %t\n"), "break_if: no loop to leave");
  EXPECT_EQ(problem_of("if %u {\n}\n"), "if: expected one truth value, got u32");
  EXPECT_EQ(problem_of("for %i = %f %f %f : f32 {\n}\n"), "for: counts with one integer, got f32");
  EXPECT_EQ(problem_of("%a = splat %f : f32x4\n%b = extract 4 %a : f32\n"),
            "extract: number 4 of 4 there are");
  EXPECT_EQ(problem_of("if %t {\n%a = neg %f : f32\n}\n%b = neg %a : f32\n"),
            "neg: argument 1 is a value of another scope; keep it in a Var");
  EXPECT_EQ(problem_of("for %i = %0 %u %0 : u32 {\n}\nstore s %0 %i\n"),
            "store: argument 2 is a value of another scope; keep it in a Var");
  EXPECT_EQ(problem_of("%c = lt %u %0 : bool\nif %c {\nbarrier\n}\n"),
            "barrier: some units may not reach it: it stands where units part");
  EXPECT_EQ(problem_of("for %i = %0 %u %0 : u32 {\nbarrier\n}\n"),
            "barrier: some units may not reach it: it stands where units part");
}

TEST(Verifier, what_varies_goes_through_local_memory_and_around_loops) {
  // The condition is alike in the first round and differs from the second on.
  EXPECT_EQ(problem_of("store l %0 %f\nfor %i = %0 %0 %0 : u32 {\n%a = load l %0 : f32\n"
                       "%c = lt %a %f : bool\nif %c {\nbarrier\n}\n%v = cast %u : f32\n"
                       "store l %0 %v\n}\n"),
            "barrier: some units may not reach it: it stands where units part");
  EXPECT_EQ(problem_of("store l %0 %f\nfor %i = %0 %0 %0 : u32 {\n%a = load l %0 : f32\n"
                       "%c = lt %a %f : bool\nif %c {\nbarrier\n}\n%v = cast %i : f32\n"
                       "store l %0 %v\n}\n"),
            "none");
}

TEST(Verifier, loops_within_loops_cost_no_more_than_their_number) {
  std::string open;
  std::string close;
  for (int i = 0; i < 150; ++i) {
    open += "loop {\n";
    close += "}\n";
  }
  EXPECT_EQ(problem_of(open + close), "none");
  EXPECT_EQ(problem_of(open + "%c = lt %u %0 : bool\nbreak_if %c\nbarrier\n" + close),
            "barrier: some units may not reach it: it stands where units part");
}

std::uint64_t run(Op op, DType dtype, std::int64_t a, std::int64_t b) {
  return *evaluate(op, dtype, dtype, {constant_bits(dtype, a), constant_bits(dtype, b)});
}

TEST(Semantics, integers_wrap_and_never_trap) {
  EXPECT_EQ(run(Op::add, DType::i8, 127, 1), constant_bits(DType::i8, std::int64_t{-128}));
  EXPECT_EQ(run(Op::add, DType::u8, 255, 1), 0u);
  EXPECT_EQ(run(Op::sub, DType::u32, 0, 1), 0xffffffffu);
  EXPECT_EQ(run(Op::mul, DType::i32, 1 << 30, 4), 0u);
  EXPECT_EQ(run(Op::div, DType::i32, 7, 0), 0u);
  EXPECT_EQ(run(Op::div, DType::i32, std::numeric_limits<std::int32_t>::min(), -1),
            constant_bits(DType::i32, std::int64_t{std::numeric_limits<std::int32_t>::min()}));
  EXPECT_EQ(run(Op::rem, DType::i32, -7, 3), constant_bits(DType::i32, std::int64_t{-1}));
  EXPECT_EQ(run(Op::shift_left, DType::u32, 1, 32), 0u);
  EXPECT_EQ(run(Op::shift_right, DType::i32, -8, 40), constant_bits(DType::i32, std::int64_t{-1}));
  EXPECT_EQ(run(Op::mul_high, DType::u32, 0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(run(Op::mul_high, DType::i32, -2, 3), constant_bits(DType::i32, std::int64_t{-1}));
  EXPECT_EQ(run(Op::bit_not, DType::u16, 0, 0), 0xffffu);
}

TEST(Semantics, casts_truncate_clamp_and_round_once) {
  const auto from_float = [](double value, DType to) {
    return *evaluate(Op::cast, DType::f64, to, {constant_bits(DType::f64, value)});
  };
  EXPECT_EQ(from_float(-1.9, DType::i32), constant_bits(DType::i32, std::int64_t{-1}));
  EXPECT_EQ(from_float(300, DType::u8), 255u);
  EXPECT_EQ(from_float(-300, DType::i8), constant_bits(DType::i8, std::int64_t{-128}));
  EXPECT_EQ(from_float(-1, DType::u32), 0u);
  EXPECT_EQ(from_float(NAN, DType::i64), 0u);
  EXPECT_EQ(from_float(1e30, DType::u64), ~std::uint64_t{0});
  EXPECT_EQ(from_float(1e30, DType::i64), std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  // 2^54 + 2^30 + 1: rounding to f64 first would tie.
  const std::int64_t awkward = (std::int64_t{1} << 54) + (std::int64_t{1} << 30) + 1;
  EXPECT_EQ(*evaluate(Op::cast, DType::i64, DType::f32, {constant_bits(DType::i64, awkward)}),
            constant_bits(DType::f32, double{static_cast<float>(awkward)}));
}

TEST(Folding, keeps_every_bit) {
  const Type f32{DType::f32, 1}, i32{DType::i32, 1};
  const auto known = [](Id id, Type type, std::optional<double> value) {
    return Known{id, type, value ? std::optional(constant_bits(type.dtype, *value)) : std::nullopt};
  };
  const auto folded = [&](Op op, Type type, std::optional<double> a, std::optional<double> b) {
    const Known args[] = {known(1, type, a), known(2, type, b)};
    return fold(op, type, args);
  };
  EXPECT_EQ(folded(Op::add, i32, {}, 0).argument, 0);
  EXPECT_FALSE(folded(Op::add, f32, {}, 0.0).found()) << "-0 + 0 is +0";
  EXPECT_FALSE(folded(Op::mul, f32, {}, 0.0).found()) << "NaN * 0 is NaN";
  EXPECT_EQ(folded(Op::mul, i32, {}, 0).bits, 0u);
  EXPECT_EQ(folded(Op::mul, f32, 1.0, {}).argument, 1);
  EXPECT_EQ(folded(Op::div, f32, {}, 1.0).argument, 0);
  EXPECT_FALSE(folded(Op::div, f32, 1.0, {}).found());
  EXPECT_EQ(folded(Op::add, i32, 2, 3).bits, 5u);
  EXPECT_EQ(folded(Op::add, f32, 0.1, 0.2).bits, constant_bits(DType::f32, double{0.1f + 0.2f}));
  EXPECT_EQ(folded(Op::bit_and, i32, {}, -1).argument, 0);
}

}  // namespace
}  // namespace sinter::ir
