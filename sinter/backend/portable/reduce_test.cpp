// SPDX-License-Identifier: MIT OR Apache-2.0
// Reductions of the portable backend against the reference, over dims, dtypes, layouts and sizes.
#include <cstring>

#include "sinter/backend/portable/layouts_test.hpp"
#include "sinter/base/thread_pool.hpp"

namespace sinter::backend::testing {
namespace {

using Reduction = Value (*)(const Value&, const Dims&, bool, SourceLoc);
constexpr Reduction reductions[] = {ops::sum, ops::prod, ops::mean, ops::max,
                                    ops::min, ops::any,  ops::all};

HostData reduce(Reduction f, const Value& x, const Dims& dims, bool keep = false) {
  return read(f(x, dims, keep, SourceLoc::current()));
}

TEST(PortableReduce, AgreesWithReferenceOverAllDimsAndLayouts) {
  const Shape shape{5, 37, 2, 18};
  for (const DType dtype :
       {DType::f32, DType::f64, DType::f16, DType::i32, DType::u8, DType::boolean}) {
    const HostData x = dtype == DType::boolean
                           ? numbers(shape, dtype, 0, 2)
                           : numbers(shape, dtype, is_unsigned(dtype) ? 0 : -1.2, 1.4);
    for (const Reduction f : reductions) {
      if ((f == ops::mean && !is_floating(dtype)) ||
          ((f == ops::max || f == ops::min) && dtype == DType::boolean)) {
        continue;
      }
      for (const Dims& dims : {Dims{}, Dims{0}, Dims{1}, Dims{-2}, Dims{3}, Dims{0, 2}, Dims{1, 3},
                               Dims{0, 1}, Dims{2, 3}, Dims{0, 2, 3}}) {
        const HostData want = reduce(f, reference().from_data(x), dims);
        for (const Lay lay : all_layouts) {
          SCOPED_TRACE(std::string(name_of(dtype)) + " dims " + dims.str() + " layout " +
                       std::to_string(static_cast<int>(lay)));
          expect_same(reduce(f, laid_out(portable(), x, lay), dims), want, rounding(dtype));
        }
      }
    }
  }
}

TEST(PortableReduce, AgreesWithReferenceOnLongAndThinShapes) {
  for (const Shape& shape :
       {Shape{3, 70000}, Shape{70000, 3}, Shape{1200, 700}, Shape{2, 300, 600}}) {
    const HostData x = numbers(shape, DType::f32, -1, 1);
    for (int dim = 0; dim < shape.rank(); ++dim) {
      for (const Reduction f : {Reduction{ops::sum}, Reduction{ops::max}}) {
        SCOPED_TRACE(shape.str() + " dim " + std::to_string(dim));
        expect_same(reduce(f, portable().from_data(x), {dim}, true),
                    reduce(f, reference().from_data(x), {dim}, true), 1e-5);
      }
    }
  }
}

TEST(PortableReduce, SumsManyElementsAccurately) {
  const std::int64_t n = std::int64_t{1} << 24;
  const HostData x = numbers({n}, DType::f32, 0, 1);
  double want = 0;
  for (const float value : x.as<float>()) {
    want += value;
  }
  EXPECT_NEAR(reduce(ops::sum, portable().from_data(x), {}).at(0) / want, 1, 1e-6);
  const HostData columns = reduce(ops::sum, portable().from_data(x.reshaped({n / 8, 8})), {0});
  double total = 0;
  for (std::int64_t i = 0; i < 8; ++i) {
    total += columns.at(i);
  }
  EXPECT_NEAR(total / want, 1, 1e-6);
}

TEST(PortableReduce, ThreadsDontChangeBits) {
  const Value x = portable().from_data(numbers({40, 9000}, DType::f32, -1, 1));
  for (const Dims& dims : {Dims{}, Dims{0}, Dims{1}}) {
    HostData one;
    {
      const ScopedThreads scope(1);
      one = reduce(ops::sum, x, dims);
    }
    const ScopedThreads scope(3);
    EXPECT_EQ(reduce(ops::sum, x, dims), one);
  }
}

TEST(PortableReduce, ReducesExpandedViews) {
  const HostData x = numbers({1, 6}, DType::f32);
  const auto run = [&](Backend& on, const Dims& dims) {
    return reduce(ops::sum, ops::expand(on.from_data(x), {300, 6}), dims);
  };
  for (const Dims& dims : {Dims{}, Dims{0}, Dims{1}}) {
    expect_same(run(portable(), dims), run(reference(), dims), 1e-5);
  }
}

TEST(Cases, RED_01_nan_wins) {
  for (const std::int64_t n : {3, 600, 5000}) {
    std::vector<float> values(static_cast<std::size_t>(n), 1);
    values[1] = NAN;
    const Value x = portable().from_data(HostData(Shape{n}, std::span<const float>(values)));
    EXPECT_TRUE(std::isnan(reduce(ops::max, x, {}).at(0)));
    EXPECT_TRUE(std::isnan(reduce(ops::min, x, {}).at(0)));
    const Value column = ops::expand(ops::reshape(x, {n, 1}), {n, 20});
    EXPECT_TRUE(std::isnan(reduce(ops::max, ops::contiguous(column), {0}).at(19)));
  }
}

TEST(Cases, RED_04_no_elements) {
  const Value x = ops::full(portable(), {2, 0}, 1, DType::f32);
  EXPECT_EQ(reduce(ops::sum, x, {1}), HostData(Shape({2}), {0.f, 0.f}));
  EXPECT_EQ(reduce(ops::prod, x, {1}), HostData(Shape({2}), {1.f, 1.f}));
  EXPECT_EQ(reduce(ops::any, x, {1}), HostData(Shape({2}), {false, false}));
  EXPECT_EQ(reduce(ops::all, x, {1}), HostData(Shape({2}), {true, true}));
  EXPECT_TRUE(std::isnan(reduce(ops::mean, x, {1}).at(1)));
  EXPECT_THROW(reduce(ops::max, x, {1}), ShapeError);
  EXPECT_EQ(reduce(ops::sum, ops::full(portable(), {0, 2}, 1, DType::f32), {1}).shape(), Shape{0});
}

TEST(PortableReduce, NoElementsStayNoneInEveryLayout) {
  const HostData none(Shape{65, 2, 0}, DType::f64);
  const std::vector<double> ones(130, 1);
  const HostData want(Shape{65, 2}, std::span<const double>(ones));
  const Value x = portable().from_data(none);
  for (const Dims& flipped : {Dims{0}, Dims{1}, Dims{0, 1}}) {
    SCOPED_TRACE(flipped.str());
    EXPECT_EQ(reduce(ops::prod, ops::flip(x, flipped), {2}), want);
  }
}

TEST(Cases, RED_06_mean) {
  const Value x = ops::full(portable(), {1000}, 1000, DType::f16);
  EXPECT_EQ(reduce(ops::mean, x, {}).at(0), 1000);
  const Value y = ops::permute(
      ops::reshape(ops::arange(portable(), 0, 1, 1024, DType::f32), {2, 2, 256}), {1, 2, 0});
  const Value mean = ops::mean(ops::mean(y, {0}), {0});
  EXPECT_EQ(read(mean), HostData(Shape({2}), {255.5f, 767.5f}));
}

TEST(Cases, RED_08_transposed_view) {
  const Value x = portable().from_data(HostData(Shape({2, 3}), {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}));
  EXPECT_EQ(reduce(ops::sum, ops::transpose(x), {1}), HostData(Shape({3}), {5.f, 7.f, 9.f}));
}

TEST(Cases, RED_09_prod) {
  const Value x = portable().from_data(HostData(Shape({2, 3}), {1.f, -2.f, 3.f, 5.f, 9.f, 6.f}));
  EXPECT_EQ(reduce(ops::prod, x, {}).at(0), -1620);
  EXPECT_EQ(reduce(ops::prod, portable().from_data(HostData(Shape{2}, {0.f, 5.f})), {}).at(0), 0);
}

TEST(Cases, RED_14_integer_extremes) {
  const HostData low(Shape{2}, {-5, -3});
  const HostData high(Shape{2}, {7, 9});
  for (const DType dtype : {DType::i8, DType::i32, DType::i64}) {
    EXPECT_EQ(reduce(ops::max, portable().from_data(low.cast(dtype)), {}).int_at(0), -3);
    EXPECT_EQ(reduce(ops::min, portable().from_data(high.cast(dtype)), {}).int_at(0), 7);
  }
  EXPECT_EQ(reduce(ops::min, portable().from_data(high.cast(DType::u8)), {}).int_at(0), 7);
  const HostData lowest(Shape{1}, {INT64_MIN});
  EXPECT_EQ(reduce(ops::max, portable().from_data(lowest), {}).int_at(0), INT64_MIN);
  const Value grid = portable().from_data(HostData(Shape({2, 3}), {0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(reduce(ops::max, grid, {0}), HostData(Shape({3}), {3, 4, 5}));
  EXPECT_EQ(reduce(ops::max, grid, {1}, true), HostData(Shape({2, 1}), {2, 5}));
}

TEST(Cases, RED_16_nothing_past_the_row) {
  for (const std::int64_t n : sizes) {
    std::vector<float> values(static_cast<std::size_t>(n) + 70, NAN);
    for (std::int64_t i = 0; i < n; ++i) {
      values[static_cast<std::size_t>(i)] = static_cast<float>(i + 1);
    }
    const Value x = portable().from_data(
        HostData(Shape{static_cast<std::int64_t>(values.size())}, std::span<const float>(values)));
    const auto want = static_cast<double>(n * (n + 1) / 2);
    EXPECT_EQ(reduce(ops::sum, ops::narrow(x, 0, 0, n), {}).at(0), want);
    const Value column = ops::narrow(ops::reshape(x, {-1, 1}), 0, 0, n);
    EXPECT_EQ(reduce(ops::sum, column, {0}).at(0), want);
    const Value row = ops::narrow(ops::reshape(x, {1, -1}), 1, 0, n);
    for (const double value : reduce(ops::sum, row, {0}).to_doubles()) {
      EXPECT_FALSE(std::isnan(value));
    }
  }
}

TEST(Cases, RED_20_ones) {
  EXPECT_EQ(reduce(ops::sum, ops::full(portable(), {1000000}, 1, DType::f32), {}).at(0), 1e6);
}

TEST(Cases, OPS_08_truth) {
  const auto value = [](double x) { return portable().from_data(HostData(Shape{1}, {x})); };
  EXPECT_EQ(reduce(ops::any, value(-0.0), {}).int_at(0), 0);
  EXPECT_EQ(reduce(ops::all, portable().from_data(HostData(Shape{2}, {-0.0, 1.0})), {}).int_at(0),
            0);
  EXPECT_EQ(reduce(ops::any, value(NAN), {}).int_at(0), 1);
}

}  // namespace
}  // namespace sinter::backend::testing
