// SPDX-License-Identifier: MIT OR Apache-2.0
// The tensors' surface beyond the cases: creation, shapes, joins, operators, reading, ownership.
#include "sinter/tensor/functional.hpp"

#include "sinter/tensor/cases_test.hpp"

namespace sinter::testing {
namespace {

using F1 = Tensor<1>;
using F2 = Tensor<2>;
using I1 = Tensor<1, Int>;
using I2 = Tensor<2, Int>;

template <class T>
concept HasExp = requires(const T& x) { x.exp(); };
static_assert(HasExp<F1> && HasExp<DynTensor> && !HasExp<I1>);
template <class T>
concept HasDot = requires(const T& x) { x.dot(x); };
static_assert(HasDot<F1> && !HasDot<F2>);
static_assert(std::is_same_v<decltype(F2().sum(1)), F1>);
static_assert(std::is_same_v<decltype(F2().sum()), Tensor<0>>);
static_assert(std::is_same_v<decltype(Tensor<3>().slice(0, all, range(0, 1))), F2>);
static_assert(std::is_same_v<decltype(F2().argmax(1)), I1>);
static_assert(std::is_same_v<decltype(F1() + F2()), F2>);

TEST(Surface, creation) {
  on_each_device([] {
    expect(Tensor<3>::from({{{1, 2}, {3, 4}}}), {1, 2, 2}, {1, 2, 3, 4});
    expect(Tensor<4, Int>::from({{{{1}, {2}}}}), {1, 1, 2, 1}, {1, 2});
    expect(Tensor<2, Bool>::from({{true, false}}), {1, 2}, {1, 0});
    expect(Tensor<0>::from(2.5), {}, {2.5});
    const std::vector<std::int32_t> ints{1, 2, 3};
    const auto x = I1::from_span(ints, {3});
    EXPECT_EQ(x.dtype(), DType::i32);
    expect(F2::eye(2, 3), {2, 3}, {1, 0, 0, 0, 1, 0});
    expect_values(F1::logspace(0, 2, 3), {1, 10, 100});
    expect_values(F1::from({1, 2}).ones_like(), {1, 1});
    expect_values(I1::randperm(50).sort(), I1::arange(50).to_vector<double>());
    EXPECT_THROW((void)F2::from({{1, 2}, {3}}), ShapeError);
    EXPECT_THROW((void)I1::from({1.5}), DTypeError);
    EXPECT_EQ(F2::from({{}, {}}).shape(), (Shape{2, 0}));
  });
}

TEST(Surface, seeds_repeat) {
  on_each_device([] {
    const Device device;
    device.seed(7);
    const auto a = F1::random({10}, Distribution::normal());
    const auto b = F1::random({10}, Distribution::normal());
    device.seed(7);
    EXPECT_TRUE(a.all_close(F1::random({10}, Distribution::normal()), 0, 0));
    EXPECT_FALSE(a.all_close(b));
  });
}

TEST(Surface, memory_of_the_caller) {
  on_each_device([] {
    static int released = 0;
    released = 0;
    alignas(64) static float memory[64] = {1, 2, 3, 4};
    {
      auto x = F2::from_memory(memory, {2, 2}, [](float*) { ++released; });
      memory[3] = 40;
      expect(x, {2, 2}, {1, 2, 3, 40});
      const auto y = x.t();
      x = {};
      EXPECT_EQ(released, 0);
      expect(y, {2, 2}, {1, 3, 2, 40});
      memory[3] = 4;
    }
    EXPECT_EQ(released, 1);
  });
}

TEST(Surface, shapes) {
  on_each_device([] {
    const auto x = F1::arange(24).reshape<3>({2, 3, -1});
    EXPECT_EQ(x.movedim(0, 2).shape(), (Shape{3, 4, 2}));
    EXPECT_EQ(x.movedim({0, 1}, {2, 0}).shape(), (Shape{3, 4, 2}));
    EXPECT_EQ(x.flatten<2>(1).shape(), (Shape{2, 12}));
    EXPECT_EQ(x.unsqueeze(1).squeeze(1).shape(), x.shape());
    EXPECT_EQ(F2::zeros({1, 1}).squeeze_dims<0>().shape(), (Shape{}));
    EXPECT_THROW((void)x.squeeze(0), ShapeError);
    expect_values(F1::arange(5).roll(2, 0), {3, 4, 0, 1, 2});
    expect_values(F1::arange(3).repeat_interleave(2, 0), {0, 0, 1, 1, 2, 2});
    expect(F2::from({{1, 2}}).repeat_dim(0, 2), {2, 2}, {1, 2, 1, 2});
    expect(F2::ones({3, 3}).triu(1), {3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0});
    expect_values(F2::from({{1, 2}, {3, 4}}).diag(), {1, 4});
    expect(F1::from({1, 2}).diag(), {2, 2}, {1, 0, 0, 2});
    expect(triu_mask<2>({2, 2}), {2, 2}, {1, 1, 0, 1});
    expect(tril_mask<2>({2, 3}, 1), {2, 3}, {1, 1, 0, 1, 1, 1});
  });
}

TEST(Surface, joins_and_splits) {
  on_each_device([] {
    const auto a = F2::from({{1, 2}}), b = F2::from({{3, 4}, {5, 6}});
    expect(cat({a, b}), {3, 2}, {1, 2, 3, 4, 5, 6});
    expect(stack({a, a}, 1), {1, 2, 2}, {1, 2, 1, 2});
    EXPECT_THROW((void)cat({a, b}, 1), ShapeError);
    std::vector<std::int64_t> sizes;
    for (const F1& part : F1::arange(7).chunk(3)) {
      sizes.push_back(part.size(0));
    }
    EXPECT_EQ(sizes, (std::vector<std::int64_t>{3, 3, 1}));
    const auto parts = F1::arange(5).split_with_sizes({1, 4});
    expect_values(parts[1], {1, 2, 3, 4});
    EXPECT_EQ(b.unbind().size(), 2u);
    expect_values(b.unbind(1)[1], {4, 6});
    EXPECT_EQ(b.iter_dim(0)[1].shape(), (Shape{1, 2}));
    const auto grids = meshgrid(F1::from({1, 2}), F1::from({3, 4, 5}));
    expect(grids[0], {2, 3}, {1, 1, 1, 2, 2, 2});
    expect(cartesian_grid<3>({1, 2}), {1, 2, 2}, {0, 0, 0, 1});
  });
}

TEST(Surface, operators) {
  on_each_device([] {
    const auto row = F1::from({1, 2}), x = row;
    const auto m = F2::from({{1, 2}, {3, 4}});
    expect(row + m, {2, 2}, {2, 4, 4, 6});
    expect(m - row, {2, 2}, {0, 0, 2, 2});
    expect_values(1 - x, {0, -1});
    expect_values(2 / x, {2, 1});
    auto y = x;
    y *= 3;
    expect_values(y, {3, 6});
    expect_values(x, {1, 2});
    expect_values(-x, {-1, -2});
    EXPECT_THROW((void)(I1::from({1}) + 0.5), DTypeError);
  });
}

TEST(Surface, products) {
  on_each_device([] {
    const auto a = F1::from({1, 2, 3}), b = F1::from({4, 5, 6});
    EXPECT_EQ(a.dot(b).item(), 32);
    expect(a.outer(F1::from({1, 10})), {3, 2}, {1, 10, 2, 20, 3, 30});
    const auto m = F2::from({{1, 2}, {3, 4}});
    expect_values(m.matvec(F1::from({1, 1})), {3, 7});
    EXPECT_EQ(m.trace().item(), 5);
    expect(einsum<2>("ij,jk->ik", m, m), {2, 2}, {7, 10, 15, 22});
    expect(einsum<2>("ij->ji", m), {2, 2}, {1, 3, 2, 4});
    expect(einsum<0>("ij,ij->", m, m), {}, {30});
    expect(einsum<1>("ij,j,i->j", m, F1::from({1, 10}), F1::from({1, 2})), {2}, {7, 100});
    const auto batch = F1::arange(12).reshape<3>({3, 2, 2});
    expect_values(einsum<3>("bij,bjk->bik", batch, batch) - batch.matmul(batch),
                  std::vector<double>(12, 0));
    expect(einsum<1>("ii->i", m), {2}, {1, 4});
    expect(einsum<0>("ii", m), {}, {5});
    const auto cube = F1::arange(27).reshape<3>({3, 3, 3});
    expect(einsum<1>("iii->i", cube), {3}, {0, 13, 26});
    expect(einsum<2>("iji->ji", cube), {3, 3}, {0, 10, 20, 3, 13, 23, 6, 16, 26});
    expect(einsum<2>("ijj->ji", cube), {3, 3}, {0, 9, 18, 4, 13, 22, 8, 17, 26});
    expect(einsum<0>("ii,jj->", m, m), {}, {25});
    expect(einsum<1>("ii,ij->j", m, m), {2}, {13, 18});
    EXPECT_THROW((void)einsum<1>("ii->i", F2::zeros({2, 3})), ShapeError);
    EXPECT_THROW((void)einsum<2>("ij->ii", m), ArgumentError);
    EXPECT_THROW((void)einsum<2>("ij,jk->iz", m, m), ArgumentError);
    EXPECT_THROW((void)einsum<2>("ij,jk->ik", m, F2::zeros({3, 2})), ShapeError);
    expect(tensordot<2>(m, m, 1), {2, 2}, {7, 10, 15, 22});
    expect(addmm(F2::ones({2, 2}), m, m, 2, 1), {2, 2}, {9, 12, 17, 24});
    expect(F2::from({{1, 2}}).kron(F2::from({{1}, {10}})), {2, 2}, {1, 2, 10, 20});
    EXPECT_NEAR(cosine_similarity(a, b, 0).item(), 32 / std::sqrt(14.0 * 77), 1e-6);
  });
}

TEST(Surface, indices) {
  on_each_device([] {
    const auto x = F2::from({{1, 2, 3}, {4, 5, 6}});
    expect(x.gather(1, I2::from({{2, 0}, {1, 1}})), {2, 2}, {3, 1, 5, 5});
    expect(x.scatter(1, I2::from({{0, 0}, {2, 1}}), F2::from({{1, 1}, {1, 1}})), {2, 3},
           {3, 2, 3, 4, 6, 7});
    expect(x.take(1, I2::from({{0}, {2}})), {2, 2, 1}, {1, 3, 4, 6});
    expect(x.gather_nd<1>(I2::from({{1, 2}, {0, 0}})), {2}, {6, 1});
    expect_values(x.select_dim(1, -1), {3, 6});
    expect(x.index(-1), {1, 3}, {4, 5, 6});
    expect(x.slice_dim(1, range(none, none, 2)), {2, 2}, {1, 3, 4, 6});
    expect(x.slice_fill(0, all, 1), {2, 3}, {1, 0, 3, 4, 0, 6});
    EXPECT_THROW((void)x.index(2), IndexError);
    EXPECT_THROW((void)x.select(0, I1::from({2})).to_data(), IndexError);
  });
}

TEST(Surface, activations) {
  on_each_device([] {
    const auto x = F1::from({-2, -0.2, 0.2, 2});
    expect_values(x.leaky_relu(0.1), {-0.2, -0.02, 0.2, 2});
    expect_values(x.clamp(-1, 1), {-1, -0.2, 0.2, 1});
    expect_values(x.clamp_min(0), {0, 0, 0.2, 2});
    expect_values(F1::from({7, nan}).relu6(), {6, nan});
    expect_values(x.shrink(0.5, 0.1), {-1.9, 0, 0, 1.9});
    expect_values(x.prelu(F1::from({0.5})), {-1, -0.1, 0.2, 2});
    expect_values(x.tanhshrink(), {-2 + std::tanh(2.0), -0.2 + std::tanh(0.2), 0.2 - std::tanh(0.2),
                                   2 - std::tanh(2.0)});
    expect_values(F1::from({1, 2, 3, 4}).glu(), {0.952574, 1.964028});
    expect_values(F1::from({1, 2}).quiet_softmax(), {0.244728, 0.665241});
    expect_values(F1::from({1, 2}).softmax(), {0.2689414, 0.7310586});
    expect_values(F1::from({nan, inf, -inf, 1}).nan_to_num(0, 9, -9), {0, 9, -9, 1});
    expect_values(F1::from({0, 10}).lerp(F1::from({10, 20}), 0.5), {5, 15});
    expect_values(F1::from({1, 4, 9}).diff(), {3, 5});
  });
}

TEST(Surface, functions_of_modules) {
  on_each_device([] {
    const auto image = F1::arange(1, 13).reshape<4>({1, 1, 3, 4});
    const auto kernel = F1::from({1, 2, 3}).reshape<4>({1, 1, 1, 3});
    expect_values(functional::conv2d(image, kernel), {14, 20, 38, 44, 62, 68});
    expect_values(functional::max_pool(image, {.kernel = {2, 2}}), {6, 8});
    expect_values(functional::avg_pool(F1::from({1, 2, 3, 4, 5}).reshape<3>({1, 1, 5}),
                                       {.kernel = {2}, .stride = {2}, .ceil_mode = true}),
                  {1.5, 3.5, 5});
    expect_values(functional::adaptive_avg_pool(F1::arange(1, 6).reshape<3>({1, 1, 5}), {3}),
                  {1.5, 3, 4.5});
    expect_values(functional::interpolate(F1::from({1, 2, 3}).reshape<3>({1, 1, 3}), {5},
                                          {.mode = InterpolateMode::linear, .align_corners = true}),
                  {1, 1.5, 2, 2.5, 3});
    expect_values(
        functional::linear(F1::from({1, 2}), F2::from({{1, 2}, {3, 4}}), F1::from({10, 20})),
        {17, 30});
    expect_values(functional::layer_norm(F2::from({{0, 0.002}})), {-0.301511, 0.301511}, 1e-4);
    EXPECT_NEAR(functional::cross_entropy(F2::from({{1000, 0}}), I1::from({1})).item(), 1000, 1e-3);
    EXPECT_EQ(functional::mse_loss(F1::from({1, 2}), F1::from({1, 4})).item(), 2);
    const auto q = F1::from({1, 2}).reshape<3>({1, 2, 1});
    const auto mask = Tensor<3, Bool>::from({{{false, false}, {true, true}}});
    const auto y = functional::attention(q, q, q, mask);
    EXPECT_EQ(y.slice(0, 0, 0).item(), 0);
  });
}

TEST(Cases, MEM_12_transaction) {
  on_each_device([] {
    Transaction read;
    read.add(F1::from({1})).add(I1::from({2})).add(F1::from({3}, {}, DType::f16));
    read.add(Tensor<1, Bool>::from({true})).add(I1::from({5}, {}, DType::u8));
    const std::vector<HostData> data = read.execute();
    ASSERT_EQ(data.size(), 5u);
    const DType dtypes[] = {DType::f32, DType::i64, DType::f16, DType::boolean, DType::u8};
    const double values[] = {1, 2, 3, 1, 5};
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(data[i].dtype(), dtypes[i]);
      EXPECT_EQ(data[i].at(0), values[i]);
    }
    EXPECT_TRUE(read.execute().empty());
    PendingData later = F1::from({1, 2}).to_data_async();
    EXPECT_EQ(later.get().at(1), 2);
    EXPECT_THROW((void)later.get(), ArgumentError);
  });
}

// A live second handle is never changed, whatever is moved into an operation.
TEST(Ownership, only_sole_handles_are_overwritten) {
  on_each_device([] {
    const auto make = [] { return F1::from({1, 2, 3}); };
    const auto check = [&](auto op) {
      F1 x = make();
      const F1 other = x, view = x.slice(range(1, none));
      const auto y = op(std::move(x));
      expect_values(other, {1, 2, 3});
      expect_values(view, {2, 3});
      const auto alone = op(make());
      expect_values(alone, y.to_data().to_doubles());
    };
    check([](F1 x) { return std::move(x) + 1; });
    check([](F1 x) { return std::move(x).exp(); });
    check([](F1 x) { return std::move(x).mul(2); });
    check([](F1 x) { return std::move(x).leaky_relu(); });
    check([](F1 x) { return std::move(x).clamp(1.5, 2.5); });
    check([](F1 x) { return 1 - std::move(x); });
    check([](F1 x) { return std::move(x).slice_fill(0, range(1, 2)); });
    check(
        [](F1 x) { return std::move(x).mask_fill(Tensor<1, Bool>::from({true, false, true}), 7); });
    check([](F1 x) { return std::move(x).select_assign(0, I1::from({0, 0}), F1::from({1, 1})); });
    check([](F1 x) {
      const F1 reversed = x.flip({0});
      return std::move(x).slice_assign(reversed, all);
    });
    check([](F1 x) {
      const F1 same = x;
      return std::move(x) * same;
    });
    const auto square = F2::from({{1, 2}, {3, 4}});
    expect(square + square.t(), {2, 2}, {2, 5, 5, 8});
    expect(square, {2, 2}, {1, 2, 3, 4});
  });
}

}  // namespace
}  // namespace sinter::testing
