// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolution passes of every instruction set against plain loops in double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <sstream>
#include <vector>

#include "sinter/backend/portable/dispatch.hpp"

namespace sinter::portable {
namespace {

using Values = std::vector<float>;

Values random_values(std::int64_t n, std::uint32_t seed) {
  std::mt19937 r(seed);
  Values v(static_cast<std::size_t>(n));
  for (float& x : v) {
    x = float(int(r() % 2001) - 1000) / 1000;
  }
  return v;
}

// Buffers of exactly the promised size, filled with NaN: a kernel must not depend on what they
// hold.
struct Aligned {
  std::vector<unsigned char> bytes;
  explicit Aligned(std::size_t n) : bytes(n + 128, 0xff) {}
  void* data() {
    return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(bytes.data()) + 63) / 64 * 64);
  }
  bool intact(std::size_t n) {
    const auto* p = static_cast<unsigned char*>(data());
    for (const unsigned char* q = p + n; q < bytes.data() + bytes.size(); ++q) {
      if (*q != 0xff) {
        return false;
      }
    }
    return true;
  }
};

void run(const KernelSet& set, const ConvShape& s, ConvPass pass, const ConvArgs& a) {
  const ConvPlan p = set.conv_plan(s, pass);
  Aligned shared(p.shared_bytes);
  set.conv_prepare(p, a, shared.data());
  for (std::int64_t t = p.tasks - 1; t >= 0; --t) {
    Aligned scratch(p.scratch_bytes);
    set.conv_task(p, a, shared.data(), scratch.data(), t);
    EXPECT_TRUE(scratch.intact(p.scratch_bytes)) << "scratch overrun";
  }
  for (std::int64_t q = 0; q < p.parts; ++q) {
    set.conv_finish(p, a, shared.data(), q, p.parts);
  }
  EXPECT_TRUE(shared.intact(p.shared_bytes)) << "shared overrun";
}

struct Exact {
  std::vector<double> y, dx, dw;
};
// One walk over all (output, tap) pairs gives the three passes.
Exact exact(const ConvShape& s, const Values& x, const Values& w, const Values& b,
            const Values& g) {
  const std::int64_t ci = s.ci / s.groups, co = s.co / s.groups;
  Exact e{std::vector<double>(g.size()), std::vector<double>(x.size()),
          std::vector<double>(w.size())};
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t o = 0; o < s.co; ++o) {
      for (std::int64_t i = 0; i < s.oh(); ++i) {
        for (std::int64_t j = 0; j < s.ow(); ++j) {
          const std::size_t at = std::size_t(((n * s.co + o) * s.oh() + i) * s.ow() + j);
          e.y[at] = b.empty() ? 0 : double(b[std::size_t(o)]);
          for (std::int64_t c = 0; c < ci; ++c) {
            for (std::int64_t kh = 0; kh < s.kh; ++kh) {
              for (std::int64_t kw = 0; kw < s.kw; ++kw) {
                const std::int64_t h = i * s.stride_h + kh * s.dilation_h - s.top;
                const std::int64_t v = j * s.stride_w + kw * s.dilation_w - s.left;
                if (h < 0 || h >= s.h || v < 0 || v >= s.w) {
                  continue;
                }
                const std::size_t xi =
                    std::size_t(((n * s.ci + o / co * ci + c) * s.h + h) * s.w + v);
                const std::size_t wi = std::size_t(((o * ci + c) * s.kh + kh) * s.kw + kw);
                e.y[at] += double(x[xi]) * double(w[wi]);
                e.dx[xi] += double(g[at]) * double(w[wi]);
                e.dw[wi] += double(g[at]) * double(x[xi]);
              }
            }
          }
        }
      }
    }
  }
  return e;
}

double distance(const Values& got, const std::vector<double>& want, double scale) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double d = std::fabs(double(got[i]) - want[i]) / scale;
    worst = std::isnan(d) ? 1e30 : std::max(worst, d);
  }
  return worst;
}

