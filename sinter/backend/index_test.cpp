// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading and writing by index: values, errors, gradients.
#include "sinter/ops/index/index.hpp"

#include <limits>

#include "sinter/backend/families_test.hpp"
#include "sinter/ops/index/update.hpp"

namespace sinter::backend::testing {
namespace {

using ops::IndexUpdate;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Numbers counting(std::int64_t n) {
  Numbers values;
  for (std::int64_t i = 0; i < n; ++i) {
    values.push_back(static_cast<double>(i));
  }
  return values;
}

TEST(Cases, IDX_22_index_and_data_dtypes) {
  for (Backend* b : both_backends()) {
    for (const DType index_dtype : {DType::i64, DType::i32, DType::i16, DType::i8, DType::u64,
                                    DType::u32, DType::u16, DType::u8}) {
      for (int d = 0; d < dtype_count; ++d) {
        const auto dtype = static_cast<DType>(d);
        const Value x = tensor(*b, {3}, {1, 0, 2}, dtype);
        const Value y = ops::index_select(x, 0, tensor(*b, {2}, {2, 0}, index_dtype));
        EXPECT_EQ(y.dtype(), dtype);
        expect_numbers(y, {dtype == DType::boolean ? 1.0 : 2.0, 1});
      }
    }
    expect_numbers(ops::index_select(tensor(*b, {3}, {10, 20, 30}, DType::i64), 0,
                                     tensor(*b, {2}, {2, 0}, DType::u32)),
                   {30, 10});
  }
}

TEST(Cases, IDX_04_two_selects) {
  for (Backend* b : both_backends()) {
    const Value x = ops::reshape(tensor(*b, {300}, counting(300)), {1, 3, 10, 10});
    const Value i = tensor(*b, {3}, {1, 2, 3}, DType::i64);
    const Value y = ops::index_select(ops::index_select(x, 2, i), 3, i);
    Numbers expected;
    for (int c = 0; c < 3; ++c) {
      for (int h = 1; h < 4; ++h) {
        for (int w = 1; w < 4; ++w) {
          expected.push_back(100 * c + 10 * h + w);
        }
      }
    }
    expect_numbers(y, expected);
  }
}

TEST(Cases, IDX_08_scatter_nd) {
  for (Backend* b : both_backends()) {
    const Value index = tensor(*b, {1, 2, 1}, {0, 2}, DType::i64);
    expect_numbers(
        ops::scatter_nd(tensor(*b, {4}, {0, 0, 0, 0}), index, tensor(*b, {1, 2}, {10, 20})),
        {10, 0, 20, 0});
    const Value turned = ops::transpose(tensor(*b, {2, 1}, {10, 20}));
    expect_numbers(ops::scatter_nd(tensor(*b, {4}, {0, 0, 0, 0}), index, turned), {10, 0, 20, 0});
    // Rows of a matrix.
    expect_numbers(
        ops::gather_nd(tensor(*b, {2, 2}, {1, 2, 3, 4}), tensor(*b, {3, 1}, {1, 0, 1}, DType::i32)),
        {3, 4, 1, 2, 3, 4});
  }
}

TEST(Cases, IDX_09_duplicates_add_up) {
  for (Backend* b : both_backends()) {
    const Value zeros = tensor(*b, {3}, {0, 0, 0});
    expect_numbers(ops::select_assign(zeros, 0, tensor(*b, {3}, {0, 0, 2}, DType::i64),
                                      tensor(*b, {3}, {1, 2, 3})),
                   {3, 0, 3});
    expect_numbers(zeros, {0, 0, 0});
    const Value many = ops::full(*b, {1000}, 1, DType::i64);
    expect_numbers(ops::select_assign(zeros, 0, many, ops::full(*b, {1000}, 1, DType::f32)),
                   {0, 1000, 0});
    const Value half = ops::full(*b, {3}, 0, DType::f16);
    expect_numbers(ops::scatter(half, 0, many, ops::full(*b, {1000}, 0.1, DType::f16)),
                   {0, 99.9375, 0}, 0.1);
  }
}

TEST(Index, updates) {
  for (Backend* b : both_backends()) {
    const Value index = tensor(*b, {4}, {1, 1, 0, 1}, DType::i64);
    for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::u8, DType::f16}) {
      const Value x = tensor(*b, {3}, {4, 4, 4}, dtype);
      const Value v = tensor(*b, {4}, {2, 3, 5, 6}, dtype);
      const auto run = [&](IndexUpdate update) { return ops::scatter(x, 0, index, v, update); };
      expect_numbers(run(IndexUpdate::assign), {5, 6, 4});
      expect_numbers(run(IndexUpdate::add), {9, 15, 4});
      expect_numbers(run(IndexUpdate::mul), {20, 144, 4});
      expect_numbers(run(IndexUpdate::min), {4, 2, 4});
      expect_numbers(run(IndexUpdate::max), {5, 6, 4});
    }
    const Value x = tensor(*b, {2}, {1, nan});
    const Value v = tensor(*b, {4}, {5, 5, nan, 5});
    expect_numbers(ops::scatter(x, 0, index, v, IndexUpdate::max), {nan, nan});
  }
}

