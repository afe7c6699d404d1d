// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementary functions of every instruction set against the C library in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sinter/backend/portable/dispatch.hpp"

namespace sinter::portable {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

struct Unary {
  MathFn fn;
  const char* name;
  double (*exact)(double);
  double max_ulp;
};

const Unary unary[] = {
    {MathFn::exp, "exp", [](double x) { return std::exp(x); }, 2},
    {MathFn::exp2, "exp2", [](double x) { return std::exp2(x); }, 1},
    {MathFn::expm1, "expm1", [](double x) { return std::expm1(x); }, 2},
    {MathFn::log, "log", [](double x) { return std::log(x); }, 2},
    {MathFn::log2, "log2", [](double x) { return std::log2(x); }, 1},
    {MathFn::log10, "log10", [](double x) { return std::log10(x); }, 1},
    {MathFn::log1p, "log1p", [](double x) { return std::log1p(x); }, 2},
    {MathFn::sin, "sin", [](double x) { return std::sin(x); }, 1},
    {MathFn::cos, "cos", [](double x) { return std::cos(x); }, 1},
    {MathFn::tan, "tan", [](double x) { return std::tan(x); }, 1},
    {MathFn::asin, "asin", [](double x) { return std::asin(x); }, 1},
    {MathFn::acos, "acos", [](double x) { return std::acos(x); }, 1},
    {MathFn::atan, "atan", [](double x) { return std::atan(x); }, 1},
    {MathFn::sinh, "sinh", [](double x) { return std::sinh(x); }, 1},
    {MathFn::cosh, "cosh", [](double x) { return std::cosh(x); }, 1},
    {MathFn::tanh, "tanh", [](double x) { return std::tanh(x); }, 2},
    {MathFn::asinh, "asinh", [](double x) { return std::asinh(x); }, 1},
    {MathFn::acosh, "acosh", [](double x) { return std::acosh(x); }, 1},
    {MathFn::atanh, "atanh", [](double x) { return std::atanh(x); }, 1},
    {MathFn::erf, "erf", [](double x) { return std::erf(x); }, 2},
    {MathFn::sqrt, "sqrt", [](double x) { return std::sqrt(x); }, 0.501},
    {MathFn::rsqrt, "rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.5},
    {MathFn::abs, "abs", [](double x) { return std::fabs(x); }, 0},
    {MathFn::floor, "floor", [](double x) { return std::floor(x); }, 0},
    {MathFn::ceil, "ceil", [](double x) { return std::ceil(x); }, 0},
    {MathFn::trunc, "trunc", [](double x) { return std::trunc(x); }, 0},
    {MathFn::round, "round", [](double x) { return std::nearbyint(x); }, 0},
};

// Distance in units of the last place of the exact value's float; huge for a wrong NaN, infinity or
// zero's sign.
double ulp_error(float got, double exact) {
  const float want = float(exact);
  if (std::isnan(want) || std::isnan(got)) {
    return std::isnan(want) == std::isnan(got) ? 0 : 1e30;
  }
  if (std::isinf(want) || std::isinf(got)) {
    // At the edge of the range one unit either way is fine.
    if (want == got) {
      return 0;
    }
    return std::fabs(exact) > 3.4028233e38 && std::fabs(got) > 3.4028233e38f ? 1 : 1e30;
  }
  if (want == 0 && got == 0) {
    return std::signbit(want) == std::signbit(got) ? 0 : 1e30;
  }
  int e = 0;
  std::frexp(want == 0 ? 1e-45f : want, &e);
  const double ulp = std::ldexp(1.0, std::max(e - 24, -149));
  return std::fabs(double(got) - exact) / ulp;
}

// Every 16381st float of both signs, dense samples where functions bend, and the special values.
const std::vector<float>& samples() {
  static const std::vector<float> all = [] {
    std::vector<float> x;
    for (std::uint64_t b = 0; b < (1ull << 32); b += 16381) {
      x.push_back(std::bit_cast<float>(std::uint32_t(b)));
    }
    for (int i = -200000; i <= 200000; ++i) {
      x.push_back(float(i) * 0.53e-3f);
      x.push_back(float(i) * 1.1e-5f);
      x.push_back(1 + float(i) * 1.7e-6f);
    }
    for (float s : {0.f,
                    1.f,
                    0.5f,
                    2.f,
                    1.5f,
                    2.5f,
                    88.72283f,
                    88.7229f,
                    103.9721f,
                    104.f,
                    87.33655f,
                    1e-45f,
                    1.1754944e-38f,
                    1.17549421e-38f,
                    3.4028235e38f,
                    8388608.f,
                    8388607.5f,
                    16777216.f,
                    16777218.f,
                    4194303.5f,
                    1e22f,
                    0.99999994f,
                    1.0000001f,
                    inf,
                    nan}) {
      x.push_back(s);
      x.push_back(-s);
    }
    return x;
  }();
  return all;
}

TEST(Vmath, unary_f32_within_ulp) {
  const auto& x = samples();
  std::vector<float> y(x.size());
  for (const KernelSet* set : kernel_sets()) {
    for (const Unary& u : unary) {
      set->math_f32(u.fn, x.data(), y.data(), x.size());
      double worst = 0;
      float at = 0;
      float got = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double e = ulp_error(y[i], u.exact(double(x[i])));
        if (e > worst) {
          worst = e;
          at = x[i];
          got = y[i];
        }
      }
      RecordProperty(std::string(set->name) + "_" + u.name, std::to_string(worst));
      EXPECT_LE(worst, u.max_ulp) << set->name << " " << u.name << "(" << at << ") = " << got
                                  << ", exact " << u.exact(at);
    }
  }
}

TEST(Vmath, unary_f64_is_libm) {
  std::vector<double> x{0.0, -0.0, 0.3, -0.7, 1.0, 2.5, 700.0, 1e300, inf, nan, 1e-310};
  std::vector<double> y(x.size());
  for (const KernelSet* set : kernel_sets()) {
    for (const Unary& u : unary) {
      set->math_f64(u.fn, x.data(), y.data(), x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double want = u.exact(x[i]);
        if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(y[i])) << set->name << " " << u.name << "(" << x[i] << ")";
        } else {
          EXPECT_DOUBLE_EQ(y[i], want) << set->name << " " << u.name << "(" << x[i] << ")";
        }
      }
    }
  }
}

