// SPDX-License-Identifier: MIT OR Apache-2.0
// Matrix products of every instruction set against plain loops in double (or int64).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sinter/backend/portable/dispatch.hpp"

namespace sinter::portable {
namespace {

struct Layout {
  const char* name;
  std::int64_t (*row)(std::int64_t rows, std::int64_t cols);
  std::int64_t (*col)(std::int64_t rows, std::int64_t cols);
};
// Row major, column major, padded row major, both strides loose.
const Layout layouts[] = {
    {"n", [](std::int64_t, std::int64_t c) { return c; },
     [](std::int64_t, std::int64_t) { return std::int64_t(1); }},
    {"t", [](std::int64_t, std::int64_t) { return std::int64_t(1); },
     [](std::int64_t r, std::int64_t) { return r; }},
    {"p", [](std::int64_t, std::int64_t c) { return c + 5; },
     [](std::int64_t, std::int64_t) { return std::int64_t(1); }},
    {"s", [](std::int64_t, std::int64_t c) { return 2 * c + 3; },
     [](std::int64_t, std::int64_t) { return std::int64_t(2); }},
};

template <class T>
struct Ops;
template <>
struct Ops<float> {
  using C = float;
  using Args = Gemm<float>;
  static auto bytes(const KernelSet& s) { return s.gemm_f32_scratch_bytes; }
  static auto run(const KernelSet& s) { return s.gemm_f32; }
  static double tolerance(std::int64_t k) { return 2e-6 * std::sqrt(double(k) + 1) + 1e-6; }
};
template <>
struct Ops<double> {
  using C = double;
  using Args = Gemm<double>;
  static auto bytes(const KernelSet& s) { return s.gemm_f64_scratch_bytes; }
  static auto run(const KernelSet& s) { return s.gemm_f64; }
  static double tolerance(std::int64_t k) { return 1e-14 * std::sqrt(double(k) + 1); }
};
template <>
struct Ops<std::int8_t> {
  using C = std::int32_t;
  using Args = GemmI8;
  static auto bytes(const KernelSet& s) { return s.gemm_i8_scratch_bytes; }
  static auto run(const KernelSet& s) { return s.gemm_i8; }
  static double tolerance(std::int64_t) { return 0; }
};

std::mt19937& rng() {
  static std::mt19937 r(7);
  return r;
}
template <class T>
T random_value() {
  if constexpr (std::is_integral_v<T>) {
    return T(int(rng()() % 256) - 128);
  } else {
    return T(double(rng()() % 20001) / 10000 - 1);
  }
}

template <class Args>
void run_split(void (*fn)(const Args&, void*),
               std::size_t (*bytes)(std::int64_t, std::int64_t, std::int64_t), const Args& g,
               std::int64_t threads) {
  const GemmGrid grid = gemm_grid(g.m, g.n, threads);
  for (std::int64_t i = 0; i < grid.rows * grid.cols; ++i) {
    const Args piece = gemm_piece(g, grid, i);
    const std::size_t size = bytes(piece.m, piece.n, piece.k);
    std::vector<unsigned char> scratch(size + 64, 0xff);
    auto at = (reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64;
    fn(piece, reinterpret_cast<void*>(at));
  }
}

template <class T>
void check(const KernelSet& set, std::int64_t m, std::int64_t n, std::int64_t k, const Layout& la,
           const Layout& lb, bool accumulate, bool bias, std::int64_t threads) {
  using C = typename Ops<T>::C;
  const std::int64_t ar = la.row(m, k), ac = la.col(m, k), br = lb.row(k, n), bc = lb.col(k, n);
  std::vector<T> a(std::size_t(
      (m - 1) * ar + (k - 1) * ac + 1 > 0 && m && k ? (m - 1) * ar + (k - 1) * ac + 1 : 0));
  std::vector<T> b(std::size_t(n && k ? (k - 1) * br + (n - 1) * bc + 1 : 0));
  for (T& x : a) {
    x = random_value<T>();
  }
  for (T& x : b) {
    x = random_value<T>();
  }
  const std::int64_t ldc = n + 3;
  std::vector<C> c(std::size_t(m * ldc));
  for (C& x : c) {
    x = C(random_value<T>());
  }
  std::vector<C> row(static_cast<std::size_t>(m), C(3)), col(static_cast<std::size_t>(n), C(-2));
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] += C(i % 5);
  }
  for (std::size_t i = 0; i < col.size(); ++i) {
    col[i] += C(i % 7);
  }
  const std::vector<C> before = c;
  typename Ops<T>::Args g;
  g.m = m, g.n = n, g.k = k;
  g.a = a.data(), g.a_row = ar, g.a_col = ac;
  g.b = b.data(), g.b_row = br, g.b_col = bc;
  g.c = c.data(), g.c_row = ldc;
  g.accumulate = accumulate;
  if constexpr (!std::is_integral_v<T>) {
    if (bias) {
      g.row_bias = row.data();
      g.col_bias = col.data();
    }
  }
  run_split(Ops<T>::run(set), Ops<T>::bytes(set), g, threads);
  double worst = 0;
  bool outside = false;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < ldc; ++j) {
      const std::size_t at = std::size_t(i * ldc + j);
      if (j >= n) {
        outside |= c[at] != before[at];
        continue;
      }
      double s = accumulate ? double(before[at]) : 0;
      for (std::int64_t p = 0; p < k; ++p) {
        s += double(a[std::size_t(i * ar + p * ac)]) * double(b[std::size_t(p * br + j * bc)]);
      }
      if (bias && !std::is_integral_v<T>) {
        s += double(row[std::size_t(i)]) + double(col[std::size_t(j)]);
      }
      worst = std::max(worst, std::fabs(s - double(c[at])) / (1 + (bias ? 12 : 0)));
    }
  }
  const std::string what = std::string(set.name) + " " + std::to_string(m) + "x" +
                           std::to_string(n) + "x" + std::to_string(k) + " " + la.name + lb.name;
  EXPECT_FALSE(outside) << what;
  EXPECT_LE(worst, Ops<T>::tolerance(k)) << what;
}