TEST(Index, out_of_range_names_op_index_and_size) {
  for (Backend* b : both_backends()) {
    const Value x = tensor(*b, {3}, {1, 2, 3});
    for (const double bad : {3.0, -1.0, 100.0}) {
      const Value i = tensor(*b, {1}, {bad}, DType::i32);
      const std::string text = error_of<IndexError>([&] { ops::index_select(x, 0, i); });
      EXPECT_NE(text.find("select: index " + std::to_string(static_cast<int>(bad))),
                std::string::npos)
          << text;
      EXPECT_NE(text.find("size 3"), std::string::npos) << text;
      error_of<IndexError>([&] { ops::gather(x, 0, i); });
      error_of<IndexError>([&] { ops::scatter(x, 0, i, x.backend().scalar(1, DType::f32)); });
      error_of<IndexError>([&] { ops::select_assign(x, 0, i, tensor(*b, {1}, {1})); });
      error_of<IndexError>([&] { ops::gather_nd(x, ops::reshape(i, {1, 1})); });
      error_of<IndexError>([&] { ops::embedding(ops::reshape(x, {3, 1}), i); });
    }
    error_of<DTypeError>([&] { ops::index_select(x, 0, tensor(*b, {1}, {0})); });
  }
}

TEST(Index, any_layout) {
  for (Backend* b : both_backends()) {
    const Value x = tensor(*b, {3, 4}, counting(12));
    const Value turned = ops::flip(ops::transpose(x), {1});  // [4, 3], rows 8+i, 4+i, i
    const Value i = tensor(*b, {2}, {3, 0}, DType::i64);
    expect_numbers(ops::index_select(turned, 0, i), {11, 7, 3, 8, 4, 0});
    expect_numbers(ops::gather(turned, 1, ops::expand(tensor(*b, {1, 1}, {2}, DType::i64), {4, 1})),
                   {0, 1, 2, 3});
    expect_numbers(ops::take_along_dim(turned, 1, tensor(*b, {1, 1}, {2}, DType::i64)),
                   {0, 1, 2, 3});
    expect_numbers(ops::embedding(turned, tensor(*b, {}, {1}, DType::u8)), {9, 5, 1});
    const Value tail = ops::narrow(turned, 0, 2, 2);  // rows 10, 6, 2 and 11, 7, 3
    expect_numbers(ops::select_assign(tail, 1, tensor(*b, {2}, {2, 2}, DType::i64),
                                      tensor(*b, {2, 1}, {1, 9})),
                   {10, 6, 4, 11, 7, 21});
    EXPECT_EQ(ops::take(turned, 1, tensor(*b, {2, 2}, {0, 1, 2, 0}, DType::i64)).shape(),
              (Shape{4, 2, 2}));
  }
}

TEST(Cases, OPS_20_one_hot) {
  for (Backend* b : both_backends()) {
    const Value i = tensor(*b, {3}, {0, 2, 1}, DType::i64);
    expect_numbers(ops::one_hot(i, 3), {1, 0, 0, 0, 0, 1, 0, 1, 0});
    expect_numbers(ops::one_hot(i, 3, DType::f16), {1, 0, 0, 0, 0, 1, 0, 1, 0});
    error_of<IndexError>([&] { ops::one_hot(tensor(*b, {1}, {3}, DType::i64), 3); });
  }
}

TEST(Cases, IDX_20_nonzero_of_nothing) {
  for (Backend* b : both_backends()) {
    const Value mask = tensor(*b, {3}, {0, 0, 0}, DType::boolean);
    EXPECT_EQ(ops::nonzero(mask).shape(), (Shape{0, 1}));
    EXPECT_EQ(ops::mask_select(tensor(*b, {3}, {1, 2, 3}), mask).shape(), (Shape{0}));
    expect_numbers(ops::nonzero(tensor(*b, {2, 2}, {0, 5, nan, -0.0})), {0, 1, 1, 0});
    expect_numbers(
        ops::mask_select(tensor(*b, {2, 2}, {1, 2, 3, 4}), tensor(*b, {2}, {0, 1}, DType::boolean)),
        {2, 4});
  }
}

TEST(Cases, IDX_06_mask_fill_drops_nan) {
  for (Backend* b : both_backends()) {
    const Value x = tensor(*b, {2}, {nan, 1});
    const double inf = std::numeric_limits<double>::infinity();
    expect_numbers(ops::mask_fill(x, tensor(*b, {2}, {1, 0}, DType::boolean), -inf), {-inf, 1});
  }
}