void check(const ConvShape& s, bool bias = true) {
  std::ostringstream what;
  what << "n" << s.n << " ci" << s.ci << " " << s.h << "x" << s.w << " co" << s.co << " k" << s.kh
       << "x" << s.kw << " s" << s.stride_h << s.stride_w << " p" << s.top << s.bottom << s.left
       << s.right << " d" << s.dilation_h << s.dilation_w << " g" << s.groups;
  const Values x = random_values(s.n * s.ci * s.h * s.w, 1);
  const Values w = random_values(s.co * s.ci / s.groups * s.kh * s.kw, 2);
  const Values b = bias ? random_values(s.co, 3) : Values{};
  const Values g = random_values(s.n * s.co * s.oh() * s.ow(), 4);
  const Exact e = exact(s, x, w, b, g);
  const double deep_x = std::sqrt(double(s.ci / s.groups * s.kh * s.kw) + 1);
  const double deep_y = std::sqrt(double(s.co / s.groups * s.kh * s.kw) + 1);
  const double deep_w = std::sqrt(double(s.n * s.oh() * s.ow()) + 1);
  for (const KernelSet* set : kernel_sets()) {
    ConvArgs a;
    a.x = x.data();
    a.weight = w.data();
    a.bias = bias ? b.data() : nullptr;
    Values y(g.size(), 99.f);
    a.out = y.data();
    run(*set, s, ConvPass::forward, a);
    EXPECT_LE(distance(y, e.y, deep_x), 3e-6) << set->name << " forward " << what.str();
    a.y = g.data();
    Values dx(x.size(), 99.f);
    a.out = dx.data();
    run(*set, s, ConvPass::data_gradient, a);
    EXPECT_LE(distance(dx, e.dx, deep_y), 3e-6) << set->name << " data " << what.str();
    Values dw(w.size(), 99.f);
    a.out = dw.data();
    run(*set, s, ConvPass::weight_gradient, a);
    EXPECT_LE(distance(dw, e.dw, deep_w), 3e-6) << set->name << " weight " << what.str();
  }
}

ConvShape shape(std::int64_t n, std::int64_t ci, std::int64_t h, std::int64_t w, std::int64_t co,
                std::int64_t k, std::int64_t stride, std::int64_t pad) {
  ConvShape s;
  s.n = n, s.ci = ci, s.h = h, s.w = w, s.co = co, s.kh = s.kw = k;
  s.stride_h = s.stride_w = stride;
  s.top = s.bottom = s.left = s.right = pad;
  return s;
}

TEST(Conv, shapes_of_networks) {
  check(shape(3, 64, 13, 13, 64, 3, 1, 0));
  check(shape(3, 1, 28, 28, 64, 3, 1, 0));
  check(shape(1, 64, 20, 56, 64, 3, 1, 1));
  check(shape(2, 3, 40, 44, 64, 7, 2, 3));
  check(shape(2, 40, 14, 14, 70, 1, 1, 0));
  check(shape(2, 40, 14, 14, 70, 1, 2, 0));
  check(shape(1, 130, 7, 7, 33, 3, 1, 1), false);
}

TEST(Conv, channels_around_vector_and_tile_edges) {
  for (std::int64_t ci : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33}) {
    for (std::int64_t co : {1, 2, 4, 5, 7, 8, 13, 16, 17, 33, 65}) {
      check(shape(1, ci, 6, 9, co, 3, 1, 1));
    }
  }
}

TEST(Conv, widths_around_tiles) {
  for (std::int64_t w = 1; w <= 36; ++w) {
    check(shape(1, 8, 3, w, 8, 1, 1, 0));
    check(shape(2, 2, 4, w, 9, 3, 1, 1));
    check(shape(1, 9, 2, w + 2, 10, 2, 2, 1));
  }
}