const std::int64_t sizes[] = {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 257};

// Every size in each position, the others drawn at random; every pair of layouts.
template <class T>
void sweep() {
  for (const KernelSet* set : kernel_sets()) {
    for (std::int64_t size : sizes) {
      for (int which = 0; which < 3; ++which) {
        for (int la = 0; la < 4; ++la) {
          for (int lb = 0; lb < 4; ++lb) {
            std::int64_t d[3];
            for (std::int64_t& x : d) {
              x = sizes[rng()() % 14];
            }
            d[which] = size;
            check<T>(*set, d[0], d[1], d[2], layouts[la], layouts[lb], rng()() % 2, rng()() % 2,
                     1 + std::int64_t(rng()() % 4));
          }
        }
      }
    }
  }
}
TEST(Gemm, f32_sizes_and_layouts) { sweep<float>(); }
TEST(Gemm, f64_sizes_and_layouts) { sweep<double>(); }
TEST(Gemm, i8_sizes_and_layouts) { sweep<std::int8_t>(); }

TEST(Gemm, all_sizes_below_20) {
  for (const KernelSet* set : kernel_sets()) {
    for (std::int64_t m = 0; m < 20; ++m) {
      for (std::int64_t n = 0; n < 20; ++n) {
        for (std::int64_t k : {0, 1, 2, 7, 16, 19}) {
          check<float>(*set, m, n, k, layouts[m % 4], layouts[n % 4], (m + n) % 2, (m + k) % 2, 1);
        }
      }
    }
  }
}

TEST(Gemm, several_blocks_of_k_m_and_n) {
  for (const KernelSet* set : kernel_sets()) {
    check<float>(*set, 401, 70, 1000, layouts[0], layouts[0], false, true, 1);
    check<float>(*set, 30, 3300, 500, layouts[1], layouts[1], true, true, 3);
    check<double>(*set, 401, 70, 500, layouts[0], layouts[1], true, true, 2);
    check<std::int8_t>(*set, 301, 70, 1301, layouts[0], layouts[1], true, false, 2);
  }
}

TEST(Gemm, f32_propagates_nan_and_infinity) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const KernelSet* set : kernel_sets()) {
    for (std::int64_t size : {3, 17, 65}) {
      for (int form = 0; form < 2; ++form) {
        const std::size_t count = std::size_t(size * size);
        std::vector<float> a(count, 0.f), b(count, 1.f), c(count);
        b[std::size_t(size + 1)] = inf;  // 0 * inf is NaN in column 1 (or row 1 transposed)
        a[std::size_t(2 * size)] = std::nanf("");  // row 2
        Gemm<float> g;
        g.m = g.n = g.k = size;
        g.a = a.data(), g.a_row = size;
        g.b = b.data(), g.b_row = form ? 1 : size, g.b_col = form ? size : 1;
        g.c = c.data(), g.c_row = size;
        run_split(set->gemm_f32, set->gemm_f32_scratch_bytes, g, 1);
        for (std::int64_t i = 0; i < size; ++i) {
          for (std::int64_t j = 0; j < size; ++j) {
            EXPECT_EQ(std::isnan(c[std::size_t(i * size + j)]), i == 2 || j == 1)
                << set->name << " " << size << " at " << i << "," << j;
          }
        }
      }
    }
  }
}

TEST(Gemm, i8_extremes_are_exact) {
  for (const KernelSet* set : kernel_sets()) {
    const std::int64_t k = 4099;
    std::vector<std::int8_t> a(static_cast<std::size_t>(k), -128), b(a);
    std::int32_t c = 5;
    GemmI8 g;
    g.m = g.n = 1, g.k = k;
    g.a = a.data(), g.a_row = k;
    g.b = b.data(), g.b_row = 1;
    g.c = &c, g.c_row = 1;
    run_split(set->gemm_i8, set->gemm_i8_scratch_bytes, g, 1);
    EXPECT_EQ(c, 16384 * k);
  }
}

TEST(Gemm, negative_and_zero_strides) {
  for (const KernelSet* set : kernel_sets()) {
    for (std::int64_t n : {5, 40}) {
      std::vector<float> a(std::size_t(n * n)), b(static_cast<std::size_t>(n)), c(a.size());
      for (float& x : a) {
        x = random_value<float>();
      }
      for (float& x : b) {
        x = random_value<float>();
      }
      Gemm<float> g;
      g.m = g.n = g.k = n;
      g.a = a.data() + n - 1, g.a_row = n, g.a_col = -1;
      g.b = b.data(), g.b_row = 1, g.b_col = 0;
      g.c = c.data(), g.c_row = n;
      run_split(set->gemm_f32, set->gemm_f32_scratch_bytes, g, 2);
      for (std::int64_t i = 0; i < n; ++i) {
        double s = 0;
        for (std::int64_t p = 0; p < n; ++p) {
          s += double(a[std::size_t(i * n + n - 1 - p)]) * double(b[std::size_t(p)]);
        }
        for (std::int64_t j = 0; j < n; ++j) {
          EXPECT_NEAR(c[std::size_t(i * n + j)], s, 2e-5) << set->name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sinter::portable
