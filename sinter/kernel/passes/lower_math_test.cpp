// SPDX-License-Identifier: MIT OR Apache-2.0
// Errors of the formulas against libm in long double, in units of the last place.
#include "sinter/kernel/passes/lower_math.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sinter/base/half.hpp"
#include "sinter/kernel/dsl/control.hpp"
#include "sinter/kernel/ir/interpret.hpp"

namespace sinter::ir {
namespace {

using Real = long double;

template <class T>
BufferArg arg(std::vector<T>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), values.size()};
}

int instructions(const Kernel& kernel) {
  int count = 0;
  for (const Inst& inst : kernel.insts) {
    switch (inst.op) {
      case Op::constant:
      case Op::splat:
      case Op::bitcast:
      case Op::load:
      case Op::store:
        break;
      default:
        ++count;
    }
  }
  return count;
}

/// out[i] = op(x[i], y[i]), some lanes at a time.
template <class T, int lanes>
Kernel kernel_of(Op op) {
  return dsl::record("map", {.cube = {256}}, [op] {
    const dsl::Buffer<T> x("x"), y("y"), out("out");
    const dsl::Index at = dsl::absolute_pos() * std::uint32_t{lanes};
    KERNEL_IF (at < x.length()) {
      if constexpr (lanes == 1) {
        const dsl::Val a = x[at].value(), b = y[at].value();
        out[at] = dsl::Expr<T>(traits_of(op).arguments == 1 ? dsl::apply(op, {a})
                                                            : dsl::apply(op, {a, b}));
      } else {
        const dsl::Val a = x.template load<lanes>(at), b = y.template load<lanes>(at);
        out.template store<lanes>(at, dsl::Expr<dsl::Vec<T, lanes>>(traits_of(op).arguments == 1
                                                                        ? dsl::apply(op, {a})
                                                                        : dsl::apply(op, {a, b})));
      }
    }
  });
}

template <class T>
std::vector<T> run(const Kernel& kernel, std::vector<T> x, std::vector<T> y, std::uint32_t lanes) {
  std::vector<T> out(x.size());
  const BufferArg buffers[] = {arg(x), arg(y), arg(out)};
  const auto units = static_cast<std::uint32_t>(x.size()) / lanes;
  interpret(kernel, {.cubes = {(units + 255) / 256, 1, 1}, .buffers = buffers, .scalars = {}});
  return out;
}

template <class T, int lanes>
std::vector<T> compute(Op op, const std::vector<T>& x, const std::vector<T>& y) {
  Kernel kernel = kernel_of<T, lanes>(op);
  lower_math(kernel, MathTarget{});
  for (const Inst& inst : kernel.insts) {
    EXPECT_TRUE(inst.op != op || (op == Op::rem && is_integer(inst.type.dtype)));
  }
  return run(kernel, x, y, lanes);
}

template <class T>
struct Ieee;
template <>
struct Ieee<float> {
  using Bits = std::uint32_t;
  static constexpr int digits = 24;
  static constexpr int least = -149;  ///< exponent of the smallest denormal
};
template <>
struct Ieee<double> {
  using Bits = std::uint64_t;
  static constexpr int digits = 53;
  static constexpr int least = -1074;
};

template <class T>
T of_bits(std::uint64_t word) {
  return std::bit_cast<T>(static_cast<typename Ieee<T>::Bits>(word));
}

/// Distance in units of the last place of `want` rounded to T; NaN, infinities and the sign of a
/// zero have to be right.
template <class T>
double error_in_ulp(T got, Real want) {
  constexpr double wrong = 1e9;
  if (std::isnan(want) || std::isnan(got)) {
    return std::isnan(want) && std::isnan(got) ? 0 : wrong;
  }
  if (std::isinf(want) || std::signbit(got) != std::signbit(want)) {
    return got == want ? 0 : wrong;
  }
  if (std::isinf(got)) {
    return std::isinf(static_cast<T>(want)) ? 0 : wrong;
  }
  int exponent = 0;
  std::frexp(want, &exponent);
  const Real ulp = std::ldexp(Real{1}, std::max(exponent - Ieee<T>::digits, Ieee<T>::least));
  return want == 0 && got != 0 ? wrong : static_cast<double>(std::fabs(got - want) / ulp);
}

