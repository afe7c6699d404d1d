// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a formula has no slope, a tensor no dims or a request no answer: what must come instead.
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "sinter/tensor/cases_test.hpp"

namespace sinter::testing {
namespace {

TEST(Edges, TheDeviationOfEqualElementsHasNoSlope) {
  const Device device = Device::portable().autodiff();
  const auto x = Tensor<2>::from({{1, 1, 1}, {1, 2, 3}}, device).require_grad();
  const auto gradient = *x.grad(x.std(1).sum().backward());
  expect_values(gradient, {0, 0, 0, -0.5, 0, 0.5});
  EXPECT_TRUE(std::isnan(Tensor<1>::from({1}).std().item()));
}

TEST(Edges, ATensorWithoutDimsSaysSo) {
  try {
    (void)DynTensor(Tensor<0>::from(3)).sort(0);
    FAIL() << "expected an IndexError";
  } catch (const IndexError& error) {
    EXPECT_NE(std::string_view(error.what()).find("no dims"), std::string_view::npos)
        << error.what();
  }
}

TEST(Edges, ANaNIsPrintedWithoutItsSign) {
  on_each_device([] {
    const std::string text = Tensor<1>::from({-nan, nan, 1.5}).str();
    EXPECT_EQ(text.find("-nan"), std::string::npos) << text;
    EXPECT_NE(text.find("nan, "), std::string::npos) << text;
    EXPECT_EQ(Tensor<1>::from({-nan, 1e9}).str().find("-nan"), std::string::npos);
  });
}

// All of `parts` stand in `text`.
void expect_says(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
  }
}

TEST(Edges, ADeviceNameThatIsNotWellFormedSaysWhy) {
  const auto error = [](std::string_view name) {
    return error_of<DeviceError>([&] { (void)Device::by_name(name); });
  };
  expect_says(error("autodiff(portable"), {"`autodiff(portable`", "`)` is missing",
                                           "autodiff(<device>)", "validate(<device>)"});
  expect_says(error("autodiff(validate(portable)"), {"`validate(portable`", "`)` is missing"});
  expect_says(error("portable)"), {"without its `(`", "autodiff(<device>)"});
  expect_says(error("lazy(portable)"), {"no decorator is called `lazy`", "validate(<device>)"});
  expect_says(error("autodiff()"), {"no device is called ``"});
  EXPECT_EQ(Device::by_name("autodiff(validate(cpu))"), Device::cpu().validate().autodiff());
}

TEST(Edges, AReshapeThatCannotBeSaysWhy) {
  on_each_device([] {
    const auto error = [](const Tensor<2>& x, const Shape& shape) {
      return error_of<ShapeError>([&] { (void)x.reshape(shape); });
    };
    const auto x = Tensor<2>::zeros({2, 3}), none_there = Tensor<2>::zeros({0, 3});
    expect_says(error(x, {-1, -1}), {"reshape: ", "[2, 3]", "[-1, -1]", "at most one -1"});
    expect_says(error(none_there, {0, -1}), {"-1 is ambiguous with 0 elements"});
    expect_says(error(x, {0, -1}), {"can't hold"});
    expect_says(error(x, {4, -1}), {"6 elements", "[4, -1]", "can't hold"});
    expect_says(error(x, {2, 2}), {"can't hold"});
    expect_says(error(x, {-2, 3}), {"a size must be 0 or more"});
    constexpr std::int64_t huge = std::int64_t{1} << 40;
    EXPECT_EQ(none_there.reshape<3>({huge, huge, 0}).num_elements(), 0);
    EXPECT_THROW((void)x.reshape<3>({huge, huge, -1}), ShapeError);
    EXPECT_EQ(none_there.reshape({3, -1}).shape(), (Shape{3, 0}));
  });
}

TEST(Edges, AMaximumThatCannotBeNamesItself) {
  on_each_device([] {
    const auto x = Tensor<2>::zeros({2, 3}), empty = Tensor<2>::zeros({0, 3});
    expect_says(error_of<IndexError>([&] { (void)x.max(2); }), {"max: dim 2"});
    expect_says(error_of<IndexError>([&] { (void)x.min(-3); }), {"min: dim -3"});
    const std::string all_dims = error_of<ShapeError>([&] { (void)empty.max(); });
    expect_says(all_dims, {"max: shape [0, 3] has no elements and so no max"});
    expect_says(error_of<ShapeError>([&] { (void)empty.min(0); }), {"along dims [0]", "no min"});
    EXPECT_EQ(empty.max(1).shape(), (Shape{0}));
  });
}

TEST(Edges, AnErrorOfAViewTellsTheCallersPlace) {
  on_each_device([] {
    const auto x = Tensor<2>::zeros({2, 3});
    const auto expect_here = [](auto body) {
      const std::string text = error_of<Error>(body);
      EXPECT_NE(text.find("(called at edge_cases_test.cpp:"), std::string::npos) << text;
    };
    expect_here([&] { (void)x.reshape({5, 5}); });
    expect_here([&] { (void)x.permute({0, 0}); });
    expect_here([&] { (void)x.expand({5, 5}); });
    expect_here([&] { (void)x.narrow(0, 1, 5); });
    expect_here([&] { (void)x.unfold(1, 9); });
    const auto expect_nowhere = [](auto body) {
      const std::string text = error_of<Error>(body);
      EXPECT_EQ(text.find("called at"), std::string::npos) << text;
    };
    expect_nowhere([&] { (void)x.slice_assign(Tensor<2>::zeros({4, 4}), range(0, 1)); });
    expect_nowhere([&] { (void)Tensor<2>::zeros({-1, 2}); });
  });
}

TEST(Edges, ANumberThatTheDTypeCannotHoldIsAnError) {
  on_each_device([] {
    using I1 = Tensor<1, Int>;
    const auto rejects = [](auto body, std::initializer_list<std::string_view> parts) {
      expect_says(error_of<DTypeError>(body), parts);
    };
    rejects([] { (void)I1::full({2}, 300, {}, DType::i8); }, {"full: ", "i8 can't hold 300"});
    rejects([] { (void)I1::full({2}, -1, {}, DType::u8); }, {"u8 can't hold -1"});
    rejects([] { (void)I1::full({2}, nan, {}, DType::i32); }, {"i32 can't hold nan"});
    rejects([] { (void)I1::full({2}, -inf, {}, DType::i64); }, {"i64 can't hold -inf"});
    rejects([] { (void)I1::full({2}, 0x1p63); }, {"i64 can't hold"});
    rejects([] { (void)I1::full({2}, -1.0, {}, DType::u64); }, {"u64 can't hold -1"});
    rejects([] { (void)I1::full({2}, 1.5); }, {"1.5 has a fraction"});
    rejects([] { (void)I1::from({1, 128}, {}, DType::i8); }, {"Tensor::from: ", "128"});
    rejects([] { (void)I1::arange(0, 129, 1, {}, DType::i8); }, {"arange: ", "128"});
    const auto x = I1::from({1, 100}, {}, DType::i8);
    rejects([&] { (void)(x + 300); }, {"add: ", "i8 can't hold 300"});
    rejects([&] { (void)(300 - x); }, {"sub: "});
    rejects([&] { (void)(x < 300); }, {"less: "});
    rejects([&] { (void)x.full_like(-129); }, {"full_like: ", "-129"});
    rejects([&] { (void)x.slice_fill(128, all); }, {"slice_fill: "});
    rejects([&] { (void)x.mask_fill(x > 5, 1e9); }, {"mask_fill: "});

    expect_values(I1::from({-128, 127}, {}, DType::i8) + 0, {-128, 127});
    expect_values(I1::arange(-128, 128, 255, {}, DType::i8), {-128, 127});
    expect_values(I1::arange(1, -1, -1, {}, DType::u8), {1, 0});
    EXPECT_EQ(I1::full({1}, 255.0, {}, DType::u8).str().substr(0, 5), "[255]");
    constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(I1::full({1}, top, {}, DType::u64).to_vector<std::uint64_t>()[0], top);
    EXPECT_EQ(I1::from({0x1p63}, {}, DType::u64).to_vector<std::uint64_t>()[0], 1ull << 63);
    expect_values(Tensor<1, Bool>::full({1}, 2), {1});
    EXPECT_TRUE(std::isnan(Tensor<1>::full({1}, nan).item()));
  });
}

}  // namespace
}  // namespace sinter::testing
