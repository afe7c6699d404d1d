// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementwise ops of the portable backend against the reference, over dtypes, layouts and sizes.
#include "sinter/ops/op.hpp"

#include "sinter/backend/portable/layouts_test.hpp"

namespace sinter::backend::testing {
namespace {

constexpr DType numeric[] = {DType::f64, DType::f32, DType::f16, DType::bf16,
                             DType::i64, DType::i32, DType::i16, DType::i8,
                             DType::u64, DType::u32, DType::u16, DType::u8};

Value apply_to(OpCode code, std::initializer_list<Value> inputs) {
  return execute(op_def(code), nullptr, {inputs.begin(), inputs.size()})[0];
}

TEST(PortableElementwise, AgreesWithReferenceInEveryDtypeAndLayout) {
  for (const DType dtype : numeric) {
    const double low = is_unsigned(dtype) ? 1 : -9;
    for (const Shape& shape : {Shape{5, 7, 3}, Shape{1, 600}, Shape{40, 1, 33}, Shape{}}) {
      const HostData a = numbers(shape, dtype, low, 9, 1);
      const HostData b = numbers(shape, dtype, low, 9, 2);
      for (const OpCode code :
           {OpCode::add, OpCode::sub, OpCode::mul, OpCode::maximum, OpCode::less}) {
        const HostData want =
            read(apply_to(code, {reference().from_data(a), reference().from_data(b)}));
        for (const Lay lay : all_layouts) {
          SCOPED_TRACE(std::string(op_def(code).name) + " " + std::string(name_of(dtype)) +
                       " layout " + std::to_string(static_cast<int>(lay)));
          expect_same(read(apply_to(code, {laid_out(portable(), a, lay), portable().from_data(b)})),
                      want, rounding(dtype));
        }
      }
    }
  }
}

TEST(PortableElementwise, AgreesWithReferenceAtEverySize) {
  for (const std::int64_t size : sizes) {
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::i32, DType::u64}) {
      const HostData a = numbers({size}, dtype, 1, 9, 3);
      const HostData b = numbers({size}, dtype, 1, 9, 4);
      for (const OpCode code : {OpCode::div, OpCode::equal, OpCode::remainder, OpCode::minimum}) {
        SCOPED_TRACE(std::string(op_def(code).name) + " " + std::to_string(size));
        expect_same(read(apply_to(code, {portable().from_data(a), portable().from_data(b)})),
                    read(apply_to(code, {reference().from_data(a), reference().from_data(b)})),
                    rounding(dtype));
      }
      if (is_floating(dtype)) {
        for (const OpCode code :
             {OpCode::exp, OpCode::tanh, OpCode::gelu, OpCode::log, OpCode::sin}) {
          SCOPED_TRACE(std::string(op_def(code).name) + " " + std::to_string(size));
          expect_same(read(apply_to(code, {portable().from_data(a)})),
                      read(apply_to(code, {reference().from_data(a)})), rounding(dtype));
        }
      }
    }
  }
}

TEST(PortableElementwise, BroadcastsAndMixesDtypes) {
  const HostData full = numbers({6, 5, 700}, DType::f32, -3, 3, 5);
  for (const Shape& other : {Shape{}, Shape{1}, Shape{700}, Shape{5, 1}, Shape{6, 1, 1},
                             Shape{1, 5, 700}, Shape{6, 1, 700}}) {
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::i32, DType::boolean}) {
      const HostData small = numbers(other, dtype, 0, 2, 6);
      const HostData want =
          read(apply_to(OpCode::mul, {reference().from_data(full), reference().from_data(small)}));
      SCOPED_TRACE(other.str() + " " + std::string(name_of(dtype)));
      for (const Lay lay : all_layouts) {
        expect_same(read(apply_to(OpCode::mul,
                                  {portable().from_data(full), laid_out(portable(), small, lay)})),
                    want, 1e-6);
      }
    }
  }
  // A pattern that repeats within a block.
  const HostData rows = numbers({999, 3}, DType::f32, -3, 3, 7);
  const HostData bias = numbers({3}, DType::f32, -3, 3, 8);
  expect_same(
      read(apply_to(OpCode::add, {portable().from_data(rows), portable().from_data(bias)})),
      read(apply_to(OpCode::add, {reference().from_data(rows), reference().from_data(bias)})),
      1e-6);
}