// The sum of out * weights, moved by a small step of each input element.
template <class Op>
void check_gradient(Backend& b, const Op& op, std::vector<Value> inputs, int input) {
  const Value out = apply(op, std::span<const Value>(inputs))[0];
  Numbers weights;
  for (std::int64_t i = 0; i < out.num_elements(); ++i) {
    weights.push_back(static_cast<double>(i % 7) - 2.5);
  }
  const Value g = tensor(b, out.shape(), weights, DType::f64);
  Value got = gradients(op, inputs, g)[static_cast<std::size_t>(input)];
  const auto k = static_cast<std::size_t>(input);
  got = ops::sum_to(got, inputs[k].shape());
  const Numbers x = numbers_of(inputs[k]);
  const auto loss = [&](const Numbers& values) {
    std::vector<Value> moved = inputs;
    moved[k] = tensor(b, inputs[k].shape(), values, DType::f64);
    return numbers_of(ops::sum(ops::mul(apply(op, std::span<const Value>(moved))[0], g)))[0];
  };
  Numbers expected;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Numbers up = x;
    Numbers down = x;
    up[i] += 1e-4;
    down[i] -= 1e-4;
    expected.push_back((loss(up) - loss(down)) / 2e-4);
  }
  expect_numbers(got, expected, 1e-6);
}

// An index that is the same along a row names whole rows, which are copied as such.
TEST(Index, expanded_indices_are_as_written_out) {
  for (Backend* b : both_backends()) {
    const Value x = ops::reshape(tensor(*b, {4 * 5 * 18}, counting(360)), {4, 5, 18});
    const Value flipped = ops::flip(x, {2});
    const Value slim = ops::slice(x, {0, 0, 3}, {4, 5, 9}, {1, 1, 1});
    for (const int dim : {0, 1}) {
      const Value few = dim == 0 ? tensor(*b, {3, 1, 1}, {2, 0, 2}, DType::i32)
                                 : tensor(*b, {2, 3, 1}, {4, 0, 4, 1, 1, 3}, DType::i32);
      for (const Shape& shape : {dim == 0 ? Shape{3, 5, 18} : Shape{2, 3, 18},
                                 dim == 0 ? Shape{3, 2, 7} : Shape{2, 3, 7},
                                 dim == 0 ? Shape{3, 5, 0} : Shape{2, 3, 0}}) {
        const Value expanded = ops::expand(few, shape);
        const Value written = ops::contiguous(expanded);
        const std::int64_t count = num_elements(shape);
        const Value values = ops::reshape(tensor(*b, {count}, counting(count)), shape);
        for (const Value& from : {x, flipped, slim}) {
          if (shape[2] > from.size(2)) {
            continue;
          }
          expect_numbers(ops::gather(from, dim, expanded),
                         numbers_of(ops::gather(from, dim, written)));
          for (const IndexUpdate update : {IndexUpdate::assign, IndexUpdate::add, IndexUpdate::mul,
                                           IndexUpdate::min, IndexUpdate::max}) {
            const ops::Scatter op{dim, update};
            expect_numbers(apply(op, {from, expanded, values}),
                           numbers_of(apply(op, {from, written, values})));
          }
        }
      }
    }
    EXPECT_THROW(
        (void)ops::gather(x, 0, ops::expand(tensor(*b, {1, 1, 1}, {4}, DType::i64), {1, 5, 18})),
        IndexError);
  }
}

TEST(Cases, GRD_10_updates_with_duplicates) {
  for (Backend* b : both_backends()) {
    const Value x = tensor(*b, {2, 4}, {1, -2, 3, 4, 0, 6, -7, 8}, DType::f64);
    const Value index = tensor(*b, {2, 3}, {1, 1, 3, 0, 2, 0}, DType::i64);
    const Value v = tensor(*b, {2, 3}, {0.5, 2, 0, -1.5, 3, 0.25}, DType::f64);
    for (const IndexUpdate update : {IndexUpdate::assign, IndexUpdate::add, IndexUpdate::mul,
                                     IndexUpdate::min, IndexUpdate::max}) {
      check_gradient(*b, ops::Scatter{1, update}, {x, index, v}, 0);
      check_gradient(*b, ops::Scatter{1, update}, {x, index, v}, 2);
      const Value rows = tensor(*b, {3}, {2, 0, 2}, DType::i64);
      check_gradient(*b, ops::SelectAssign{1, update}, {x, rows, v}, 0);
      check_gradient(*b, ops::SelectAssign{1, update}, {x, rows, v}, 2);
    }
  }
}

}  // namespace
}  // namespace sinter::backend::testing
