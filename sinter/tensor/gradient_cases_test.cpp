// SPDX-License-Identifier: MIT OR Apache-2.0
// Cases of gradients through tensors' methods, with the values they must give.
#include "sinter/ops/op.hpp"
#include "sinter/tensor/cases_test.hpp"
#include "sinter/tensor/functional.hpp"

namespace sinter::testing {
namespace {

using F1 = Tensor<1>;
using F2 = Tensor<2>;
using F4 = Tensor<4>;

// The gradient of f(x).sum() at x.
template <int D, class F>
Tensor<D> gradient(const Tensor<D>& x, F&& f) {
  const Tensor<D> leaf = x.require_grad();
  return *leaf.grad(f(leaf).sum().backward());
}

TEST(Cases, GRD_01_cumprod_at_zero) {
  on_each_autodiff([] {
    expect_values(gradient(F1::from({2, 0, 3, 4}), [](const F1& x) { return x.cumprod(0); }),
                  {1, 32, 0, 0});
  });
}

TEST(Cases, GRD_02_prod_at_zero) {
  on_each_autodiff([] {
    const auto prod = [](const F1& x) { return x.prod(); };
    expect_values(gradient(F1::from({2, 0, 3, 4}), prod), {0, 24, 0, 0});
    expect_values(gradient(F1::from({0, 0, 3}), prod), {0, 0, 0});
    expect_values(gradient(F1::from({0}), prod), {1});
    const auto rows = F2::from({{2, 3, 4}, {2, 0, 4}, {0, 0, 4}});
    expect(gradient(rows, [](const F2& x) { return x.prod(1); }), {3, 3},
           {12, 8, 6, 0, 8, 0, 0, 0, 0});
  });
}

TEST(Cases, GRD_04_pow) {
  on_each_autodiff([] {
    const auto x = F1::from({2, 7}).require_grad(), y = F1::from({4, 2}).require_grad();
    const Gradients grads = x.pow(y).sum().backward();
    expect_values(*x.grad(grads), {32, 14}, 1e-5);
    expect_values(*y.grad(grads), {11.09035, 95.34960}, 1e-5);
    const auto zero = F1::from({0}).require_grad(), two = F1::from({2}).require_grad();
    const Gradients at_zero = zero.pow(two).sum().backward();
    expect_values(*zero.grad(at_zero), {0});
    expect_values(*two.grad(at_zero), {0});
  });
}

TEST(Cases, GRD_05_activations_far_out) {
  on_each_autodiff([] {
    expect_values(gradient(F1::from({100}), [](const F1& x) { return x.elu(); }), {1});
    expect_values(gradient(F1::from({0}), [](const F1& x) { return x.silu(); }), {0.5});
    expect_values(gradient(F1::from({100, -100}), [](const F1& x) { return x.sigmoid(); }), {0, 0});
  });
}

TEST(Cases, GRD_06_atan2) {
  on_each_autodiff([] {
    const auto y = F1::from({1}).require_grad(), x = F1::from({2}).require_grad();
    const Gradients grads = y.atan2(x).sum().backward();
    expect_values(*y.grad(grads), {0.4});
    expect_values(*x.grad(grads), {-0.2});
  });
}

TEST(Cases, GRD_08_sort) {
  on_each_autodiff([] {
    const auto weights = F1::from({10, 20, 30});
    expect_values(gradient(F1::from({3, 1, 2}), [&](const F1& x) { return x.sort(0) * weights; }),
                  {30, 10, 20});
    expect_values(gradient(F1::from({3, 1, 2}), [](const F1& x) { return x.median(0); }),
                  {0, 0, 1});
    expect_values(gradient(F1::from({1, 3, 2}), [&](const F1& x) { return x.cummax(0) * weights; }),
                  {10, 50, 0});
    expect_values(
        gradient(F1::from({1, 3, 2}), [](const F1& x) { return x.max_with_indices(0).values; }),
        {0, 1, 0});
  });
}

TEST(Cases, GRD_09_cat_and_cross) {
  on_each_autodiff([] {
    const auto a = F1::from({1, 2}), b = F1::from({1, 2, 3}).require_grad();
    const auto joined = cat({a, b}) * F1::from({1, 2, 3, 4, 5});
    expect_values(*b.grad(joined.sum().backward()), {3, 4, 5});
    const auto u = F1::from({1, 2, 3}).require_grad(), v = F1::from({4, 5, 6}).require_grad();
    const Gradients grads = u.cross(v).slice(0).backward();
    expect_values(*u.grad(grads), {0, 6, -5});
    expect_values(*v.grad(grads), {0, -3, 2});
  });
}

// The gradient of f at each of `leaves` against central differences, in f64.
template <int D, class F>
void expect_slopes(const Tensor<D>& at, F&& f) {
  const std::vector<double> found = gradient(at, f).to_data().to_doubles();
  const double h = 1e-5;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<double> step(found.size(), 0);
    step[i] = h;
    const auto d = Tensor<D>::from_span(step, at.shape());
    const double slope = (f(at + d).sum().item() - f(at - d).sum().item()) / (2 * h);
    EXPECT_NEAR(found[i], slope, 1e-5 * std::max(1.0, std::abs(slope))) << "element " << i;
  }
}
template <int D>
Tensor<D> waves(const Shape& shape, double phase) {
  return (F1::arange(0, num_elements(shape), 1, {}, DType::f64) * 0.7 + phase)
      .sin()
      .template reshape<D>(shape);
}

TEST(Cases, GRD_10_updates_along_dim_1_with_duplicates) {
  on_each_autodiff([] {
    const auto x = waves<2>({3, 4}, 0.1), few = waves<2>({2, 3}, 0.9);
    const auto rows = Tensor<2, Int>::from({{3, 0, 3}, {1, 1, 2}});  // fewer rows, and repeated
    const auto weight = waves<2>({3, 4}, 2);
    const auto columns = waves<2>({3, 3}, 1.3);
    const auto index = Tensor<1, Int>::from({2, 0, 2});
    for (const IndexUpdate update : {IndexUpdate::add, IndexUpdate::assign}) {
      SCOPED_TRACE(static_cast<int>(update));
      expect_slopes(x, [&](const F2& y) { return y.scatter(1, rows, few, update) * weight; });
      expect_slopes(few, [&](const F2& v) { return x.scatter(1, rows, v, update) * weight; });
      expect_slopes(
          x, [&](const F2& y) { return y.select_assign(1, index, columns, update) * weight; });
      expect_slopes(columns,
                    [&](const F2& v) { return x.select_assign(1, index, v, update) * weight; });
    }
  });
}

TEST(Cases, GRD_13_rebuilt_by_slice_assign) {
  on_each_autodiff([] {
    const auto start = F2::zeros({2, 2}).require_grad();
    // A result of an operation is no leaf, and taking a step needs one: it says so.
    const F2 rebuilt = start.slice_assign(F2::ones({1, 2}), range(0, 1));
    EXPECT_FALSE(autodiff::is_leaf(rebuilt.value()));
    const F2 leaf = rebuilt.detach().require_grad();
    EXPECT_TRUE(autodiff::is_leaf(leaf.value()));
    const Gradients grads = (leaf * 3).sum().backward();
    expect_values(*leaf.grad(grads), {3, 3, 3, 3});
    expect_values(leaf.inner() - *leaf.grad(grads), {-2, -2, -3, -3});
  });
}

// x^2 whose gradient is itself computed by a backward pass.
struct SquareByBackward {
  static constexpr OpInfo info{.name = "square_by_backward", .saves = {.inputs = 1}};
  static void infer(const OpCall& call, Specs& outputs) {
    outputs.push_back({call.inputs[0].shape(), call.inputs[0].dtype()});
  }
  static void decompose(const OpCall& call, Outputs& outputs) {
    outputs.push_back(ops::mul(call.inputs[0], call.inputs[0]));
  }
  static void backward(GradCall& call) {
    const Device device = Device(call.input(0).backend()).autodiff();
    const auto x = DynTensor::from_inner(DynTensor(call.input(0)), device).require_grad();
    const Gradients grads = (x * x).sum().backward();
    call.set(0, ops::mul(x.grad(grads)->value(), call.grad()));
  }
};

TEST(Cases, GRD_14_backward_within_backward) {
  on_each_autodiff([] {
    const auto x = F1::from({1, -2, 3});
    expect_values(gradient(x,
                           [](const F1& v) {
                             return F1(apply(SquareByBackward{}, {v.value()})) *
                                    F1::from({1, 10, 100});
                           }),
                  {2, -40, 600});
  });
}

TEST(Cases, GRD_17_conv_transpose_with_stride) {
  on_each_autodiff([] {
    const auto x = waves<4>({1, 2, 3, 2}, 0.4), weight = waves<4>({2, 1, 2, 3}, 1.1);
    for (const functional::ConvTransposeOptions& options :
         {functional::ConvTransposeOptions{.stride = {2, 2}},
          {.stride = {2, 1}, .padding = {1, 0}, .output_padding = {1, 0}},
          {.stride = {1, 3}, .dilation = {2, 1}},
          {.stride = {2, 3}, .padding = {0, 1}, .dilation = {3, 2}, .output_padding = {1, 1}}}) {
      const auto f = [&](const F4& a, const F4& w) {
        const F4 y = functional::conv_transpose2d(a, w, {}, options);
        return y * y;
      };
      expect_slopes(x, [&](const F4& a) { return f(a, weight); });
      expect_slopes(weight, [&](const F4& w) { return f(x, w); });
    }
  });
}

TEST(Cases, GRD_16_broadcast) {
  on_each_autodiff([] {
    const auto a = F2::from({{1}, {2}}).require_grad(), b = F2::from({{1, 2, 3}}).require_grad();
    const Gradients grads = (a * b).sum().backward();
    expect(*a.grad(grads), {2, 1}, {6, 6});
    expect(*b.grad(grads), {1, 3}, {3, 3, 3});
  });
}

TEST(Cases, GRD_18_second_derivative) {
  on_each_device([] {
    const Device once = Device().autodiff(), twice = once.autodiff();
    const auto x = Tensor<0>::from(2, twice).require_grad();
    const auto first = *x.grad((x * x * x).backward());
    EXPECT_NEAR(first.item(), 12, 1e-5);
    const auto second = first.backward();
    EXPECT_NEAR(x.inner().grad(second)->item(), 12, 1e-5);
  });
}

TEST(Cases, GRD_21_hooks_and_detach) {
  on_each_autodiff([] {
    const auto x = Tensor<0>::from(3).require_grad();
    double seen = 0;
    autodiff::register_hook(x.value(), [&](const Value& g) {
      seen = Tensor<0>(g).item();
      return Value();
    });
    EXPECT_EQ(x.grad((x * x + x).backward())->item(), 7);
    EXPECT_EQ(seen, 7);
    EXPECT_EQ(x.grad((x.detach() * x + x).backward())->item(), 4);
  });
}

TEST(Cases, GRD_22_topk) {
  on_each_autodiff([] {
    const auto weights = F1::from({10, 20});
    expect_values(gradient(F1::from({1, 3, 2}), [&](const F1& x) { return x.topk(2) * weights; }),
                  {0, 10, 20});
  });
}

TEST(Gradients, unselected_side_of_where) {
  on_each_autodiff([] {
    const auto a = F1::from({inf, nan, 1}).require_grad(), b = F1::from({1, 2, nan}).require_grad();
    const auto y = where(Tensor<1, Bool>::from({false, false, true}), a, b);
    const Gradients grads = y.sum().backward();
    expect_values(*a.grad(grads), {0, 0, 1});
    expect_values(*b.grad(grads), {1, 1, 0});
  });
}

TEST(Gradients, absent_for_what_took_no_part) {
  on_each_autodiff([] {
    const auto x = F1::from({1}).require_grad(), other = F1::from({1}).require_grad();
    EXPECT_FALSE(other.grad(x.sum().backward()).has_value());
  });
}

// Finite differences of formulas that are not single ops.
TEST(Gradients, derived_formulas) {
  on_each_autodiff([] {
    const auto at = Tensor<2>::from({{0.3, -1.2, 0.7}, {1.1, 0.4, -0.6}}, {}, DType::f64);
    const auto check = [&](const char* name, auto f) {
      SCOPED_TRACE(name);
      expect_slopes(at, f);
    };
    check("var", [](const F2& x) { return x.var(1) * x.mean(1); });
    check("std", [](const F2& x) { return x.std(0); });
    check("cov", [](const F2& x) { return x.cov(0).square(); });
    check("norm", [](const F2& x) { return x.norm(3, 1); });
    check("shrink", [](const F2& x) { return x.shrink(0.5, 0.1).square(); });
    check("cosine", [](const F2& x) { return cosine_similarity(x, x.flip({1}), 1); });
    check("kron", [](const F2& x) { return x.kron(x).square(); });
    check("einsum", [](const F2& x) { return einsum<2>("ij,kj->ik", x, x).square(); });
    check("diagonal",
          [](const F2& x) { return einsum<2>("ii,ij->ij", x.narrow(1, 0, 2), x).square(); });
    check("prelu", [](const F2& x) { return x.prelu(F1::from({0.3}, {}, DType::f64)); });
  });
}

}  // namespace
}  // namespace sinter::testing