TEST(PortableElementwise, LargeResultsAreTheSame) {
  const HostData a = numbers({9'000'000}, DType::f32, -3, 3, 9);
  const Value x = portable().from_data(a);
  const HostData sum = read(ops::add(x, x));
  const HostData scaled = read(ops::mul(x, ops::scalar_like(x, 2)));
  for (std::int64_t i = 0; i < a.num_elements(); ++i) {
    ASSERT_EQ(sum.as<float>()[static_cast<std::size_t>(i)],
              2 * a.as<float>()[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(sum, scaled);
}

TEST(PortableElementwise, WritesOverADonatedInput) {
  const HostData a = numbers({100}, DType::f32);
  Value x = portable().from_data(a);
  const void* memory = host(x).data();
  const HostData want = read(ops::add(x, x));
  Value inputs[] = {std::move(x), portable().from_data(a)};
  const Value y = execute(op_def(OpCode::add), nullptr, inputs, 1)[0];
  EXPECT_EQ(host(y).data(), memory);
  EXPECT_EQ(read(y), want);
  // Another handle holds the elements: they stay.
  Value kept = portable().from_data(a);
  Value shared[] = {kept, portable().from_data(a)};
  EXPECT_NE(host(execute(op_def(OpCode::add), nullptr, shared, 1)[0]).data(), host(kept).data());
  EXPECT_EQ(read(kept), a);
}

// An op of a user's: only the scalar formula exists.
struct Cubed : Unary {
  static constexpr OpInfo info{.name = "cubed"};
  template <class T>
  static T forward(T a) {
    return a * a * a;
  }
};

TEST(PortableElementwise, RunsOpsOfUsers) {
  const HostData a = numbers({2000}, DType::f32);
  const HostData y = read(apply(Cubed{}, {portable().from_data(a)}));
  const HostData z =
      read(apply(Cubed{}, {laid_out(portable(), numbers({30}, DType::i32), Lay::stepped)}));
  for (std::int64_t i = 0; i < 2000; ++i) {
    EXPECT_EQ(y.at(i), static_cast<float>(std::pow(a.at(i), 3)));
  }
  EXPECT_EQ(z.int_at(4), static_cast<std::int64_t>(std::pow(numbers({30}, DType::i32).at(4), 3)));
}

TEST(PortableElementwise, SelectsByMasks) {
  const HostData mask = numbers({7, 300}, DType::boolean, 0, 2, 10);
  const HostData a = numbers({300}, DType::i32, -9, 9, 11);
  const HostData b = numbers({7, 1}, DType::i32, -9, 9, 12);
  const auto run = [&](Backend& on) {
    return read(ops::where(on.from_data(mask), on.from_data(a), on.from_data(b)));
  };
  expect_same(run(portable()), run(reference()));
}

HostData run2(OpCode code, const HostData& a, const HostData& b) {
  return read(apply_to(code, {portable().from_data(a), portable().from_data(b)}));
}

TEST(Cases, OPS_01_shift) {
  const HostData a(Shape{2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const HostData by(Shape{2, 4}, {0, 1, 2, 3, 3, 2, 1, 0});
  EXPECT_EQ(run2(OpCode::bitwise_left_shift, a, by),
            HostData(Shape({2, 4}), {1, 4, 12, 32, 40, 24, 14, 8}));
  EXPECT_EQ(run2(OpCode::bitwise_right_shift, a, by),
            HostData(Shape({2, 4}), {1, 1, 0, 0, 0, 1, 3, 8}));
}

TEST(Cases, OPS_02_remainder) {
  const HostData x(Shape{7}, {-5, -2, -1, 0, 1, 2, 5});
  const HostData three(Shape{}, {3});
  const HostData minus(Shape{}, {-3});
  EXPECT_EQ(run2(OpCode::remainder, x, three), HostData(Shape({7}), {1, 1, 2, 0, 1, 2, 2}));
  EXPECT_EQ(run2(OpCode::remainder, x, minus), HostData(Shape({7}), {-2, -2, -1, 0, -2, -1, -1}));
  EXPECT_EQ(run2(OpCode::fmod, x, three), HostData(Shape({7}), {-2, -2, -1, 0, 1, 2, 2}));
}

TEST(Cases, OPS_06_pow) {
  const HostData a(Shape{5}, {-2.f, -2.f, -2.f, 0.f, 0.f});
  const HostData b(Shape{5}, {3.f, 2.f, 0.5f, 0.f, -1.f});
  for (std::int64_t n = 1; n <= 9; ++n) {
    const HostData y = read(ops::pow(ops::expand(portable().from_data(a), {n, 5}),
                                     ops::expand(portable().from_data(b), {n, 5})));
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(y.at(5 * i), -8);
      EXPECT_EQ(y.at(5 * i + 1), 4);
      EXPECT_TRUE(std::isnan(y.at(5 * i + 2)));
      EXPECT_EQ(y.at(5 * i + 3), 1);
      EXPECT_EQ(y.at(5 * i + 4), INFINITY);
    }
  }
}

TEST(Cases, OPS_12_extremes_keep_nan) {
  const HostData nan1(Shape{1}, {NAN});
  const HostData nan2(Shape{2}, {NAN, NAN});
  const HostData nan11(Shape{1, 1}, {NAN});
  const HostData ten1(Shape{1}, {10.f});
  const HostData ten2(Shape{2}, {10.f, 10.f});
  for (const OpCode code : {OpCode::minimum, OpCode::maximum}) {
    for (const auto& [a, b] : {std::pair{nan1.cast(DType::f32), ten1},
                               {nan2.cast(DType::f32), ten2},
                               {nan11.cast(DType::f32), ten2},
                               {nan1.cast(DType::f32), ten2}}) {
      for (const HostData& y : {run2(code, a, b), run2(code, b, a)}) {
        for (const double value : y.to_doubles()) {
          EXPECT_TRUE(std::isnan(value));
        }
      }
    }
  }
}

TEST(Cases, OPS_13_sign) {
  const HostData y = read(ops::sign(
      portable().from_data(HostData(Shape{5}, {double{NAN}, -double{NAN}, 0.0, -0.0, -3.0}))));
  EXPECT_TRUE(std::isnan(y.at(0)) && std::isnan(y.at(1)));
  EXPECT_EQ(y.at(2), 0);
  EXPECT_EQ(y.at(3), 0);
  EXPECT_EQ(y.at(4), -1);
}

}  // namespace
}  // namespace sinter::backend::testing
