// SPDX-License-Identifier: MIT OR Apache-2.0
// An error names the method that was asked for and, where it names a place, the caller's.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sinter/tensor/cases_test.hpp"

namespace sinter::testing {
namespace {

using F1 = Tensor<1>;
using F2 = Tensor<2>;
using I2 = Tensor<2, Int>;
using B2 = Tensor<2, Bool>;
using X = DynTensor;

struct Wrong {
  std::string name;  // as the error writes it
  std::function<void()> call;
};

void expect_place(const std::vector<Wrong>& calls) {
  for (const Wrong& wrong : calls) {
    const std::string text = error_of<UserError>(wrong.call);
    EXPECT_EQ(text.substr(0, wrong.name.size() + 1), wrong.name + ":") << text;
    const std::size_t place = text.find("called at ");
    if (place != text.npos) {
      EXPECT_EQ(text.substr(place + 10, 20), "error_place_test.cpp") << text;
    }
  }
}

TEST(ErrorPlace, dims_that_are_not_there) {
  const auto x = F2::from({{1, 2}, {3, 4}});
  const KeepDim keep = keep_dim;
  expect_place({
      {"sum", [&] { (void)x.sum(7); }},
      {"mean", [&] { (void)x.mean(7); }},
      {"max", [&] { (void)x.max(7); }},
      {"argmax", [&] { (void)x.argmax(7); }},
      {"max_abs", [&] { (void)x.max_abs(7); }},
      {"var", [&] { (void)x.var(7); }},
      {"var", [&] { (void)x.var(7, keep); }},
      {"std", [&] { (void)x.std(7); }},
      {"std", [&] { (void)x.std(7, keep); }},
      {"var_mean", [&] { (void)x.var_mean(7); }},
      {"cov", [&] { (void)x.cov(7); }},
      {"norm", [&] { (void)x.norm(2, 7); }},
      {"norm", [&] { (void)x.norm(2, 7, keep); }},
      {"median", [&] { (void)x.median(7); }},
      {"logsumexp", [&] { (void)x.logsumexp(7); }},
      {"cumsum", [&] { (void)x.cumsum(7); }},
      {"cummax", [&] { (void)x.cummax(7); }},
      {"diff", [&] { (void)x.diff(1, 7); }},
      {"softmax", [&] { (void)x.softmax(7); }},
      {"log_softmax", [&] { (void)x.log_softmax(7); }},
      {"glu", [&] { (void)x.glu(7); }},
      {"sort", [&] { (void)x.sort(7); }},
      {"topk", [&] { (void)x.topk(1, 7); }},
      {"cosine_similarity", [&] { (void)cosine_similarity(x, x, 7); }},
      {"narrow", [&] { (void)x.narrow(7, 0, 1); }},
      {"squeeze", [&] { (void)x.squeeze(7); }},
      {"roll", [&] { (void)x.roll(1, 7); }},
  });
}

TEST(ErrorPlace, kinds_that_do_not_fit) {
  const X truths = X(B2::from({{true, false}}));
  const X whole = X(I2::from({{1, 2}}));
  expect_place({
      {"clamp", [&] { (void)truths.clamp(0, 1); }},
      {"clamp", [&] { (void)X(truths).clamp(0, 1); }},
      {"clamp", [&] { (void)truths.clamp_min(0); }},
      {"clamp", [&] { (void)truths.clamp_max(0); }},
      {"clamp", [&] { (void)truths.relu6(); }},
      {"clamp", [&] { (void)truths.hardtanh(); }},
      {"leaky_relu", [&] { (void)whole.leaky_relu(); }},
      {"elu", [&] { (void)whole.elu(); }},
      {"celu", [&] { (void)whole.celu(); }},
      {"softplus", [&] { (void)whole.softplus(); }},
      {"hard_sigmoid", [&] { (void)whole.hard_sigmoid(); }},
      {"threshold", [&] { (void)whole.threshold(1); }},
      {"hard_shrink", [&] { (void)whole.hard_shrink(); }},
      {"soft_shrink", [&] { (void)whole.soft_shrink(); }},
      {"var", [&] { (void)whole.var(); }},
      {"std", [&] { (void)whole.std(); }},
      {"norm", [&] { (void)whole.norm(); }},
      {"cov", [&] { (void)whole.cov(0); }},
      {"nan_to_num", [&] { (void)whole.nan_to_num(); }},
      {"exp", [&] { (void)whole.exp(); }},
  });
}

TEST(ErrorPlace, shapes_that_do_not_fit) {
  const auto a = F2::zeros({2, 3});
  const auto b = F2::zeros({4, 5});
  const X none = X(F2::zeros({0, 3}));
  expect_place({
      {"add", [&] { (void)(a + b); }},
      {"less", [&] { (void)(a < b); }},
      {"sub",
       [&] {
         auto c = a;
         c -= b;
       }},
      {"mul", [&] { (void)(F2::zeros({2, 3}) * b); }},
      {"matmul", [&] { (void)a.matmul(a); }},
      {"lerp", [&] { (void)a.lerp(b, 0.5); }},
      {"max", [&] { (void)none.max(0); }},
      {"cross", [&] { (void)a.cross(b); }},
      {"expand", [&] { (void)a.expand<2>({4, 4}); }},
      {"reshape", [&] { (void)a.reshape<2>({4, 4}); }},
      {"where", [&] { (void)where(a < a, a, b); }},
  });
}

}  // namespace
}  // namespace sinter::testing