TEST(Conv, stride_padding_dilation_groups) {
  std::mt19937 r(5);
  auto pick = [&r](std::initializer_list<std::int64_t> v) { return *(v.begin() + r() % v.size()); };
  for (int trial = 0; trial < 400; ++trial) {
    ConvShape s;
    s.groups = pick({1, 1, 2, 3});
    s.n = pick({1, 2, 3});
    s.ci = s.groups * pick({1, 2, 5, 8, 12, 17});
    s.co = s.groups * pick({1, 3, 4, 6, 8, 19});
    s.h = 1 + std::int64_t(r() % 14);
    s.w = 1 + std::int64_t(r() % 30);
    s.kh = pick({1, 2, 3, 5});
    s.kw = pick({1, 2, 3, 4});
    s.stride_h = pick({1, 1, 2, 3, 4});
    s.stride_w = pick({1, 1, 2, 3, 5});
    s.dilation_h = pick({1, 1, 2, 3});
    s.dilation_w = pick({1, 1, 2, 4});
    s.top = pick({0, 1, 2, 4}), s.bottom = pick({0, 1, 3});
    s.left = pick({0, 1, 2, 5}), s.right = pick({0, 1, 3});
    if (s.h + s.top + s.bottom < (s.kh - 1) * s.dilation_h + 1 ||
        s.w + s.left + s.right < (s.kw - 1) * s.dilation_w + 1) {
      continue;
    }
    check(s, trial % 2);
  }
}

TEST(Conv, depthwise) {
  for (std::int64_t stride : {1, 2}) {
    ConvShape s = shape(2, 19, 15, 37, 19, 3, stride, 1);
    s.groups = 19;
    check(s);
    s.co = 38;
    check(s);
  }
}

TEST(Conv, several_row_chunks) {
  check(shape(1, 64, 70, 60, 32, 3, 1, 1));
  check(shape(1, 3, 150, 220, 9, 5, 2, 2));
  check(shape(17, 9, 5, 5, 9, 3, 1, 1));
}

TEST(Conv, tall_image_of_one_column) {
  ConvShape s = shape(1, 8, 300, 1, 8, 1, 1, 0);
  s.kh = 3;
  check(s);
  ConvShape line = shape(2, 4, 1, 5000, 8, 1, 1, 0);
  line.kw = 5;
  check(line);
}

TEST(Conv, empty_batch) {
  for (const KernelSet* set : kernel_sets()) {
    ConvShape s = shape(0, 8, 5, 5, 8, 3, 1, 0);
    Values w = random_values(8 * 8 * 9, 1), dw(w.size(), 7.f);
    ConvArgs a;
    a.weight = w.data();
    run(*set, s, ConvPass::forward, a);
    a.out = dw.data();
    run(*set, s, ConvPass::weight_gradient, a);
    for (float x : dw) {
      EXPECT_EQ(x, 0.f);
    }
  }
}

// A NaN in one pixel reaches exactly the windows that hold it.
TEST(Conv, nan_stays_in_its_windows) {
  for (const KernelSet* set : kernel_sets()) {
    for (std::int64_t ci : {1, 16}) {
      const ConvShape s = shape(1, ci, 8, 21, 16, 3, 1, 1);
      Values x = random_values(ci * 8 * 21, 1);
      const Values w = random_values(16 * ci * 9, 2);
      x[std::size_t(4 * 21 + 20)] = std::nanf("");
      Values y(16 * 8 * 21);
      ConvArgs a;
      a.x = x.data(), a.weight = w.data(), a.out = y.data();
      run(*set, s, ConvPass::forward, a);
      for (std::int64_t i = 0; i < 8; ++i) {
        for (std::int64_t j = 0; j < 21; ++j) {
          const bool near = i >= 3 && i <= 5 && j >= 19;
          EXPECT_EQ(std::isnan(y[std::size_t((5 * 8 + i) * 21 + j)]), near)
              << set->name << i << "," << j;
        }
      }
    }
  }
}

TEST(Cases, CNV_01_dropped_tail) {
  ConvShape s = shape(1, 1, 1, 11, 1, 1, 1, 0);
  s.kw = 4;
  s.stride_w = 4;
  Values x(11), w{0, 1, 2, 3}, g(2, 1.f), dx(11), dw(4);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = float(i);
  }
  for (const KernelSet* set : kernel_sets()) {
    ConvArgs a;
    a.x = x.data(), a.weight = w.data(), a.y = g.data(), a.out = dx.data();
    run(*set, s, ConvPass::data_gradient, a);
    EXPECT_EQ(dx, (Values{0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 0}));
    a.out = dw.data();
    run(*set, s, ConvPass::weight_gradient, a);
    EXPECT_EQ(dw, (Values{4, 6, 8, 10}));
  }
}

}  // namespace
}  // namespace sinter::portable
