// SPDX-License-Identifier: MIT OR Apache-2.0
// Creation, casts, copies and slice assignment of the portable backend against the reference.
#include "sinter/backend/portable/layouts_test.hpp"

namespace sinter::backend::testing {
namespace {

TEST(PortableCreation, CastsBetweenAllDtypes) {
  std::vector<double> values = {
      0,    -0.0, 1,   -1,       0.5,       -1.5,  127.9, 128,      255,         256,
      -129, 3e4,  7e4, -7e4,     3e9,       -3e9,  5e-8,  1e10,     -1e10,       1e19,
      2e19, 1e39, NAN, INFINITY, -INFINITY, 65519, 65520, 16777217, 2147483648.0};
  for (int i = 0; i < 1000; ++i) {
    values.push_back(std::ldexp(static_cast<double>((i * 2654435761u) % 4093) - 2000, i % 9 - 4));
  }
  const HostData all(Shape{static_cast<std::int64_t>(values.size())},
                     std::span<const double>(values));
  for (int from = 0; from < dtype_count; ++from) {
    const HostData x = all.cast(static_cast<DType>(from));
    for (int to = 0; to < dtype_count; ++to) {
      SCOPED_TRACE(std::string(name_of(x.dtype())) + " to " +
                   std::string(name_of(static_cast<DType>(to))));
      expect_same(read(ops::cast(portable().from_data(x), static_cast<DType>(to))),
                  x.cast(static_cast<DType>(to)));
    }
  }
}

TEST(PortableCreation, CopiesEveryLayout) {
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    for (const Shape& shape :
         {Shape{}, Shape{130, 70}, Shape{3, 65, 5, 9}, Shape{0, 4}, Shape{1, 7, 1}}) {
      const HostData x = numbers(shape, dtype, 0, 100);
      for (const Lay lay : all_layouts) {
        SCOPED_TRACE(shape.str() + std::to_string(static_cast<int>(lay)));
        const Value copy = ops::contiguous(laid_out(portable(), x, lay));
        EXPECT_TRUE(host(copy).is_contiguous());
        expect_same(read(copy), x);
        expect_same(read(ops::cast(laid_out(portable(), x, lay), DType::f32)), x.cast(DType::f32));
      }
    }
  }
  const HostData x = numbers({6, 50, 40}, DType::f32);
  for (const Dims& order :
       {Dims{0, 2, 1}, Dims{2, 0, 1}, Dims{2, 1, 0}, Dims{1, 0, 2}, Dims{1, 2, 0}}) {
    expect_same(read(ops::contiguous(ops::permute(portable().from_data(x), order))),
                read(ops::contiguous(ops::permute(reference().from_data(x), order))));
  }
  expect_same(read(ops::contiguous(
                  ops::expand(portable().from_data(numbers({3, 1}, DType::f32)), {2, 3, 700}))),
              read(ops::contiguous(
                  ops::expand(reference().from_data(numbers({3, 1}, DType::f32)), {2, 3, 700}))));
}

TEST(PortableCreation, AssignsToSlices) {
  for (const DType dtype : {DType::f32, DType::f16, DType::i64, DType::u8, DType::boolean}) {
    for (const bool accumulate : {false, true}) {
      const HostData x = numbers({9, 1300}, dtype, 0, 2, 1);
      for (const Shape& shape : {Shape{3, 600}, Shape{600}, Shape{3, 1}, Shape{}}) {
        const HostData v = numbers(shape, dtype, 0, 2, 2);
        const auto run = [&](Backend& on) {
          return read(ops::slice_assign(on.from_data(x), on.from_data(v), {7, 3}, {3, 600}, {-2, 2},
                                        accumulate));
        };
        expect_same(run(portable()), run(reference()), rounding(dtype));
      }
    }
  }
}

TEST(Cases, OPS_22_arange) {
  const HostData y = read(ops::arange(portable(), std::int64_t{2147483648}, 1, 2, DType::i64));
  EXPECT_EQ(y, HostData(Shape({2}), {std::int64_t{2147483648}, std::int64_t{2147483649}}));
  const auto steps = [](Backend& on) { return read(ops::arange(on, 0.25, 0.1, 1000, DType::f32)); };
  expect_same(steps(portable()), steps(reference()));
}

TEST(Cases, OPS_25_fill) {
  for (const double value : std::vector<double>{-INFINITY, INFINITY, 3.4028234663852886e38, NAN}) {
    for (const double got : read(ops::full(portable(), {3}, value, DType::f32)).to_doubles()) {
      EXPECT_TRUE(got == value || (std::isnan(got) && std::isnan(value)));
    }
  }
}

}  // namespace
}  // namespace sinter::backend::testing
