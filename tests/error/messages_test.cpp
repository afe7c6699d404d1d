// SPDX-License-Identifier: MIT OR Apache-2.0
// Errors of the tensors' surface: the first line says which operation, what came, and where it was
// asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <sinter/sinter.hpp>
#include <string>
#include <vector>

namespace {

using namespace sinter;
using F1 = Tensor<1>;
using F2 = Tensor<2>;

template <class F>
std::string message(F&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// All words are in the text's first line, and the text is short.
void expect_words(const std::string& text, const std::vector<std::string>& words) {
  ASSERT_FALSE(text.empty()) << "nothing was thrown";
  const std::string first = text.substr(0, text.find('\n'));
  for (const std::string& word : words) {
    EXPECT_NE(first.find(word), first.npos) << "no \"" << word << "\" in: " << text;
  }
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 10);
}

TEST(Cases, BLD_14_messages) {
  const auto a = F2::zeros({2, 3}), b = F2::zeros({4, 5});
  expect_words(message([&] { (void)a.matmul(b); }),
               {"matmul", "[2, 3]", "[4, 5]", "messages_test.cpp"});
  expect_words(message([&] { (void)(a + b); }), {"add", "[2, 3]", "[4, 5]", "messages_test.cpp"});
  expect_words(message([&] { (void)a.sum(2); }), {"sum", "2"});
  expect_words(message([&] { (void)a.reshape({4, 4}); }), {"reshape", "[2, 3]", "[4, 4]"});
  expect_words(message([&] { (void)Tensor<3>(a.value()); }), {"Tensor<3>", "rank 2", "[2, 3]"});
  expect_words(message([&] { (void)Tensor<2, Int>(DynTensor(a)); }), {"Int", "f32"});
  expect_words(message([&] { (void)a.item(); }), {"item", "[2, 3]"});
  expect_words(message([&] { (void)a.slice(5); }), {"slice", "5"});
  expect_words(message([&] { (void)a.squeeze(0); }), {"squeeze", "[2, 3]"});
  expect_words(message([&] { (void)(Tensor<1, Int>::from({1}) * 0.5); }), {"mul", "0.5", "i64"});
  expect_words(message([&] { (void)a.sum().backward(); }), {"backward", "require_grad"});
  expect_words(message([&] { (void)Device::by_name("abacus"); }), {"abacus", "reference"});
  expect_words(message([&] { (void)(a + F2::zeros({2, 3}, Device::null())); }), {"add", "null"});
  expect_words(message([&] { (void)einsum<2>("ij,jk->ik", a, b); }),
               {"einsum", "label j", "3", "4"});
  expect_words(message([&] { (void)F1::arange(3).dot(F1::arange(4)); }), {"dot", "3", "4"});
}

}  // namespace