double exact_max(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return nan;
  }
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
double exact_min(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return nan;
  }
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}

struct Binary {
  MathFn2 fn;
  const char* name;
  double (*exact)(double, double);
  double max_ulp;
};
const Binary binary[] = {
    {MathFn2::pow, "pow", [](double a, double b) { return std::pow(a, b); }, 1},
    {MathFn2::atan2, "atan2", [](double a, double b) { return std::atan2(a, b); }, 1},
    {MathFn2::fmod, "fmod", [](double a, double b) { return std::fmod(a, b); }, 0},
    {MathFn2::hypot, "hypot", [](double a, double b) { return std::hypot(a, b); }, 1},
    {MathFn2::maximum, "maximum", exact_max, 0},
    {MathFn2::minimum, "minimum", exact_min, 0},
    {MathFn2::copysign, "copysign", [](double a, double b) { return std::copysign(a, b); }, 0},
};

TEST(Vmath, binary_f32_within_ulp) {
  std::vector<float> special{0.f,    1.f,    2.f,   3.f,     0.5f,        1.5f,       7.25f,
                             1e-45f, 1e-38f, 1e30f, 3.4e38f, 16777215.f,  16777216.f, 0.333333f,
                             1e-7f,  100.f,  inf,   nan,     0.99999994f, 1.0000001f, 12345.678f};
  const std::size_t half = special.size();
  for (std::size_t i = 0; i < half; ++i) {
    special.push_back(-special[i]);
  }
  std::vector<float> a;
  std::vector<float> b;
  for (float p : special) {
    for (float q : special) {
      a.push_back(p);
      b.push_back(q);
    }
  }
  std::uint32_t r = 1;
  auto next = [&r] { return r = r * 1664525u + 1013904223u; };
  for (int i = 0; i < 300000; ++i) {
    a.push_back(std::bit_cast<float>(next()));
    b.push_back(std::bit_cast<float>(next()));
    a.push_back(float(next() >> 8) * 3e-6f);
    b.push_back(float(int(next() >> 8) - (1 << 23)) * 2e-6f);
  }
  std::vector<float> z(a.size());
  for (const KernelSet* set : kernel_sets()) {
    for (const Binary& f : binary) {
      set->math2_f32(f.fn, a.data(), b.data(), z.data(), a.size());
      double worst = 0;
      std::size_t at = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double e = ulp_error(z[i], f.exact(a[i], b[i]));
        if (e > worst) {
          worst = e;
          at = i;
        }
      }
      EXPECT_LE(worst, f.max_ulp) << set->name << " " << f.name << "(" << a[at] << ", " << b[at]
                                  << ") = " << z[at];
    }
  }
}

TEST(Cases, OPS_06_pow) {
  for (const KernelSet* set : kernel_sets()) {
    for (std::size_t n = 1; n <= 9; ++n) {
      const float x[9] = {-2, -2, -2, 0, 0, -0.f, nan, 1, -1};
      const float y[9] = {3, 2, 0.5f, 0, -1, -1, 0, nan, inf};
      const float want[9] = {-8, 4, nan, 1, inf, -inf, 1, 1, 1};
      float z[9] = {};
      set->math2_f32(MathFn2::pow, x, y, z, n);
      for (std::size_t i = 0; i < 9; ++i) {
        const float w = i < n ? want[i] : 0;
        EXPECT_TRUE(std::isnan(w) ? std::isnan(z[i]) : z[i] == w)
            << set->name << " " << n << " " << i;
      }
    }
  }
}

TEST(Cases, OPS_10_erf) {
  for (const KernelSet* set : kernel_sets()) {
    const float x[3] = {nan, 0.5f, -0.5f};
    float y[3];
    set->math_f32(MathFn::erf, x, y, 3);
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_NEAR(y[1], 0.5204999f, 1e-7);
    EXPECT_NEAR(y[2], -0.5204999f, 1e-7);
  }
}

TEST(Vmath, touches_only_n) {
  for (const KernelSet* set : kernel_sets()) {
    for (std::size_t n = 0; n <= 40; ++n) {
      std::vector<float> x(n, 0.25f);
      std::vector<float> y(n + 20, 7.f);
      set->math_f32(MathFn::exp, x.data(), y.data(), n);
      for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_NEAR(y[i], i < n ? 1.2840254f : 7.f, 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace sinter::portable