/// Where functions have their corners, with both signs.
template <class T>
std::vector<T> specials() {
  constexpr bool narrow = sizeof(T) == 4;
  using Limits = std::numeric_limits<T>;
  std::vector<T> list = {
      0, Limits::denorm_min(), Limits::min() / 2, Limits::min(), T(1e-30), T(1e-20),
      Limits::epsilon() / 4, Limits::epsilon() / 2, Limits::epsilon(), T(1) / 16384, T(1) / 64,
      T(0.25), T(0.41421356237), T(0.5), T(0.625), T(0.70710678), T(0.92),
      1 - Limits::epsilon() / 2, 1, 1 + Limits::epsilon(), T(1.41421356), T(1.5), T(1.57079632679),
      2, T(2.5), 3, T(3.14159265359), T(3.92), 4, T(5.95), T(9.01), 10, 17, 19, T(88.72283),
      T(89.41598), T(103.27893), T(103.97208), 126, 127, 128, 149, T(149.5), 150, 151, T(708.4),
      T(709.7827), T(710.4758), T(745.13), 1022, 1024, 1074, 1075, T(1e4), T(131071.99), 131072,
      T(1e6), T(8388607.5), 8388608, 16777215, 16777216, T(1e9), T(1073741824), T(1e10), T(1e18),
      T(1.8446744e19), T(1e20), T(1e30), Limits::max(), Limits::infinity(), Limits::quiet_NaN(),
      // Where sinh, erf and tan round worst.
      T(0x1.70c29cp0), T(0x1.000706p0), T(0x1.90e7e8p16),
      // Close to multiples of pi/2.
      T(16367173 * 0x1p72), T(narrow ? 0x1.20befep120 : 6381956970095103 * 0x1p797), T(355), T(22)};
  for (std::size_t i = 0, n = list.size(); i < n; ++i) {
    list.push_back(-list[i]);
  }
  return list;
}

template <class T>
std::vector<T> around(const std::vector<T>& centers) {
  std::vector<T> x = centers;
  for (const T center : centers) {
    const auto word = std::bit_cast<typename Ieee<T>::Bits>(center);
    for (unsigned step = 1; step < 16 && std::isfinite(center); ++step) {
      x.push_back(of_bits<T>(word + step));
      x.push_back(of_bits<T>(word - step));
    }
  }
  return x;
}

/// Special values, what is dense around them, random bits, and common numbers.
template <class T>
std::vector<T> points(std::size_t random) {
  std::vector<T> x = around(specials<T>());
  std::mt19937_64 generator(1);
  std::normal_distribution<T> normal;
  for (std::size_t i = 0; i < random; ++i) {
    x.push_back(i % 3 == 0 ? normal(generator) * static_cast<T>(1 << (i % 8))
                           : of_bits<T>(generator()));
  }
  x.resize((x.size() + 15) / 16 * 16, 1);
  return x;
}

template <class T>
struct Pairs {
  std::vector<T> x, y;
};
template <class T>
Pairs<T> pairs(std::size_t random) {
  Pairs<T> p;
  const auto add = [&](T a, T b) {
    p.x.push_back(a);
    p.y.push_back(b);
  };
  for (const T a : specials<T>()) {
    for (const T b : specials<T>()) {
      add(a, b);
    }
  }
  std::mt19937_64 generator(2);
  std::normal_distribution<T> normal;
  for (std::size_t i = 0; i < random; ++i) {
    const T a = of_bits<T>(generator()), b = of_bits<T>(generator());
    const T u = normal(generator), v = normal(generator);
    const T spread = static_cast<T>(1 << (i % 16));
    i % 3 == 0   ? add(a, b)
    : i % 3 == 1 ? add(std::exp(4 * u), 8 * v)
                 : add(1 + u / spread, 64 * spread * v);
  }
  while (p.x.size() % 16 != 0) {
    add(1, 1);
  }
  return p;
}

template <class T>
int cost(Op op) {
  Kernel kernel = kernel_of<T, 1>(op);
  const int before = instructions(kernel) - 1;
  lower_math(kernel, MathTarget{});
  return instructions(kernel) - before;
}

