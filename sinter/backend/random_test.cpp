// SPDX-License-Identifier: MIT OR Apache-2.0
// Random numbers: known answers of the generator, ranges, moments, and the same numbers everywhere.
#include "sinter/ops/random/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "sinter/backend/families_test.hpp"
#include "sinter/backend/host/random.hpp"
#include "sinter/base/thread_pool.hpp"
#include "sinter/ops/random/philox.hpp"

namespace sinter::backend::testing {
namespace {

using ops::Distribution;

// The vectors published with the algorithm (Random123, kat_vectors, philox4x32 of 10 rounds).
TEST(Philox, known_answers) {
  const auto check = [](philox::Block counter, std::uint32_t k0, std::uint32_t k1,
                        philox::Block expected) {
    const philox::Block got = philox::block(counter, k0, k1);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(got.words[i], expected.words[i]);
    }
  };
  check({{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  check({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  check({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0,
        {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST(Random, same_numbers_on_every_backend_thread_count_and_split) {
  for (const Distribution& d :
       {Distribution::uniform(-2, 5), Distribution::bernoulli(0.3), Distribution::randint(-5, 7),
        Distribution::randint(0, 1000000007)}) {
    const DType dtype = d.kind == ops::RandomKind::uniform ? DType::f32 : DType::i64;
    const RandomKey key{1234567, 11};
    const Numbers expected = numbers_of(ops::random(*both_backends()[0], {70001}, d, dtype, key));
    Backend& portable = *both_backends()[1];
    EXPECT_EQ(numbers_of(ops::random(portable, {70001}, d, dtype, key)), expected);
    {
      const ScopedThreads one(1);
      EXPECT_EQ(numbers_of(ops::random(portable, {70001}, d, dtype, key)), expected);
    }
    const Numbers tail(expected.begin() + 501, expected.begin() + 601);
    EXPECT_EQ(numbers_of(ops::random(portable, {100}, d, dtype, {1234567, 11 + 501})), tail);
  }
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    const RandomKey key{99, 3};
    const Distribution uniform = Distribution::uniform(1, 2);
    EXPECT_EQ(numbers_of(ops::random(*both_backends()[0], {1001}, uniform, dtype, key)),
              numbers_of(ops::random(*both_backends()[1], {1001}, uniform, dtype, key)));
  }
}

TEST(Random, normal_agrees_within_1e_6_and_has_its_moments) {
  const Distribution d = Distribution::normal();
  for (const std::uint64_t offset : {0, 1, 7}) {
    const RandomKey key{5, offset};
    const Numbers expected =
        numbers_of(ops::random(*both_backends()[0], {100003}, d, DType::f32, key));
    expect_numbers(ops::random(*both_backends()[1], {100003}, d, DType::f32, key), expected, 1e-6);
  }
  for (Backend* b : both_backends()) {
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
      const Numbers x =
          numbers_of(ops::random(*b, {200000}, Distribution::normal(2, 3), dtype, {8, 0}));
      double mean = 0;
      double square = 0;
      for (const double v : x) {
        EXPECT_TRUE(std::isfinite(v));
        mean += v / 200000;
        square += (v - 2) * (v - 2) / 200000;
      }
      EXPECT_NEAR(mean, 2, 0.03);
      EXPECT_NEAR(square, 9, 0.15);
    }
  }
}

TEST(Cases, DTY_13_ranges) {
  for (Backend* b : both_backends()) {
    const Numbers ints =
        numbers_of(ops::random(*b, {100000}, Distribution::randint(0, 3), DType::i32, {1, 0}));
    EXPECT_EQ(std::set<double>(ints.begin(), ints.end()), (std::set<double>{0, 1, 2}));
    const auto full = Distribution::randint(std::numeric_limits<std::int64_t>::min(),
                                            std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(ops::random(*b, {4}, full, DType::i64, {1, 0}).num_elements(), 4);
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      for (const auto& [low, high] :
           std::vector<std::pair<double, double>>{{0, 1}, {-1, 0}, {100, 100.5}, {-3, 1e-3}}) {
        const double first = numbers_of(tensor(*b, {1}, {low}, dtype))[0];
        const Numbers x =
            numbers_of(ops::random(*b, {100000}, Distribution::uniform(low, high), dtype, {2, 0}));
        EXPECT_GE(*std::min_element(x.begin(), x.end()), std::min(low, first));
        EXPECT_LT(*std::max_element(x.begin(), x.end()), high) << name_of(dtype) << " " << low;
      }
    }
    error_of<ArgumentError>(
        [&] { ops::random(*b, {1}, Distribution::randint(3, 3), DType::i32, {1, 0}); });
    error_of<DTypeError>(
        [&] { ops::random(*b, {1}, Distribution::uniform(), DType::i32, {1, 0}); });
  }
}

// The largest random bits are the ones that rounding could bring up to the end.
TEST(Random, no_bits_round_up_to_the_end_of_a_uniform_range) {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    for (const auto& [low, high] :
         std::vector<std::pair<double, double>>{{0, 1}, {1, 2}, {-1, 0}, {1000, 1000.5}}) {
      const UniformRange range(Distribution::uniform(low, high), dtype);
      const double largest = dtype == DType::f64 ? range.at(~std::uint64_t{0})
                                                 : static_cast<double>(range.at(~std::uint32_t{0}));
      const Value rounded = tensor(*both_backends()[0], {1}, {largest}, dtype);
      EXPECT_LT(numbers_of(rounded)[0], high) << name_of(dtype) << " " << low;
    }
  }
}

TEST(Cases, FUS_12_stream_moves_and_repeats) {
  for (Backend* b : both_backends()) {
    Generator generator(42);
    const GeneratorScope scope(generator);
    const Numbers first = numbers_of(ops::random(*b, {9}, Distribution::uniform()));
    const Numbers second = numbers_of(ops::random(*b, {9}, Distribution::uniform()));
    EXPECT_NE(first, second);
    generator.seed(42);
    EXPECT_EQ(numbers_of(ops::random(*b, {9}, Distribution::uniform())), first);
    EXPECT_EQ(numbers_of(ops::random(*b, {9}, Distribution::uniform())), second);
  }
}

TEST(Random, bernoulli_at_its_ends_and_between) {
  for (Backend* b : both_backends()) {
    for (const DType dtype : {DType::boolean, DType::f32}) {
      const auto mean = [&](double p) {
        const Value x = ops::random(*b, {100000}, Distribution::bernoulli(p), dtype, {3, 0});
        double sum = 0;
        for (const double v : numbers_of(x)) {
          sum += v;
        }
        return sum / 100000;
      };
      EXPECT_EQ(mean(0), 0);
      EXPECT_EQ(mean(1), 1);
      EXPECT_NEAR(mean(0.3), 0.3, 0.01);
    }
  }
}

TEST(Random, randperm_is_a_permutation) {
  for (Backend* b : both_backends()) {
    Generator generator(7);
    const GeneratorScope scope(generator);
    Numbers order = numbers_of(ops::randperm(*b, 1000));
    EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
    std::sort(order.begin(), order.end());
    for (int i = 0; i < 1000; ++i) {
      EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
    EXPECT_EQ(ops::randperm(*b, 0).shape(), (Shape{0}));
  }
}

TEST(Random, categorical_follows_the_logits) {
  for (Backend* b : both_backends()) {
    Generator generator(11);
    const GeneratorScope scope(generator);
    const Value logits = tensor(*b, {3}, {std::log(0.1), std::log(0.6), std::log(0.3)});
    double count[3] = {};
    for (const double c : numbers_of(ops::categorical(logits, 50000))) {
      count[static_cast<int>(c)] += 1.0 / 50000;
    }
    EXPECT_NEAR(count[0], 0.1, 0.01);
    EXPECT_NEAR(count[1], 0.6, 0.01);
    EXPECT_NEAR(count[2], 0.3, 0.01);
  }
}

TEST(Dropout, gradient_uses_the_same_mask) {
  for (Backend* b : both_backends()) {
    for (const DType dtype : {DType::f32, DType::f64, DType::f16}) {
      const ops::Dropout op{0.25, {17, 5}};
      const Value x = ops::full(*b, {3000}, 1, dtype);
      const Numbers y = numbers_of(apply(op, {x}));
      EXPECT_EQ(numbers_of(gradients(op, {x}, x)[0]), y);
      const auto dropped = std::count(y.begin(), y.end(), 0.0);
      EXPECT_NEAR(static_cast<double>(dropped) / 3000, 0.25, 0.03);
      EXPECT_NEAR(*std::max_element(y.begin(), y.end()), 1 / 0.75, 1e-3);
      EXPECT_EQ(y, numbers_of(apply(op, {ops::full(*both_backends()[0], {3000}, 1, dtype)})));
    }
    const Value infinite = ops::full(*b, {64}, INFINITY, DType::f32);
    for (const double v : numbers_of(apply(ops::Dropout{1, {1, 0}}, {infinite}))) {
      EXPECT_EQ(v, 0);
    }
    // The mask goes by position, whatever the layout.
    const Value x = ops::random(*b, {30, 40}, Distribution::uniform(1, 2), DType::f32, {4, 0});
    const Value turned = ops::transpose(x);
    EXPECT_EQ(numbers_of(ops::dropout(turned, 0.5, {6, 0})),
              numbers_of(ops::dropout(ops::contiguous(turned), 0.5, {6, 0})));
  }
}

}  // namespace
}  // namespace sinter::backend::testing
