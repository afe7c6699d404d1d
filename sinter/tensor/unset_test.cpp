// SPDX-License-Identifier: MIT OR Apache-2.0
// What can't be done with a tensor: asking one that is unset, and taking one for a condition.
#include <type_traits>

#include "sinter/tensor/cases_test.hpp"
#include "sinter/tensor/functional.hpp"

namespace sinter::testing {
namespace {

using F1 = Tensor<1>;
using F2 = Tensor<2>;

template <class T>
concept CanBeNegated = requires(const T& t) { !t; };
template <class T>
concept CanBeTested = requires(const T& t) { t ? 1 : 0; };

// `if (x)`, `if (!x)`, `if (x == y)` and `a && b` would all ask whether a handle is set.
static_assert(!CanBeTested<F2> && !CanBeTested<Tensor<0, Bool>> && !CanBeTested<DynTensor>);
static_assert(!std::is_constructible_v<bool, DynTensor>);
static_assert(CanBeNegated<Tensor<2, Bool>> && CanBeNegated<DynTensor>);
static_assert(!CanBeNegated<F2> && !CanBeNegated<Tensor<2, Int>>);
static_assert(!std::is_constructible_v<bool, decltype(F2() == F2())>);
static_assert(!std::is_constructible_v<bool, decltype(!DynTensor())>);

TEST(Unset, not_of_a_mask) {
  on_each_device([] {
    const auto mask = Tensor<1, Bool>::from({true, false});
    expect_values(!mask, {0, 1});
    expect_values(!DynTensor(mask), {0, 1});
    expect_values(!DynTensor(F1::from({0.5, 0})), {0, 1});
  });
}

// Each is an ArgumentError that begins with the name of what was asked and tells a way out.
template <class F>
void expect_unset(const std::string& name, F&& body) {
  const std::string text = error_of<ArgumentError>(body);
  EXPECT_TRUE(text.starts_with(name + ": ")) << text;
  EXPECT_NE(text.find("is_set()"), std::string::npos) << text;
}

TEST(Unset, says_what_was_asked) {
  on_each_device([] {
    const F2 x;
    const DynTensor any;
    EXPECT_FALSE(x.is_set());
    EXPECT_TRUE(F2::ones({1, 1}).is_set());
    EXPECT_EQ(x.str(), "Tensor(unset)");
    expect_unset("shape", [&] { (void)x.shape(); });
    expect_unset("shape", [&] { (void)any.rank(); });
    expect_unset("shape", [&] { (void)x.dims(); });
    expect_unset("shape", [&] { (void)x.num_elements(); });
    expect_unset("shape", [&] { (void)x.size(0); });
    expect_unset("dtype", [&] { (void)x.dtype(); });
    expect_unset("device", [&] { (void)x.device(); });
    expect_unset("to_data", [&] { (void)x.to_vector<float>(); });
    expect_unset("device", [&] { (void)x.to_data_async(); });
    expect_unset("item", [&] { (void)x.item(); });
    expect_unset("cast", [&] { (void)x.cast(DType::f64); });
    expect_unset("to_device", [&] { (void)x.to_device(Device::reference()); });
    expect_unset("full_like", [&] { (void)x.zeros_like(); });
    expect_unset("require_grad", [&] { (void)x.require_grad(); });
    expect_unset("backward", [&] { (void)x.backward(); });
    expect_unset("detach", [&] { (void)x.detach(); });
    Transaction read;
    read.add(x);
    expect_unset("device", [&] { (void)read.execute(); });
  });
}

TEST(Unset, any_op) {
  on_each_device([] {
    F2 x;
    const F2 y = F2::ones({2, 2});
    expect_unset("exp", [&] { (void)x.exp(); });
    expect_unset("add", [&] { (void)(x + 1); });
    expect_unset("add", [&] { (void)(y + x); });
    expect_unset("add", [&] { x += y; });
    expect_unset("sub", [&] { (void)(2 - x); });
    expect_unset("less", [&] { (void)(x < y); });
    expect_unset("sum", [&] { (void)x.sum(0); });
    expect_unset("matmul", [&] { (void)y.matmul(x); });
    expect_unset("softmax", [&] { (void)x.softmax(1); });
    expect_unset("sort", [&] { (void)x.sort(0); });
    expect_unset("var", [&] { (void)x.var(0); });
    expect_unset("slice", [&] { (void)x.slice(0); });
    expect_unset("select_dim", [&] { (void)x.select_dim(0, 0); });
    expect_unset("reshape", [&] { (void)x.reshape({4}); });
    expect_unset("clamp", [&] { (void)x.clamp(0, 1); });
    expect_unset("clamp", [&] { (void)F2().clamp(0, 1); });
    expect_unset("slice_fill", [&] { (void)F2().slice_fill(1, 0); });
    expect_unset("is_close", [&] { (void)x.is_close(y); });
    expect_unset("logical_not", [&] { (void)!Tensor<1, Bool>(); });
    (void)error_of<ArgumentError>([&] { (void)y.is_close(x); });
    (void)error_of<ArgumentError>([&] { (void)y.softmax(1).matmul(x); });
    (void)error_of<ArgumentError>([&] { (void)cat<2, Float>({x, y}); });
    (void)error_of<ArgumentError>([&] { (void)functional::linear(x, y); });
    (void)error_of<ArgumentError>([&] { (void)functional::conv2d(Tensor<4>(), Tensor<4>()); });
    (void)error_of<ArgumentError>([&] { (void)y.gather(0, Tensor<2, Int>()); });
    (void)error_of<ArgumentError>([&] { (void)y.slice_assign(x, 0); });
    EXPECT_FALSE(x.is_set());
    expect(y, {2, 2}, {1, 1, 1, 1});
  });
}

TEST(Unset, moved_from) {
  auto x = F1::ones({3});
  const F1 y = std::move(x);
  EXPECT_FALSE(x.is_set());  // NOLINT(bugprone-use-after-move)
  expect_unset("mul", [&] { (void)(x * 2); });
  x = y;
  expect_values(x * 2, {2, 2, 2});
}

}  // namespace
}  // namespace sinter::testing
