// SPDX-License-Identifier: MIT OR Apache-2.0
// Matrix products of the portable backend against the reference, over shapes, batches, layouts and
// dtypes.
#include "sinter/backend/portable/layouts_test.hpp"

namespace sinter::backend::testing {
namespace {

Value ones(const Shape& shape, DType dtype = DType::f32) {
  return ops::full(portable(), shape, 1, dtype);
}

void expect_all(const Value& x, double want) {
  for (const double value : read(x).to_doubles()) {
    ASSERT_EQ(value, want);
  }
}

TEST(PortableMatmul, AgreesWithReferenceInShapesAndLayouts) {
  struct Case {
    Shape a;
    Shape b;
  };
  for (const Case& shapes :
       {Case{{4, 4}, {4, 4}}, Case{{1, 30}, {30, 17}}, Case{{19, 30}, {30, 1}},
        Case{{1, 1}, {1, 1}}, Case{{65, 70}, {70, 33}}, Case{{2, 3, 9, 8}, {8, 5}},
        Case{{2, 3, 9, 8}, {3, 8, 5}}, Case{{2, 1, 9, 8}, {1, 3, 8, 5}}, Case{{8, 9}, {4, 9, 3}},
        Case{{5, 1, 7}, {7, 6}}, Case{{3, 40, 60}, {3, 60, 50}}}) {
    for (const DType dtype :
         {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32, DType::u8}) {
      const double low = is_unsigned(dtype) ? 0 : -2;
      const HostData a = numbers(shapes.a, dtype, low, 3, 1);
      const HostData b = numbers(shapes.b, dtype, low, 3, 2);
      const HostData want = read(ops::matmul(reference().from_data(a), reference().from_data(b)));
      for (const Lay left : all_layouts) {
        for (const Lay right : {Lay::dense, Lay::transposed, Lay::stepped, Lay::flipped}) {
          SCOPED_TRACE(shapes.a.str() + shapes.b.str() + std::string(name_of(dtype)) +
                       std::to_string(static_cast<int>(left)) +
                       std::to_string(static_cast<int>(right)));
          expect_same(
              read(ops::matmul(laid_out(portable(), a, left), laid_out(portable(), b, right))),
              want, 10 * rounding(dtype));
        }
      }
    }
  }
}

TEST(PortableMatmul, BytesGiveExactInts) {
  const HostData a = numbers({33, 300}, DType::i8, -128, 128, 1);
  const HostData b = numbers({300, 29}, DType::i8, -128, 128, 2);
  const auto run = [&](Backend& on) { return read(ops::matmul(on.from_data(a), on.from_data(b))); };
  EXPECT_EQ(run(portable()).dtype(), DType::i32);
  expect_same(run(portable()), run(reference()));
}

TEST(PortableMatmul, MixesDtypes) {
  const HostData a = numbers({5, 6}, DType::f16);
  const HostData b = numbers({6, 4}, DType::f32);
  const auto run = [&](Backend& on) { return read(ops::matmul(on.from_data(a), on.from_data(b))); };
  expect_same(run(portable()), run(reference()), 1e-5);
}

TEST(Cases, MAT_01_rows) {
  for (const std::int64_t m : {1, 64, 499, 500, 512, 513, 4096}) {
    expect_all(ops::matmul(ones({m, 1024}), ones({1024, 32})), 1024);
  }
  expect_all(ops::matmul(ones({1, 8, 512, 512}), ones({1, 8, 512, 32})), 512);
}

TEST(Cases, MAT_02_transposed_right) {
  expect_all(ops::matmul(ones({1024, 8}), ops::transpose(ones({64, 8}))), 8);
}

TEST(Cases, MAT_06_empty) {
  const Value y = ops::matmul(ones({2, 0}), ones({0, 3}));
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  expect_all(y, 0);
  EXPECT_EQ(ops::matmul(ones({0, 4}), ones({4, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(ops::matmul(ones({0, 2, 4}), ones({4, 3})).shape(), (Shape{0, 2, 3}));
}

TEST(Cases, MAT_08_whole_f32) {
  const Value a = portable().from_data(HostData(Shape({1, 1}), {4097.f}));
  expect_all(ops::matmul(a, ones({1, 1})), 4097);
}

TEST(Cases, MAT_09_half_accumulates_in_f32) {
  expect_all(ops::matmul(ones({1, 4096}, DType::f16), ones({4096, 1}, DType::f16)), 4096);
  const Value x = ops::full(portable(), {1, 256}, 256, DType::f16);
  expect_all(ops::matmul(x, ops::transpose(x)), INFINITY);
}

TEST(Cases, MAT_10_same_tensor_twice) {
  const HostData data = numbers({20, 20}, DType::f32);
  const auto run = [&](Backend& on) {
    const Value x = on.from_data(data);
    return read(ops::add(ops::relu(ops::matmul(x, ops::transpose(x))), ops::matmul(x, x)));
  };
  expect_same(run(portable()), run(reference()), 1e-5);
}

TEST(Cases, MAT_13_many_batches) {
  const HostData y = read(ops::matmul(ones({70000, 1, 2}), ones({70000, 2, 1})));
  EXPECT_EQ(y.at(0), 2);
  EXPECT_EQ(y.at(69999), 2);
}

TEST(Cases, MAT_17_batch_strides) {
  const HostData a = numbers({6, 9, 8}, DType::f32, -1, 1, 1);
  const HostData b = numbers({6, 8, 7}, DType::f32, -1, 1, 2);
  const auto run = [&](Backend& on) {
    return read(ops::matmul(ops::slice(on.from_data(a), {1, 2, 1}, {2, 5, 4}, {3, 1, 1}),
                            ops::slice(on.from_data(b), {5, 3, 1}, {2, 4, 3}, {-2, 1, 2})));
  };
  expect_same(run(portable()), run(reference()), 1e-5);
}

}  // namespace
}  // namespace sinter::backend::testing
