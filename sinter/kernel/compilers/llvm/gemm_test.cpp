// SPDX-License-Identifier: MIT OR Apache-2.0
// The inner kernel of a matrix product: all of its sums stay in registers.
#include <chrono>
#include <deque>

#include <fmt/format.h>

#include "sinter/base/os/cpu.hpp"
#include "sinter/kernel/compilers/llvm/harness_test.hpp"
#include "sinter/kernel/dsl/control.hpp"

namespace sinter::llvm {
namespace {

using namespace sinter::dsl;
using Wide = Vec<float, 16>;

/// c[rows][16 * vectors] += a[k][rows] * b[k][16 * vectors], packed; rows of c are `stride` apart.
ir::Kernel micro_kernel(std::uint32_t rows, std::uint32_t vectors) {
  return record("micro", {}, [=] {
    const Buffer<float> a("a", ir::Access::read), b("b", ir::Access::read);
    const Buffer<float> c("c");
    const Index k = scalar<std::uint32_t>("k"), stride = scalar<std::uint32_t>("stride");
    std::deque<Var<Wide>> sums;
    for (std::uint32_t i = 0; i < rows * vectors; ++i) {
      sums.emplace_back(Expr<Wide>(0.0f));
    }
    for (const Index p : range(k)) {
      std::vector<Expr<Wide>> right;
      for (std::uint32_t j = 0; j < vectors; ++j) {
        right.push_back(b.load<16>(p * (16 * vectors) + 16 * j));
      }
      for (std::uint32_t i = 0; i < rows; ++i) {
        const Expr<Wide> left = splat<16>(a[p * rows + i].value());
        for (std::uint32_t j = 0; j < vectors; ++j) {
          Var<Wide>& sum = sums[i * vectors + j];
          sum = fma(left, right[j], sum.value());
        }
      }
    }
    for (std::uint32_t i = 0; i < rows; ++i) {
      for (std::uint32_t j = 0; j < vectors; ++j) {
        const Index at = stride * i + 16 * j;
        c.store<16>(at, c.load<16>(at) + sums[i * vectors + j].value());
      }
    }
  });
}

std::size_t count_of(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

/// Lines that move a vector register to or from the stack.
std::size_t spills(const std::string& listing) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < listing.size();) {
    const std::size_t end = std::min(listing.find('\n', at), listing.size());
    const std::string_view line(listing.data() + at, end - at);
    const bool is_stack = line.find("(%rsp") != line.npos || line.find("(%rbp") != line.npos;
    count += is_stack && line.find("mm") != line.npos ? 1 : 0;
    at = end + 1;
  }
  return count;
}

TEST(LlvmGemm, micro_kernel_equals_checked_mode) {
  SINTER_NEEDS_LLVM();
  const std::uint32_t rows = 12, columns = 32, k = 9;
  std::vector<float> a(k * rows), b(k * columns), c(rows * columns);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 7) - 2.7f;
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = static_cast<float>(i % 11) * 0.3f - 1.4f;
  }
  const auto results =
      run_both(micro_kernel(rows, 2), {bytes_of(a), bytes_of(b), bytes_of(c)}, {k, columns});
  EXPECT_EQ(values_of<float>(results.got[2]), values_of<float>(results.expected[2]));
  EXPECT_NE(values_of<float>(results.got[2])[5], 0.0f);
}

TEST(LlvmGemm, sums_stay_in_registers) {
  SINTER_NEEDS_LLVM();
  Request request;
  request.triple = "x86_64-unknown-linux-gnu";
  request.cpu = "skylake-avx512";
  request.features = "+avx512f";
  request.listing = 1;
  const Compiled wide = compile(ir::print(micro_kernel(12, 2)), request);
  ASSERT_EQ(wide.message, "");
  EXPECT_EQ(spills(wide.listing), 0u) << wide.listing;
  EXPECT_EQ(count_of(wide.listing, "\tvfmadd"), 24u) << wide.listing;
  // Registers of 256 bits: a vector of 16 lanes is two of them, and there are 16.
  request.cpu = "haswell";
  request.features = "";
  const Compiled narrow = compile(ir::print(micro_kernel(6, 1)), request);
  ASSERT_EQ(narrow.message, "");
  EXPECT_EQ(spills(narrow.listing), 0u) << narrow.listing;
  EXPECT_EQ(count_of(narrow.listing, "\tvfmadd"), 12u) << narrow.listing;
}

TEST(LlvmGemm, compiles_for_arm) {
  SINTER_NEEDS_LLVM();
  Request request;
  request.triple = "aarch64-linux-gnu";
  request.cpu = "generic";
  request.listing = 1;
  const Compiled compiled = compile(ir::print(micro_kernel(6, 1)), request);
  ASSERT_EQ(compiled.message, "");
  EXPECT_EQ(count_of(compiled.listing, "\tfmla\t"), 24u) << compiled.listing;
  EXPECT_FALSE(compiled.image.empty());
  EXPECT_EQ(compiled.entry, 0u);
}

}  // namespace
}  // namespace sinter::llvm
