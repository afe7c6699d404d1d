// SPDX-License-Identifier: MIT OR Apache-2.0
// Cases of broadcasting, views, indexing and writing, with the values they must give.
#include "sinter/tensor/cases_test.hpp"

namespace sinter::testing {
namespace {

using F1 = Tensor<1>;
using F2 = Tensor<2>;
using I1 = Tensor<1, Int>;
using I2 = Tensor<2, Int>;
using B1 = Tensor<1, Bool>;
using B2 = Tensor<2, Bool>;

TEST(Cases, IDX_01_one_against_zero) {
  on_each_device([] {
    EXPECT_EQ((F2::zeros({2, 0}) + F2::zeros({2, 1})).shape(), (Shape{2, 0}));
    EXPECT_EQ((F2::zeros({0, 3}) + F2::zeros({1, 3})).shape(), (Shape{0, 3}));
    EXPECT_EQ((F2::zeros({0, 3}) < F2::zeros({1, 3})).shape(), (Shape{0, 3}));
    const auto mask = B2::zeros({1, 3});
    EXPECT_EQ(where(mask, F2::zeros({0, 3}), F2::zeros({1, 1})).shape(), (Shape{0, 3}));
  });
  on_each_autodiff([] {
    const auto x = F1::from({1, 2}).require_grad();
    const auto none_left = x.mask_select(B1::from({false, false}));
    expect_values(*x.grad(none_left.sum().backward()), {0, 0});
  });
}

TEST(Cases, IDX_02_expanded_is_not_overwritten) {
  on_each_device([] {
    const auto x = F1::from({1, 2});
    auto wide = x.expand<2>({2, 2});
    expect(std::move(wide) + 1, {2, 2}, {2, 3, 2, 3});
    expect_values(x, {1, 2});
    auto alone = F1::from({1, 2}).expand<2>({2, 2});
    alone += 1;
    expect(alone, {2, 2}, {2, 3, 2, 3});
  });
}

TEST(Cases, IDX_04_selects_in_a_row) {
  on_each_device([] {
    const auto index = I1::from({1, 2, 3});
    const auto x = Tensor<4>(Tensor<1>::arange(300).reshape<4>({1, 3, 10, 10}));
    const auto y = (x * 2 + 1).select(2, index).select(3, index);
    std::vector<double> values;
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          values.push_back(2 * (100 * c + 10 * (i + 1) + (j + 1)) + 1);
        }
      }
    }
    expect(y, {1, 3, 3, 3}, values);
    double sum = 0;
    for (const double v : values) {
      sum += v;
    }
    EXPECT_EQ(y.sum().item(), sum);
  });
}

TEST(Cases, IDX_05_where_broadcasts) {
  on_each_device([] {
    expect_values(where(B1::from({true, false}), F1::from({5}), F1::from({1, 2})), {5, 2});
    for (int bits = 0; bits < 8; ++bits) {
      const auto m = bits & 1 ? B1::from({true}) : B1::from({true, false});
      const auto a = bits & 2 ? F1::from({5}) : F1::from({5, 6});
      const auto b = bits & 4 ? F1::from({1}) : F1::from({1, 2});
      const bool one = bits == 7;
      const auto y = where(m, a, b);
      EXPECT_EQ(y.shape(), (Shape{one ? 1 : 2}));
      EXPECT_EQ(y.slice(0).item(), 5);
      if (!one) {
        EXPECT_EQ(y.slice(1).item(), bits & 1 ? (bits & 2 ? 5 : 6) : (bits & 4 ? 1 : 2));
      }
    }
  });
}

TEST(Cases, IDX_06_masked_nan) {
  on_each_device([] {
    expect_values(F1::from({nan, 1}).mask_where(B1::from({true, false}), F1::from({5, 6})), {5, 1});
  });
}

TEST(Cases, IDX_08_scatter_nd) {
  on_each_device([] {
    const auto index = Tensor<3, Int>::from({{{0}, {2}}});
    expect_values(F1::zeros({4}).scatter_nd(index, F2::from({{10, 20}})), {10, 0, 20, 0});
    expect_values(F1::zeros({4}).scatter_nd(index, F2::from({{10}, {20}}).t()), {10, 0, 20, 0});
  });
}

TEST(Cases, IDX_09_select_assign) {
  on_each_device([] {
    expect_values(F1::zeros({3}).select_assign(0, I1::from({0, 0, 2}), F1::from({1, 2, 3})),
                  {3, 0, 3});
    expect_values(F1::zeros({3}).select_assign(0, I1::zeros({1000}), F1::ones({1000})),
                  {1000, 0, 0});
  });
}

TEST(Cases, IDX_10_empty_slice) {
  on_each_device([] {
    const auto x = F1::arange(5);
    EXPECT_EQ(x.slice(range(3, 3)).shape(), (Shape{0}));
    EXPECT_EQ(x.slice(range(4, 2)).shape(), (Shape{0}));
    expect_values(x.slice_assign(F1::zeros({0}), range(3, 3)), {0, 1, 2, 3, 4});
  });
}

TEST(Cases, IDX_12_strided_assignment) {
  on_each_device([] {
    const auto values = F2::from({{1, 2}, {3, 4}}).t();
    const auto y =
        F2::zeros({4, 4}).slice_assign(values, range(none, none, 2), range(none, none, 2));
    expect(y, {4, 4}, {1, 0, 3, 0, 0, 0, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0});
    expect_values(F1::zeros({4}).slice_assign(F1::from({1, 2}), range(3, none, -2)), {0, 2, 0, 1});
  });
}

