// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolution, pooling and interpolation against numbers worked out by hand and against other
// formulas.
#include "sinter/ops/conv/conv.hpp"

#include "sinter/backend/nn_test.hpp"
#include "sinter/ops/interpolate/interpolate.hpp"
#include "sinter/ops/pool/pool.hpp"

namespace sinter {
namespace {

constexpr double inf = INFINITY;
constexpr double nan = NAN;

class CnvCases : public testing::OnHostBackends {
 protected:
  ops::Conv strided(const Dims& stride, const Dims& padding = {}, std::int64_t groups = 1) {
    ops::Conv op;
    op.stride = stride;
    op.padding_before = padding;
    op.groups = groups;
    return op;
  }
};
SINTER_ON_HOST_BACKENDS(CnvCases);

TEST_P(CnvCases, CNV_01_dropped_tail) {
  const auto grads = gradients(strided({4}), {counting({1, 1, 11}), counting({1, 1, 4})});
  expect(grads[0], {0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 0});
  expect(grads[1], {4, 6, 8, 10});
}

// Values of PyTorch's conv_transpose1d, which are easy to add up by hand.
TEST_P(CnvCases, CNV_02_transposed_with_output_padding) {
  const Value x = tensor({1, 1, 3}, {1, 2, 3});
  const Value w = tensor({1, 1, 2}, {1, 10});
  expect(ops::conv_transpose(x, w, {}, strided({2})), {1, 10, 2, 20, 3, 30});
  expect(ops::conv_transpose(x, w, {}, strided({2}), {1}), {1, 10, 2, 20, 3, 30, 0});
  expect(ops::conv_transpose(x, w, vector({5}), strided({1})), {6, 17, 28, 35});
  // Output padding of a stride or more, but less than the dilation.
  ops::Conv dilated = strided({1});
  dilated.dilation = {3};
  expect(ops::conv_transpose(x, w, {}, dilated, {2}), {1, 2, 3, 10, 20, 30, 0, 0});
  EXPECT_THROW(ops::conv_transpose(x, w, {}, strided({2}), {2}), ArgumentError);
}

// A grouped convolution is a dense one whose weight has blocks on its diagonal.
TEST_P(CnvCases, CNV_04_groups) {
  for (const int spatial : {1, 2, 3}) {
    for (const std::int64_t groups : {1, 2, 4}) {
      Shape x_shape{2, 4};
      Shape w_shape{8, 4 / groups};
      for (int i = 0; i < spatial; ++i) {
        x_shape.push_back(5 + i);
        w_shape.push_back(2 + i % 2);
      }
      const Value x = ops::sin(counting(x_shape));
      const Value w = ops::cos(counting(w_shape));
      Shape dense_shape = w_shape;
      dense_shape[1] = 4;
      std::vector<double> dense(static_cast<std::size_t>(num_elements(dense_shape)));
      const std::vector<double> small = read(w);
      const std::int64_t taps = num_elements(w_shape) / (8 * (4 / groups));
      for (std::int64_t co = 0; co < 8; ++co) {
        for (std::int64_t c = 0; c < 4 / groups; ++c) {
          for (std::int64_t k = 0; k < taps; ++k) {
            const std::int64_t ci = co / (8 / groups) * (4 / groups) + c;
            dense[static_cast<std::size_t>((co * 4 + ci) * taps + k)] =
                small[static_cast<std::size_t>((co * (4 / groups) + c) * taps + k)];
          }
        }
      }
      const Dims stride = Dims::filled(spatial, 2);
      const Dims padding = Dims::filled(spatial, 1);
      expect_equal(ops::conv(x, w, {}, strided(stride, padding, groups)),
                   ops::conv(x, tensor(dense_shape, dense), {}, strided(stride, padding)));
    }
  }
}

TEST_P(CnvCases, CNV_05_groups_must_divide) {
  const Value x = filled({1, 4, 5}, 1);
  EXPECT_EQ(ops::conv(x, filled({6, 2, 3}, 1), {}, strided({}, {}, 2)).shape(), (Shape{1, 6, 3}));
  const std::string text = testing::message_of<ShapeError>(
      [&] { ops::conv(x, filled({6, 2, 3}, 1), {}, strided({}, {}, 3)); });
  EXPECT_NE(text.find("4 input channels are not divisible by 3"), std::string::npos) << text;
}

TEST_P(CnvCases, CNV_06_channel_counts) {
  for (const auto& [in, out] : {std::pair<std::int64_t, std::int64_t>{104, 208}, {440, 440}}) {
    const Value x = ops::sin(counting({1, in, 8, 8}));
    const Value w = ops::cos(counting({out, in, 1, 1}));
    const Value product = ops::matmul(ops::reshape(w, {out, in}), ops::reshape(x, {in, 64}));
    expect_equal(ops::conv(x, w), ops::reshape(product, {1, out, 8, 8}), 1e-4);
  }
}

TEST_P(CnvCases, CNV_08_views) {
  const Value x = ops::narrow(counting({1, 3, 6}), 1, 1, 2);
  const Value w = ops::narrow(counting({2, 2, 4}), 2, 1, 3);
  expect_equal(ops::conv(x, w), ops::conv(ops::contiguous(x), ops::contiguous(w)));
  expect(ops::conv(ops::narrow(counting({1, 1, 5}), 2, 2, 3), tensor({1, 1, 2}, {1, 10})),
         {32, 43});
}

TEST_P(CnvCases, CNV_09_oblong_kernels) {
  const Value x = counting({1, 1, 3, 4}, 1);
  expect(ops::conv(x, tensor({1, 1, 1, 3}, {1, 2, 3})), {14, 20, 38, 44, 62, 68});
  expect(ops::conv(x, tensor({1, 1, 3, 1}, {1, 2, 3})), {38, 44, 50, 56});
  expect(ops::conv(x, filled({1, 1, 2, 3}, 1)), {24, 30, 48, 54});
}

TEST_P(CnvCases, CNV_10_one_pixel) {
  const Value x = counting({2, 4, 1, 1});
  const Value last = ops::permute(ops::contiguous(ops::permute(x, {0, 2, 3, 1})), {0, 3, 1, 2});
  const Value w = counting({3, 4, 1, 1});
  const auto first_grads = gradients(ops::Conv{}, {x, w});
  expect_equal(gradients(ops::Conv{}, {last, w})[1], first_grads[1]);
  expect(first_grads[1], {4, 6, 8, 10, 4, 6, 8, 10, 4, 6, 8, 10});
}

TEST_P(CnvCases, CNV_24_kernel_larger_than_input) {
  const std::string text = testing::message_of<ShapeError>(
      [&] { ops::conv(filled({1, 1, 2}, 1), filled({1, 1, 5}, 1)); });
  EXPECT_NE(text.find("5"), std::string::npos) << text;
  EXPECT_NE(text.find("2"), std::string::npos) << text;
  EXPECT_THROW(ops::max_pool(filled({1, 1, 2}, 1), {.kernel = {5}}), ShapeError);
}

TEST_P(CnvCases, CNV_25_infinity_far_away) {
  const Value x = tensor({1, 1, 6}, {inf, 1, 1, 1, 1, 1});
  const Value w = tensor({1, 1, 2}, {0, 1});
  expect(ops::conv(x, w), {nan, 1, 1, 1, 1});
}

TEST_P(CnvCases, CNV_26_long_sequence) {
  const Value y = ops::conv(counting({1, 1, 70000}, 0, 1.0 / 1024), filled({1, 1, 3}, 1));
  EXPECT_EQ(y.size(2), 69998);
  expect(ops::narrow(y, 2, 69997, 1), {(69997.0 + 69998 + 69999) / 1024});
}

TEST_P(CnvCases, dtypes_agree) {
  const Value x = ops::sin(counting({2, 3, 6, 5}));
  const Value w = ops::cos(counting({4, 3, 3, 2}));
  const Value y = ops::conv(x, w, {}, strided({1, 2}, {1, 0}));
  for (const DType dtype : {DType::f64, DType::f16, DType::bf16}) {
    const Value other =
        ops::conv(ops::cast(x, dtype), ops::cast(w, dtype), {}, strided({1, 2}, {1, 0}));
    EXPECT_EQ(other.dtype(), dtype);
    expect(other, read(y), dtype == DType::f64 ? 1e-5 : dtype == DType::f16 ? 5e-3 : 5e-2);
  }
}

TEST_P(CnvCases, CNV_20_max_pool_dilation) {
  ops::MaxPool op;
  op.kernel = {2, 2};
  op.stride = {1, 1};
  op.dilation = {1, 2};
  const auto grads = gradients(op, {counting({1, 1, 4, 4})});
  expect(grads[0], {0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1});
}

TEST_P(CnvCases, max_pool_special_values) {
  const Value x = tensor({1, 1, 6}, {-3, nan, 5, 5, -inf, -inf});
  const Outputs y = ops::max_pool_with_indices(x, {.kernel = {2}});
  expect(y[0], {nan, 5, -inf});
  expect(y[1], {1, 2, 4});
  // Padding never wins.
  const Outputs padded = ops::max_pool_with_indices(
      tensor({1, 1, 3}, {-1, -2, -3}), {.kernel = {2}, .stride = {2}, .padding_before = {1}});
  expect(padded[0], {-1, -2});
  expect(padded[1], {0, 1});
}

// Every vector width and remainder against the formula.
TEST_P(CnvCases, max_pool_widths) {
  for (std::int64_t width = 2; width < 75; width += 3) {
    const Value x = ops::sin(counting({3, 4, width}, 0.3, 1.7));
    const Outputs y = ops::max_pool_with_indices(x, {.kernel = {2, 2}});
    const std::int64_t out = width / 2;
    Value best;
    for (const std::int64_t i : {0, 1}) {
      for (const std::int64_t j : {0, 1}) {
        const Value part = ops::slice(x, {0, i, j}, {3, 2, out}, {1, 2, 2});
        best = best ? ops::maximum(best, part) : part;
      }
    }
    expect_equal(y[0], best, 0);
    const std::vector<double> all = read(x);
    const std::vector<double> positions = read(y[1]);
    const std::vector<double> values = read(y[0]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t plane = i / static_cast<std::size_t>(2 * out);
      EXPECT_EQ(
          all[plane * static_cast<std::size_t>(4 * width) + static_cast<std::size_t>(positions[i])],
          values[i]);
    }
  }
}

TEST_P(CnvCases, CNV_21_ceil_mode) {
  const Value x = counting({1, 1, 5}, 1);
  expect(ops::avg_pool(x, {.kernel = {2}, .ceil_mode = true}), {1.5, 3.5, 5});
  // The only window hangs over the end.
  const Value three = tensor({1, 1, 3}, {1, 5, 3});
  expect(ops::max_pool(three, {.kernel = {4}, .ceil_mode = true}), {5});
  expect(ops::avg_pool(three, {.kernel = {4}, .ceil_mode = true}), {3});
  EXPECT_THROW((void)ops::avg_pool(three, {.kernel = {4}, .stride = {1}, .ceil_mode = true}),
               ShapeError);
  expect(ops::avg_pool(x, {.kernel = {2}}), {1.5, 3.5});
  // PyTorch: padding counts or not.
  const ops::PoolWindow padded{.kernel = {2}, .padding_before = {1}};
  expect(ops::avg_pool(x, padded, true), {0.5, 2.5, 4.5});
  expect(ops::avg_pool(x, padded, false), {1, 2.5, 4.5});
}

TEST_P(CnvCases, CNV_22_adaptive_average) {
  const Value x = counting({1, 1, 5}, 1);
  expect(ops::adaptive_avg_pool(x, {3}), {1.5, 3, 4.5});
  const auto grads = gradients(ops::AdaptiveAvgPool{{3}}, {x});
  expect(grads[0], {0.5, 0.5 + 1.0 / 3, 1.0 / 3, 1.0 / 3 + 0.5, 0.5});
  expect(ops::adaptive_avg_pool(counting({1, 1, 2}, 1), {4}), {1, 1, 2, 2});
}

TEST_P(CnvCases, CNV_13_linear_in_one_dim) {
  using enum ops::InterpolateMode;
  const Value x = tensor({1, 1, 3}, {10, 20, 30});
  expect(ops::interpolate(x, {1}, linear, true), {10});
  expect(ops::interpolate(x, {1}, linear, false), {20});
  expect(ops::interpolate(counting({1, 1, 3}, 1), {5}, linear, true), {1, 1.5, 2, 2.5, 3});
  expect(ops::interpolate(counting({1, 1, 2}, 1), {4}, linear, false), {1, 1.25, 1.75, 2});
  expect(ops::interpolate(counting({1, 1, 4}), {2}, nearest), {0, 2});
  expect(ops::interpolate(counting({1, 1, 4}), {2}, nearest_exact), {1, 3});
}

TEST_P(CnvCases, CNV_14_one_wide) {
  expect(ops::interpolate(counting({1, 1, 4, 4}, 1), {3, 1}, ops::InterpolateMode::linear),
         {3.166667, 8.5, 13.833333});
}

TEST_P(CnvCases, CNV_16_planes_stay_apart) {
  std::vector<double> values;
  for (int plane = 0; plane < 16; ++plane) {
    values.insert(values.end(), 4, plane);
  }
  for (const auto mode : {ops::InterpolateMode::nearest, ops::InterpolateMode::linear}) {
    const std::vector<double> y =
        read(ops::interpolate(tensor({4, 4, 2, 2}, values), {6, 6}, mode));
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_FLOAT_EQ(static_cast<float>(y[i]), static_cast<float>(i / 36));
    }
  }
}

TEST_P(CnvCases, CNV_17_layouts_and_last_pixel) {
  const Value x = ops::sin(counting({2, 3, 4, 5}));
  const Value last = ops::permute(ops::contiguous(ops::permute(x, {0, 2, 3, 1})), {0, 3, 1, 2});
  for (const auto mode : {ops::InterpolateMode::nearest, ops::InterpolateMode::linear}) {
    expect_equal(ops::interpolate(last, {7, 9}, mode), ops::interpolate(x, {7, 9}, mode));
  }
  const Value y = ops::interpolate(x, {7, 9}, ops::InterpolateMode::linear, true);
  expect(ops::slice(y, {1, 2, 6, 8}, {1, 1, 1, 1}, {1, 1, 1, 1}),
         read(ops::slice(x, {1, 2, 3, 4}, {1, 1, 1, 1}, {1, 1, 1, 1})), 0);
}

}  // namespace
}  // namespace sinter
