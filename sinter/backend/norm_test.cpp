// SPDX-License-Identifier: MIT OR Apache-2.0
// Normalisation and attention against numbers worked out by hand and against their formulas.
#include "sinter/ops/norm/norm.hpp"

#include "sinter/backend/nn_test.hpp"
#include "sinter/ops/attention/attention.hpp"

namespace sinter {
namespace {

class AttCases : public testing::OnHostBackends {
 protected:
  Value mask(const Shape& shape, const std::vector<double>& values) {
    return tensor(shape, values, DType::boolean);
  }
};
SINTER_ON_HOST_BACKENDS(AttCases);

TEST_P(AttCases, ATT_08_eps_is_inside_the_root) {
  expect(ops::layer_norm(tensor({1, 2}, {0, 0.002})), {-0.301511, 0.301511});
}

TEST_P(AttCases, ATT_09_batch_norm) {
  const Outputs y = ops::batch_norm(tensor({4, 1}, {1, 2, 3, 4}), {}, {});
  expect(y[0], {-1.341635, -0.447212, 0.447212, 1.341635});
  expect(y[1], {2.5});
  expect(y[2], {1.25});
  EXPECT_THROW(ops::batch_norm(filled({1, 3}, 1), {}, {}), ShapeError);
  expect(ops::batch_norm_inference(tensor({1, 2}, {1, 2}), vector({0, 1}), vector({4, 1}),
                                   vector({1, 3}), vector({0, 1}), 0),
         {0.5, 4});
}

// A large common offset must not eat the variance.
TEST_P(AttCases, statistics_with_a_large_mean) {
  std::vector<double> values;
  for (int i = 0; i < 2 * 3 * 700; ++i) {
    values.push_back(10000 + (i % 2 == 0 ? 1 : -1));
  }
  const Outputs y = ops::batch_norm(tensor({2, 3, 700}, values), {}, {});
  expect(y[1], {10000, 10000, 10000}, 1e-7);
  expect(y[2], {1, 1, 1}, 1e-4);
  const Value rows = ops::layer_norm(tensor({6, 700}, values));
  expect(ops::narrow(rows, 1, 0, 2), {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1}, 1e-4);
  const Outputs columns =
      ops::batch_norm(ops::contiguous(ops::transpose(tensor({6, 700}, values))), {}, {});
  expect(columns[2], {1, 1, 1, 1, 1, 1}, 1e-4);
}

TEST_P(AttCases, ATT_14_rms_norm_weights) {
  const Value x = ops::sin(counting({3, 8}));
  const Value plain = ops::rms_norm(x);
  const Value w = ops::cos(counting({8}));
  expect_equal(ops::rms_norm(x, 1, w), ops::mul(plain, w));
  expect_equal(ops::rms_norm(x, 1, ops::reshape(w, {1, 8})), ops::mul(plain, w));
  const Value full = ops::cos(counting({3, 8}));
  expect_equal(ops::rms_norm(x, 1, full), ops::mul(plain, full));
}

TEST_P(AttCases, ATT_16_group_norm_ranks) {
  EXPECT_EQ(ops::group_norm(tensor({1, 2, 1}, {1, 3}), 1).shape(), (Shape{1, 2, 1}));
  expect(ops::group_norm(tensor({1, 2, 1}, {1, 3}), 1, {}, {}, 0), {-1, 1});
  const std::string text =
      testing::message_of<ShapeError>([&] { ops::group_norm(filled({2, 4}, 1), 2); });
  EXPECT_NE(text.find("rank 2"), std::string::npos) << text;
}

// Every width around the vector's, against the formula in basic ops.
TEST_P(AttCases, layer_norm_widths) {
  for (const std::int64_t n : {1, 2, 15, 16, 17, 63, 130}) {
    const Value x = ops::sin(counting({3, n}));
    const Value w = ops::cos(counting({n}));
    const Value b = ops::cos(counting({n}, 5));
    const Value centred = ops::sub(x, ops::mean(x, {1}, true));
    const Value variance = ops::mean(ops::square(centred), {1}, true);
    const Value xhat = ops::div(centred, ops::sqrt(ops::add(variance, ops::scalar_like(x, 1e-5))));
    expect_equal(ops::layer_norm(x, 1, w, b), ops::add(ops::mul(xhat, w), b), 1e-4);
  }
}

TEST_P(AttCases, ATT_01_fully_masked_row) {
  const Value q = ops::sin(counting({1, 1, 2, 4}));
  const Value y = ops::attention(q, q, q, mask({2, 2}, {0, 0, 1, 1}));
  const std::vector<double> values = read(y);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(values[static_cast<std::size_t>(i)], 0);
    EXPECT_NE(values[static_cast<std::size_t>(4 + i)], 0);
  }
}

TEST_P(AttCases, ATT_02_mask_broadcasts) {
  const Value q = ops::sin(counting({2, 3, 4, 8}));
  const Value k = ops::cos(counting({2, 3, 5, 8}));
  const Value bias = ops::sin(counting({2, 1, 4, 5}));
  expect_equal(ops::attention(q, k, k, bias),
               ops::attention(q, k, k, ops::expand(bias, {2, 3, 4, 5})));
  const Value seen =
      ops::greater(ops::sin(counting({1, 1, 4, 5}, 1)), ops::scalar_like(bias, -0.5));
  expect_equal(ops::attention(q, k, k, seen),
               ops::attention(q, k, k, ops::expand(seen, {2, 3, 4, 5})));
}

TEST_P(AttCases, ATT_04_causal_with_more_keys) {
  const Value q = ops::sin(counting({1, 1, 2, 4}));
  const Value k = ops::cos(counting({1, 1, 4, 4}));
  ops::Attention causal;
  causal.is_causal = true;
  const Value lower = mask({2, 4}, {1, 1, 1, 0, 1, 1, 1, 1});
  expect_equal(ops::attention(q, k, k, {}, causal), ops::attention(q, k, k, lower));
  expect_equal(ops::attention(q, k, k, lower, causal), ops::attention(q, k, k, lower));
}

// Grouped heads are the same as keys and values repeated.
TEST_P(AttCases, grouped_heads) {
  const Value q = ops::sin(counting({2, 4, 3, 8}));
  const Value k = ops::cos(counting({2, 2, 5, 8}));
  const Value repeated = ops::reshape(
      ops::contiguous(ops::expand(ops::unsqueeze(k, 2), {2, 2, 2, 5, 8})), {2, 4, 5, 8});
  expect_equal(ops::attention(q, k, k), ops::attention(q, repeated, repeated));
}

TEST_P(AttCases, ATT_06_rope_pairs) {
  const Value x = tensor({1, 4}, {1, 0, 0, 0});
  const Value cosine = ops::cos(tensor({1, 2}, {1, 0.01}));
  const Value sine = ops::sin(tensor({1, 2}, {1, 0.01}));
  expect(ops::rope(x, cosine, sine, true), {0.540302, 0.841471, 0, 0});
  expect(ops::rope(x, cosine, sine, false), {0.540302, 0, 0.841471, 0});
}

}  // namespace
}  // namespace sinter