using Exact = Real(Real, Real);

/// Vectors of 16 within `bound` of libm; the first `few` computed singly, too.
template <class T>
void expect_close(Op op, Exact* exact, const Pairs<T>& p, std::size_t few, double bound) {
  const std::string name(traits_of(op).name);
  const std::vector<T> wide = compute<T, 16>(op, p.x, p.y);
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < p.x.size(); ++i) {
    const double error = error_in_ulp(wide[i], exact(p.x[i], p.y[i]));
    if (!(error <= worst)) {
      worst = error;
      at = i;
    }
  }
  std::printf("%-8s f%zu: %.3f ulp, %d instructions\n", name.c_str(), 8 * sizeof(T), worst,
              cost<T>(op));
  EXPECT_LE(worst, bound) << name << " at " << p.x[at] << ", " << p.y[at] << ": got " << wide[at]
                          << ", expected " << exact(p.x[at], p.y[at]);
  const std::vector<T> x(p.x.begin(), p.x.begin() + static_cast<std::ptrdiff_t>(few));
  const std::vector<T> y(p.y.begin(), p.y.begin() + static_cast<std::ptrdiff_t>(few));
  const std::vector<T> narrow = compute<T, 1>(op, x, y);
  for (std::size_t i = 0; i < few; ++i) {
    ASSERT_EQ(of_bits<T>(0) == narrow[i] ? std::signbit(narrow[i]) : 0,
              of_bits<T>(0) == wide[i] ? std::signbit(wide[i]) : 0);
    ASSERT_TRUE(narrow[i] == wide[i] || (std::isnan(narrow[i]) && std::isnan(wide[i])))
        << name << " of one lane differs from that of 16 at " << x[i] << ", " << y[i];
  }
}

struct Function {
  Op op;
  Exact* exact;
};
#define SINTER_OF_ONE(name) {Op::name, [](Real a, Real) -> Real { return std::name(a); }}
#define SINTER_OF_TWO(name) {Op::name, [](Real a, Real b) -> Real { return std::name(a, b); }}

const Function of_one[] = {
    SINTER_OF_ONE(exp),   SINTER_OF_ONE(exp2),  SINTER_OF_ONE(expm1), SINTER_OF_ONE(log),
    SINTER_OF_ONE(log2),  SINTER_OF_ONE(log10), SINTER_OF_ONE(log1p), SINTER_OF_ONE(sin),
    SINTER_OF_ONE(cos),   SINTER_OF_ONE(tan),   SINTER_OF_ONE(asin),  SINTER_OF_ONE(acos),
    SINTER_OF_ONE(atan),  SINTER_OF_ONE(sinh),  SINTER_OF_ONE(cosh),  SINTER_OF_ONE(tanh),
    SINTER_OF_ONE(asinh), SINTER_OF_ONE(acosh), SINTER_OF_ONE(atanh), SINTER_OF_ONE(erf)};
const Function of_two[] = {SINTER_OF_TWO(pow), SINTER_OF_TWO(atan2), SINTER_OF_TWO(hypot)};
const Function exact[] = {{Op::rem, [](Real a, Real b) -> Real { return std::fmod(a, b); }},
                          SINTER_OF_TWO(copysign)};
#undef SINTER_OF_ONE
#undef SINTER_OF_TWO

template <class T>
void expect_functions_of_one_argument(std::size_t random, double bound) {
  Pairs<T> p;
  p.x = points<T>(random);
  p.y = p.x;
  for (const Function& f : of_one) {
    expect_close(f.op, f.exact, p, 1024, bound);
  }
  expect_close<T>(Op::rsqrt, [](Real a, Real) -> Real { return 1 / std::sqrt(a); }, p, 1024, bound);
}

TEST(LowerMath, f32_functions_of_one_argument_are_within_2_ulp) {
  expect_functions_of_one_argument<float>(1 << 14, 2);
}
TEST(LowerMath, f64_functions_of_one_argument_are_within_4_ulp) {
  expect_functions_of_one_argument<double>(1 << 13, 4);
}

TEST(LowerMath, functions_of_two_arguments_are_within_2_ulp) {
  for (const Function& f : of_two) {
    expect_close(f.op, f.exact, pairs<float>(1 << 14), 1024, 2);
    expect_close(f.op, f.exact, pairs<double>(1 << 13), 1024, 2);
  }
}

