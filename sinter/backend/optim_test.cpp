// SPDX-License-Identifier: MIT OR Apache-2.0
// Optimizer steps against numbers worked out by hand.
#include "sinter/ops/optim/optim.hpp"

#include "sinter/backend/host/tensor.hpp"
#include "sinter/backend/nn_test.hpp"

namespace sinter {
namespace {

class OptCases : public testing::OnHostBackends {};
SINTER_ON_HOST_BACKENDS(OptCases);

TEST_P(OptCases, OPT_02_adam) {
  ops::AdamStep op;
  op.lr = 0.1;
  std::vector<Value> p{vector({0, 0}), vector({0})};
  std::vector<Value> m{vector({0, 0}), vector({0})};
  std::vector<Value> v{vector({0, 0}), vector({0})};
  std::vector<Value> none;
  ops::adam_step(op, p, {vector({1, -2}), vector({1})}, m, v, none);
  expect(p[0], {-0.1, 0.1});
  op.step = 2;
  ops::adam_step(op, p, {vector({1, -2}), vector({3})}, m, v, none);
  expect(p[0], {-0.2, 0.2});
  expect(p[1], {-0.191778});
}

TEST_P(OptCases, OPT_04_sgd_momentum) {
  for (const bool nesterov : {false, true}) {
    ops::SgdStep op;
    op.lr = 0.1;
    op.momentum = 0.9;
    op.nesterov = nesterov;
    op.first = true;
    std::vector<Value> p{vector({0})};
    std::vector<Value> buffers{vector({NAN})};
    ops::sgd_step(op, p, {vector({1})}, buffers);
    op.first = false;
    ops::sgd_step(op, p, {vector({1})}, buffers);
    expect(p[0], {nesterov ? -0.461 : -0.29});
  }
}

TEST_P(OptCases, OPT_13_global_norm) {
  std::vector<Value> g{vector({3}), Value(), vector({4})};
  expect(ops::clip_global_norm(g, 1), {5});
  expect(g[0], {0.6});
  expect(g[2], {0.8});
  std::vector<Value> zeros{vector({0, 0})};
  ops::clip_global_norm(zeros, 1);
  expect(zeros[0], {0, 0});
  std::vector<Value> small{vector({0.3, 0.4})};
  ops::clip_global_norm(small, 1);
  expect(small[0], {0.3, 0.4}, 1e-7);
}

TEST_P(OptCases, OPT_16_half_parameters_keep_f32_state) {
  ops::AdamStep op;
  op.lr = 0.1;
  std::vector<Value> p{vector({1}, DType::f16)};
  std::vector<Value> m{vector({0})};
  std::vector<Value> v{vector({0})};
  std::vector<Value> none;
  ops::adam_step(op, p, {vector({0}, DType::f16)}, m, v, none);
  expect(p[0], {1});  // 0 / (0 + 1e-8) is 0, where f16 would divide by 0
  ops::adam_step(op, p, {vector({1e-3}, DType::f16)}, m, v, none);
  EXPECT_TRUE(std::isfinite(read(p[0])[0]));
  std::vector<Value> narrow{vector({0}, DType::f16)};
  EXPECT_THROW(ops::adam_step(op, p, {vector({0}, DType::f16)}, narrow, v, none), DTypeError);
  EXPECT_TRUE(p[0] && narrow[0] && v[0]);
}

// More tensors than one call takes, and sizes around a block's, against one tensor at a time.
TEST_P(OptCases, many_tensors) {
  ops::AdamStep op;
  op.step = 3;
  op.weight_decay = 0.1;
  op.decoupled = true;
  std::vector<Value> p, g, m, v, none;
  for (std::int64_t i = 0; i < 70; ++i) {
    const Shape shape{i == 7 ? 40000 : 1 + i * 5};
    p.push_back(ops::sin(counting(shape, static_cast<double>(i))));
    g.push_back(ops::cos(counting(shape, static_cast<double>(i))));
    m.push_back(ops::full_like(p.back(), 0.1));
    v.push_back(ops::full_like(p.back(), 0.2));
  }
  std::vector<Value> together = p, m2 = m, v2 = v;
  ops::adam_step(op, together, g, m2, v2, none);
  for (std::size_t i = 0; i < p.size(); ++i) {
    std::vector<Value> one{p[i]}, m1{m[i]}, v1{v[i]};
    ops::adam_step(op, one, {g[i]}, m1, v1, none);
    expect_equal(together[i], one[0], 0);
    expect_equal(v2[i], v1[0], 0);
  }
}

// A tensor that nobody else holds is updated where it lies; a shared one is not touched.
TEST(Optim, updates_in_place) {
  const std::unique_ptr<Backend> backend = backend::find("portable").create(0);
  std::vector<Value> p{ops::full(*backend, {100}, 1, DType::f32)};
  std::vector<Value> none;
  const std::vector<Value> g{ops::full(*backend, {100}, 1, DType::f32)};
  const void* before = backend::host(p[0]).data();
  ops::sgd_step({.lr = 0.5}, p, g, none);
  EXPECT_EQ(backend::host(p[0]).data(), before);
  const Value kept = p[0];
  ops::sgd_step({.lr = 0.5}, p, g, none);
  EXPECT_NE(backend::host(p[0]).data(), before);
  EXPECT_EQ(backend->read(kept).at(99), 0.5);
  EXPECT_EQ(backend->read(p[0]).at(99), 0.0);
}

}  // namespace
}  // namespace sinter