TEST(Cases, IDX_13_prefix_view) {
  on_each_device([] {
    const auto x = Tensor<1>::arange(40).reshape<2>({8, 5}).slice(range(0, 5));
    EXPECT_EQ(x.sum().item(), 300);
    EXPECT_EQ(x.tril().sum().item(), 220);
    EXPECT_EQ(x.exp().to_vector<float>().size(), 25u);
  });
}

TEST(Cases, IDX_14_transposed_view) {
  on_each_device([] {
    const auto x = F2::from({{0, 1, 2}, {3, 4, 5}}).t();
    expect(x + 10, {3, 2}, {10, 13, 11, 14, 12, 15});
    expect(x > 2, {3, 2}, {0, 1, 0, 1, 0, 1});
  });
}

TEST(Cases, IDX_16_scan_over_one) {
  on_each_device([] {
    const auto view = F1::arange(1, 11).reshape<2>({1, 10}).slice(all, range(3, none));
    const std::vector<double> same{4, 5, 6, 7, 8, 9, 10};
    expect(view.cumsum(0), {1, 7}, same);
    expect(view.cumprod(0), {1, 7}, same);
    expect(view.cummax(0), {1, 7}, same);
  });
}

TEST(Cases, IDX_17_negative_strides) {
  on_each_device([] {
    const auto y = F2::from({{1, 2, 3}, {4, 5, 6}}).slice(all, range(none, none, -1));
    expect_values(y.max(1), {3, 6});
    expect_values(y.argmax(1), {0, 0});
    expect(y.cumsum(1), {2, 3}, {3, 5, 6, 6, 11, 15});
    expect(y.sort(1), {2, 3}, {1, 2, 3, 4, 5, 6});
  });
}

TEST(Cases, IDX_18_stride_zero) {
  on_each_device([] {
    const auto x = Tensor<0>::full({}, 1).expand<2>({2, 3});
    expect(x.sum(0), {3}, {2, 2, 2});
    expect(x.sin(), {2, 3}, std::vector<double>(6, 0.841471), 1e-6);
  });
}

TEST(Cases, IDX_20_nothing_chosen) {
  on_each_device([] {
    const auto none_set = B1::from({false, false, false});
    EXPECT_EQ(none_set.nonzero().shape(), (Shape{0, 1}));
    EXPECT_EQ(none_set.argwhere().shape(), (Shape{0, 1}));
    EXPECT_EQ(F1::from({1, 2, 3}).mask_select(none_set).shape(), (Shape{0}));
    expect(B1::from({true, false, true}).nonzero(), {2, 1}, {0, 2});
  });
}

TEST(Cases, IDX_21_logic_broadcasts) {
  on_each_device([] {
    const auto a = B2::from({{true}, {false}}), b = B2::from({{true, false, true}});
    expect(a & b, {2, 3}, {1, 0, 1, 0, 0, 0});
    expect(a | b, {2, 3}, {1, 1, 1, 1, 0, 1});
    expect(a ^ b, {2, 3}, {0, 1, 0, 1, 0, 1});
    expect(I2::from({{7}, {8}}) % I2::from({{2, 3}}), {2, 2}, {1, 1, 0, 2});
  });
}

TEST(Cases, IDX_22_index_dtypes) {
  on_each_device([] {
    for (const DType index :
         {DType::u32, DType::i32, DType::i64, DType::u8, DType::i8, DType::u64}) {
      for (const DType data : {DType::i64, DType::i32, DType::u8, DType::i16}) {
        const auto x = I1::from({10, 20, 30}, {}, data);
        expect_values(x.select(0, I1::from({2, 0}, {}, index)), {30, 10});
      }
      const auto x = F1::from({10, 20, 30}, {}, DType::f16);
      expect_values(x.select(0, I1::from({2, 0}, {}, index)), {30, 10});
    }
  });
}

TEST(Cases, IDX_24_rank_five) {
  on_each_device([] {
    const auto x = F1::arange(32).reshape<5>({2, 2, 2, 2, 2}).permute({4, 3, 2, 1, 0});
    expect_values(x.sum(0), {1, 33, 17, 49, 9, 41, 25, 57, 5, 37, 21, 53, 13, 45, 29, 61});
  });
}

TEST(Cases, IDX_25_unfold) {
  on_each_device([] {
    const auto x = F1::arange(1, 7).unfold(0, 3, 1);
    EXPECT_EQ(x.shape(), (Shape{4, 3}));
    expect_values(x.reshape<1>({12}), {1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 6});
  });
}

TEST(Cases, IDX_26_sizes_beyond_31_bits) {
  const DefaultDeviceScope scope(Device::null());
  EXPECT_EQ(F1::zeros({65536}).repeat({65536}).num_elements(), 4294967296);
}

TEST(Cases, IDX_11_python_slices) {
  on_each_device([] {
    const auto x = F1::arange(5);
    expect_values(x.slice(range(none, none, -1)), {4, 3, 2, 1, 0});
    expect_values(x.slice(range(-2, none)), {3, 4});
    expect_values(x.slice(range(0, -1)), {0, 1, 2, 3});
    expect_values(x.slice(range(-100, 100)), {0, 1, 2, 3, 4});
    EXPECT_EQ(x.slice(-1).item(), 4);
    EXPECT_THROW((void)x.slice(5), IndexError);
    EXPECT_THROW((void)x.slice(range(0, 3, 0)), ArgumentError);
  });
}

}  // namespace
}  // namespace sinter::testing