TEST(LowerMath, remainder_and_copysign_are_exact) {
  for (const Function& f : exact) {
    expect_close(f.op, f.exact, pairs<float>(1 << 12), 1024, 0);
    expect_close(f.op, f.exact, pairs<double>(1 << 12), 1024, 0);
  }
}

template <class T>
void expect_rounded_once() {
  std::vector<T> x, y;
  for (int i = 0; i < 1 << 12; ++i) {
    x.push_back(T(0.01 * (i - 2048)));
    y.push_back(T(1.5));
  }
  for (const Op op : {Op::exp, Op::erf, Op::sin, Op::log1p}) {
    const std::vector<T> got = compute<T, 16>(op, x, y);
    int off = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double a = static_cast<double>(x[i]);
      const double want = op == Op::exp   ? std::exp(a)
                          : op == Op::erf ? std::erf(a)
                          : op == Op::sin ? std::sin(a)
                                          : std::log1p(a);
      off += std::isnan(want) ? !std::isnan(static_cast<float>(got[i]))
                              : static_cast<float>(got[i]) != static_cast<float>(T(want));
    }
    // An f32 within 2 ulp is on the wrong side of a tie once in thousands.
    EXPECT_LE(off, 4) << traits_of(op).name;
  }
}

TEST(LowerMath, halves_are_rounded_once) {
  expect_rounded_once<f16>();
  expect_rounded_once<bf16>();
}

template <class T>
void expect_mul_high() {
  std::mt19937_64 generator(3);
  std::vector<T> x, y;
  const T edges[] = {T(0), T(1), T(-1), std::numeric_limits<T>::min(),
                     std::numeric_limits<T>::max()};
  for (const T a : edges) {
    for (const T b : edges) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  while (x.size() < 2048) {
    x.push_back(static_cast<T>(generator()));
    y.push_back(static_cast<T>(generator() >> (x.size() % 40)));
  }
  const std::vector<T> got = compute<T, 16>(Op::mul_high, x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T want = static_cast<T>((static_cast<__int128>(x[i]) * y[i]) >> (8 * sizeof(T)));
    ASSERT_EQ(got[i], std::is_signed_v<T> || sizeof(T) < 8
                          ? want
                          : static_cast<T>((static_cast<unsigned __int128>(x[i]) * y[i]) >> 64))
        << x[i] << " * " << y[i];
  }
}

TEST(LowerMath, the_upper_half_of_a_product) {
  expect_mul_high<std::uint8_t>();
  expect_mul_high<std::int16_t>();
  expect_mul_high<std::uint32_t>();
  expect_mul_high<std::int32_t>();
  expect_mul_high<std::uint64_t>();
  expect_mul_high<std::int64_t>();
}

TEST(LowerMath, only_elementary_functions_have_formulas) {
  std::string names;
  for (int i = 0; i < op_count(); ++i) {
    const auto op = static_cast<Op>(i);
    bool lowered = false;
    static_cast<void>(dsl::record("probe", {}, [&] {
      const dsl::Val args[] = {dsl::Val::typed({DType::f32, 1}, 0.5),
                               dsl::Val::typed({DType::f32, 1}, 0.5)};
      lowered = formula_of(op, {args, std::clamp<std::size_t>(traits_of(op).arguments, 1, 2)})
                    .has_value();
    }));
    names += lowered ? std::string(traits_of(op).name) + " " : "";
  }
  EXPECT_EQ(names,
            "rem rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh "
            "tanh asinh acosh atanh erf pow atan2 hypot copysign ");
}

TEST(LowerMath, what_a_target_has_stays) {
  Kernel kernel = kernel_of<float, 4>(Op::exp);
  const std::size_t before = kernel.insts.size();
  lower_math(kernel, MathTarget{}.add({Op::exp}));
  EXPECT_EQ(kernel.insts.size(), before);
  Kernel wide = kernel_of<double, 4>(Op::exp);
  lower_math(wide, MathTarget::cpu());
  EXPECT_EQ(wide.insts.size(), before);
}

}  // namespace
}  // namespace sinter::ir
