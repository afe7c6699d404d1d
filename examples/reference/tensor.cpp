// SPDX-License-Identifier: MIT OR Apache-2.0
// sinter/tensor: every method and function of tensors, in one line each with what it gives.
#include "expect.hpp"

#include <sinter/sinter.hpp>

using namespace sinter;
using F1 = Tensor<1>;
using F2 = Tensor<2>;
using F3 = Tensor<3>;
using I1 = Tensor<1, Int>;
using B1 = Tensor<1, Bool>;

static const double nan_ = std::nan("");

static void creation() {
  EXPECT(holds(F2::from({{1, 2}, {3, 4}}), {1, 2, 3, 4}));
  EXPECT(Tensor<0>::from(5).item() == 5);
  EXPECT(holds(F1::from_data(HostData(Shape{2}, DType::f32)), {0, 0}));
  const std::vector<float> numbers{1, 2, 3, 4};
  EXPECT(F2::from_span(numbers, {2, 2}).size(1) == 2);
  float memory[] = {7, 8};
  EXPECT(holds(F1::from_memory(memory, {2}, [](float*) {}), {7, 8}));
  EXPECT(holds(F1::full({2}, 9), {9, 9}));
  EXPECT(holds(F1::zeros({2}), {0, 0}) && holds(F1::ones({2}), {1, 1}));
  EXPECT(F1::empty({3}).num_elements() == 3);
  const F1 like = F1::from({1, 2}, {}, DType::f64);
  EXPECT(like.ones_like().dtype() == DType::f64 && holds(like.full_like(3), {3, 3}));
  EXPECT(holds(like.zeros_like(), {0, 0}) && like.empty_like().shape() == like.shape());
  EXPECT(F1::random({100}, Distribution::uniform(2, 3)).min().item() >= 2);
  EXPECT(like.random_like().shape() == like.shape());
  EXPECT(I1::randperm(5).sum().item() == 10);
  EXPECT(holds(I1::arange(3), {0, 1, 2}) && holds(F1::arange(0, 1, 0.5), {0, 0.5}));
  EXPECT(holds(F1::linspace(0, 1, 3), {0, 0.5, 1}));
  EXPECT(holds(F1::logspace(0, 2, 3), {1, 10, 100}));
  EXPECT(holds(F2::eye(2), {1, 0, 0, 1}) && F2::eye(2, 3).size(1) == 3);
}

static void properties_and_reading() {
  const F2 x = F2::from({{1, 2, 3}, {4, 5, 6}});
  const auto [rows, columns] = x.dims();
  EXPECT(rows == 2 && columns == 3 && x.rank() == 2 && x.size(-1) == 3);
  EXPECT(x.is_set() && !F2().is_set());
  EXPECT(x.shape() == Shape{2, 3} && x.dtype() == DType::f32 && x.num_elements() == 6);
  EXPECT(x.device() == Device());
  EXPECT(x.to_data().at(5) == 6 && x.to_data_async().get().at(0) == 1);
  EXPECT(x.to_vector<int>()[3] == 4 && x.slice(0, 0).item<int>() == 1);
  EXPECT(x.str().find("shape=[2, 3]") != std::string::npos);
  Transaction read;
  read.add(x).add(x.sum());
  EXPECT(read.execute()[1].at(0) == 21);
  EXPECT(x.to_int().dtype() == DType::i64 && holds(x.to_bool(), {1, 1, 1, 1, 1, 1}));
  EXPECT(x.cast<Int>(DType::u8).to_float().dtype() == DType::f32);
  EXPECT(x.to_device(Device::reference()).device() == Device::reference());
}

static void operators() {
  const F1 a = F1::from({1, -2}), b = F1::from({3, 4});
  EXPECT(holds(a + b, {4, 2}) && holds(a - 1, {0, -3}) && holds(2 * a, {2, -4}));
  EXPECT(holds(b / 2, {1.5, 2}) && holds(a % 3, {1, 1}) && holds(-a, {-1, 2}));
  F1 c = a;
  c += b;
  EXPECT(holds(c, {4, 2}) && holds(a, {1, -2}));
  const I1 bits = I1::from({6, 3});
  EXPECT(holds(bits << 1, {12, 6}) && holds(bits >> 1, {3, 1}));
  EXPECT(holds(bits & I1::from({2, 2}), {2, 2}) && holds(bits | I1::from({1, 4}), {7, 7}));
  EXPECT(holds(bits ^ bits, {0, 0}) && holds(!(a > 0), {0, 1}));
  EXPECT(holds(a == 1, {1, 0}) && holds(a != 1, {0, 1}) && holds(a < b, {1, 1}));
  EXPECT(holds(a <= 1, {1, 1}) && holds(a >= 1, {1, 0}));
}

static void elementwise() {
  const F1 x = F1::from({-1, 4}), y = F1::from({2, 3}), h = F1::from({0.5});
  EXPECT(holds(x.add(y), {1, 7}) && holds(x.sub(1), {-2, 3}) && holds(x.mul(y), {-2, 12}));
  EXPECT(holds(x.div(y), {-0.5, 4.0 / 3}) && holds(x.floor_div(y), {-1, 1}));
  EXPECT(holds(x.remainder(3), {2, 1}) && holds(x.fmod(3), {-1, 1}));
  EXPECT(holds(x.maximum(y), {2, 4}) && holds(x.minimum(y), {-1, 3}) && holds(x.pow(2), {1, 16}));
  EXPECT(holds(x.hypot(y), {std::sqrt(5.0), 5}) && holds(h.atan2(h), {0.785398}));
  EXPECT(holds(x.neg(), {1, -4}) && holds(x.abs(), {1, 4}) && holds(x.sign(), {-1, 1}));
  EXPECT(holds(x.square(), {1, 16}) && holds(x.recip(), {-1, 0.25}));
  const F1 r = F1::from({-1.5, 2.5});
  EXPECT(holds(r.floor(), {-2, 2}) && holds(r.ceil(), {-1, 3}) && holds(r.trunc(), {-1, 2}));
  EXPECT(holds(r.round(), {-2, 2}));
  EXPECT(holds(h.exp(), {1.648721}) && holds(h.exp2(), {1.414214}) && holds(h.expm1(), {0.648721}));
  EXPECT(holds(h.log(), {-0.693147}) && holds(h.log2(), {-1}) && holds(h.log10(), {-0.301030}));
  EXPECT(holds(h.log1p(), {0.405465}) && holds(h.sqrt(), {0.707107}));
  EXPECT(holds(h.rsqrt(), {1.414214}) && holds(h.erf(), {0.520500}));
  EXPECT(holds(h.sin(), {0.479426}) && holds(h.cos(), {0.877583}) && holds(h.tan(), {0.546302}));
  EXPECT(holds(h.asin(), {0.523599}) && holds(h.acos(), {1.047198}) && holds(h.atan(), {0.463648}));
  EXPECT(holds(h.sinh(), {0.521095}) && holds(h.cosh(), {1.127626}) && holds(h.tanh(), {0.462117}));
  EXPECT(holds(h.asinh(), {0.481212}) && holds((h + 1).acosh(), {0.962424}));
  EXPECT(holds(h.atanh(), {0.549306}) && holds(h.deg2rad().rad2deg(), {0.5}));
  EXPECT(holds(x.equal(4), {0, 1}) && holds(x.not_equal(4), {1, 0}) && holds(x.less(y), {1, 0}));
  EXPECT(holds(x.less_equal(4), {1, 1}) && holds(x.greater(0), {0, 1}));
  EXPECT(holds(x.greater_equal(5), {0, 0}));
  const B1 t = B1::from({true, false}), f = B1::from({true, true});
  EXPECT(holds(t.logical_and(f), {1, 0}) && holds(t.logical_or(f), {1, 1}));
  EXPECT(holds(t.logical_xor(f), {0, 1}) && holds(t.logical_not(), {0, 1}));
  const F1 odd = F1::from({nan_, INFINITY, 1});
  EXPECT(holds(odd.is_nan(), {1, 0, 0}) && holds(odd.is_inf(), {0, 1, 0}));
  EXPECT(holds(odd.is_finite(), {0, 0, 1}) && holds(odd.nan_to_num(0, 9, -9), {0, 9, 1}));
  EXPECT(odd.contains_nan().item() == 1);
  const I1 bits = I1::from({6});
  EXPECT(holds(bits.bitwise_and(3), {2}) && holds(bits.bitwise_or(1), {7}));
  EXPECT(holds(bits.bitwise_xor(2), {4}) && holds(bits.bitwise_not(), {-7}));
  EXPECT(holds(bits.bitwise_left_shift(1), {12}) && holds(bits.bitwise_right_shift(1), {3}));
  EXPECT(holds(x.clamp(0, 1), {0, 1}) && holds(x.clamp_min(0), {0, 4}));
  EXPECT(holds(x.clamp_max(0), {-1, 0}) && holds(x.lerp(y, 0.5), {0.5, 3.5}));
  EXPECT(holds(x.is_close(x), {1, 1}) && x.all_close(x));
}

static void activations() {
  const F1 x = F1::from({-2, 2});
  EXPECT(holds(x.relu(), {0, 2}) && holds((x * 4).relu6(), {0, 6}));
  EXPECT(holds(x.sigmoid(), {0.119203, 0.880797}) &&
         holds(x.log_sigmoid(), {-2.126928, -0.126928}));
  EXPECT(holds(x.silu(), {-0.238406, 1.761594}) && holds(x.gelu(), {-0.045500, 1.954500}));
  EXPECT(holds(x.gelu_approximate(), {-0.045402, 1.954598}));
  EXPECT(holds(x.mish(), {-0.252501, 1.943959}) && holds(x.softsign(), {-0.666667, 0.666667}));
  EXPECT(holds(x.selu(), {-1.520166, 2.101402}) && holds(x.hard_swish(), {-0.333333, 1.666667}));
  EXPECT(holds(x.hardtanh(), {-1, 1}) && holds(x.leaky_relu(0.1), {-0.2, 2}));
  EXPECT(holds(x.elu(), {-0.864665, 2}) && holds(x.celu(), {-0.864665, 2}));
  EXPECT(holds(x.softplus(), {0.126928, 2.126928}) && holds(x.hard_sigmoid(), {1.0 / 6, 5.0 / 6}));
  EXPECT(holds(x.threshold(1, 7), {7, 2}) && holds(x.thresholded_relu(1), {0, 2}));
  EXPECT(holds(x.hard_shrink(), {-2, 2}) && holds(x.soft_shrink(), {-1.5, 1.5}));
  EXPECT(holds(x.shrink(0.5, 0.1), {-1.9, 1.9}) && holds(x.tanhshrink(), {-1.035972, 1.035972}));
  EXPECT(holds(x.prelu(F1::from({0.5})), {-1, 2}) && holds(x.glu(), {-1.761594}));
  EXPECT(holds(x.softmax(), {0.017986, 0.982014}) &&
         holds(x.log_softmax(), {-4.018150, -0.018150}));
  EXPECT(holds(x.quiet_softmax(), {0.015876, 0.866814}) &&
         holds(x.softmin(), {0.982014, 0.017986}));
}

static void shapes() {
  const F2 x = F2::from({{1, 2, 3}, {4, 5, 6}});
  EXPECT(x.reshape({3, -1}).size(1) == 2 && x.reshape<1>({6}).rank() == 1);
  EXPECT(holds(x.t(), {1, 4, 2, 5, 3, 6}) && holds(x.transpose(), {1, 4, 2, 5, 3, 6}));
  EXPECT(x.permute({1, 0}).size(0) == 3 && x.swap_dims(0, 1).size(0) == 3);
  EXPECT(x.movedim(0, 1).size(0) == 3 && x.flatten<1>().size(0) == 6);
  EXPECT(x.unsqueeze(0).squeeze(0).shape() == x.shape());
  EXPECT(x.unsqueeze_dims<4>({-1, -1}).squeeze_dims<2>().shape() == x.shape());
  EXPECT(F1::from({1, 2}).expand<2>({3, 2}).size(0) == 3);
  EXPECT(holds(x.flip({1}), {3, 2, 1, 6, 5, 4}) && holds(x.narrow(1, 1, 1), {2, 5}));
  EXPECT(holds(x.t().contiguous(), {1, 4, 2, 5, 3, 6}));
  EXPECT(F1::arange(6).unfold(0, 3).size(0) == 4);
  EXPECT(holds(x.roll(1, 1), {3, 1, 2, 6, 4, 5}) &&
         holds(F1::from({1, 2}).repeat({2}), {1, 2, 1, 2}));
  EXPECT(holds(F1::from({1, 2}).repeat_interleave(2, 0), {1, 1, 2, 2}));
  EXPECT(x.repeat_dim(0, 2).size(0) == 4);
  EXPECT(x.split(2, 1).size() == 2 && x.chunk(3, 1).size() == 3);
  EXPECT(holds(x.split_with_sizes({1, 2}, 1)[1], {2, 3, 5, 6}));
  EXPECT(holds(x.unbind()[1], {4, 5, 6}) && x.iter_dim(1)[0].size(1) == 1);
  EXPECT(holds(F2::ones({2, 2}).triu(), {1, 1, 0, 1}) &&
         holds(F2::ones({2, 2}).tril(), {1, 0, 1, 1}));
  EXPECT(holds(F1::from({1, 2}).diag(), {1, 0, 0, 2}) &&
         holds(x.slice(all, range(0, 2)).diag(), {1, 5}));
  EXPECT(holds(F1::from({1, 2}).pad({1}, {1}), {0, 1, 2, 0}));
}

static void indices() {
  const F2 x = F2::from({{1, 2, 3}, {4, 5, 6}});
  const I1 last = I1::from({2});
  EXPECT(holds(x.slice(0), {1, 2, 3}) &&
         holds(x.slice(all, range(none, none, -1)), {3, 2, 1, 6, 5, 4}));
  EXPECT(holds(x.slice_assign(F1::zeros({3}), 0), {0, 0, 0, 4, 5, 6}));
  EXPECT(holds(x.slice_fill(0, all, 1), {1, 0, 3, 4, 0, 6}));
  EXPECT(holds(x.slice_dim(1, range(0, 1)), {1, 4}) && holds(x.index(-1), {4, 5, 6}));
  EXPECT(holds(x.select_dim(1, 0), {1, 4}) && holds(x.select(1, last), {3, 6}));
  EXPECT(holds(x.select_assign(1, last, F2::ones({2, 1})), {1, 2, 4, 4, 5, 7}));
  const auto each = Tensor<2, Int>::from({{2}, {0}});
  EXPECT(holds(x.gather(1, each), {3, 4}) && holds(x.take_along_dim(1, each), {3, 4}));
  EXPECT(holds(x.scatter(1, each, F2::ones({2, 1})), {1, 2, 4, 5, 5, 6}));
  EXPECT(holds(x.gather_nd<1>(Tensor<2, Int>::from({{0, 2}})), {3}));
  EXPECT(holds(F1::zeros({3}).scatter_nd(Tensor<2, Int>::from({{1}}), F1::from({7})), {0, 7, 0}));
  EXPECT(holds(x.take(1, last), {3, 6}));
  const auto large = x > 2;
  EXPECT(holds(x.mask_where(large, x.zeros_like()), {1, 2, 0, 0, 0, 0}));
  EXPECT(holds(x.mask_fill(large, 0), {1, 2, 0, 0, 0, 0}) &&
         holds(x.mask_select(large), {3, 4, 5, 6}));
  EXPECT(holds(F1::from({0, 5}).nonzero(), {1}) && holds(F1::from({0, 5}).argwhere(), {1}));
  EXPECT(holds(last.one_hot(3), {0, 0, 1}));
}

static void order_and_reductions() {
  const F2 x = F2::from({{3, 1, 2}, {6, 5, 4}});
  EXPECT(holds(x.sort(1), {1, 2, 3, 4, 5, 6}) && holds(x.sort_descending(1), {3, 2, 1, 6, 5, 4}));
  EXPECT(holds(x.sort_with_indices(1).indices, {1, 2, 0, 2, 1, 0}) &&
         holds(x.argsort(1), {1, 2, 0, 2, 1, 0}));
  EXPECT(holds(x.topk(1, 1), {3, 6}) && holds(x.argtopk(1, 1), {0, 0}));
  EXPECT(holds(x.topk_with_indices(1, 1).indices, {0, 0}));
  EXPECT(x.sum().item() == 21 && holds(x.sum(1), {6, 15}) && holds(x.sum(0, keep_dim), {9, 6, 6}));
  EXPECT(holds(x.sum<1>({0}), {9, 6, 6}) && x.sum({0, 1}, keep_dim).rank() == 2);
  EXPECT(x.prod().item() == 720 && x.mean().item() == 3.5 && x.max().item() == 6 &&
         x.min().item() == 1);
  EXPECT((x > 5).any().item() == 1 && (x > 5).all().item() == 0);
  EXPECT(holds(x.argmax(1), {0, 0}) && holds(x.argmin(1), {1, 2}));
  EXPECT(holds(x.max_with_indices(1).values, {3, 6}) &&
         holds(x.min_with_indices(1).indices, {1, 2}));
  EXPECT(holds(x.median(1), {2, 5}) && holds(x.median_with_indices(1).indices, {2, 1}));
  EXPECT((-x).max_abs().item() == 6 && holds((-x).max_abs(1), {3, 6}));
  EXPECT(holds(x.cumsum(1), {3, 4, 6, 6, 11, 15}) && holds(x.cumprod(1), {3, 3, 6, 6, 30, 120}));
  EXPECT(holds(x.cummax(1), {3, 3, 3, 6, 6, 6}) && holds(x.cummin(1), {3, 1, 1, 6, 5, 4}));
  EXPECT(holds(x.cummax_with_indices(1).indices, {0, 0, 0, 0, 0, 0}));
  EXPECT(holds(x.cummin_with_indices(1).indices, {0, 1, 1, 0, 1, 2}) &&
         holds(x.diff(), {-2, 1, -1, -1}));
  EXPECT(holds(x.var(1), {1, 1}) && holds(x.std(1), {1, 1}) &&
         near(x.var(all, 0).item(), 35.0 / 12));
  EXPECT(holds(x.var_mean(1).mean, {2, 5}) && x.cov(1).size(0) == 2);
  EXPECT(F1::from({3, 4}).norm().item() == 5 && holds(x.norm(1, 1), {6, 15}));
  EXPECT(holds(F1::from({3, 4}).normalize(), {0.6, 0.8}));
  EXPECT(near(F1::zeros({2}).logsumexp().item(), 0.693147) && x.logsumexp(1).size(0) == 2);
}

static void products() {
  const F2 m = F2::from({{1, 2}, {3, 4}});
  const F1 v = F1::from({1, 2});
  EXPECT(holds(m.matmul(m), {7, 10, 15, 22}) && holds(m.matvec(v), {5, 11}));
  EXPECT(v.dot(v).item() == 5 && holds(v.outer(v), {1, 2, 2, 4}) && m.trace().item() == 5);
  EXPECT(holds(F1::from({1, 0, 0}).cross(F1::from({0, 1, 0})), {0, 0, 1}));
  EXPECT(m.kron(m).size(0) == 4 && m.categorical(3).size(1) == 3);
  EXPECT(holds(addmm(F2::ones({2, 2}), m, m), {8, 11, 16, 23}));
  EXPECT(holds(einsum<2>("ij,jk->ik", m, m), {7, 10, 15, 22}));
  EXPECT(holds(tensordot<2>(m, m, 1), {7, 10, 15, 22}) && near(cosine_similarity(v, v).item(), 1));
  EXPECT(cat({m, m}).size(0) == 4 && stack({m, m}).rank() == 3);
  EXPECT(holds(where(v > 1, v, v * 10), {10, 2}) && meshgrid(v, v)[0].size(1) == 2);
  EXPECT(cartesian_grid<3>({2, 3}).size(2) == 2);
  EXPECT(holds(triu_mask<2>({2, 2}), {1, 1, 0, 1}) && holds(tril_mask<2>({2, 2}), {1, 0, 1, 1}));
  EXPECT(holds(diag_mask<2>({2, 2}), {1, 0, 0, 1}));
}

static void gradients() {
  const Device device = Device().autodiff();
  const auto x = Tensor<0>::from(3, device).require_grad();
  EXPECT(x.is_require_grad() && !x.detach().is_require_grad());
  EXPECT(near(x.grad((x * x).backward())->item(), 6));
  EXPECT(x.inner().device() == device.inner());
  EXPECT(Tensor<0>::from_inner(x.inner(), device).device() == device);
}

static void devices() {
  EXPECT(Device::by_name("portable") == Device::portable() && !Device::enumerate().empty());
  EXPECT(Device::null().name() == "null" && Device::best().autodiff().is_autodiff());
  EXPECT(Device::reference().autodiff().inner() == Device::reference());
  EXPECT(Device::portable().validate().inner() == Device::portable());
  EXPECT(Autodiff<Portable>::device() == Device::portable().autodiff());
  const DefaultDeviceScope scope(Device::reference());
  EXPECT(Device() == Device::reference());
  Device().seed(3);
  const F1 first = F1::random({4});
  Device().seed(3);
  EXPECT(first.all_close(F1::random({4})));
  Device().sync();
  Device().flush();
  Device().trim();
  EXPECT(Device().memory().peak >= Device().memory().in_use);
}

static void functions() {
  namespace fn = functional;
  const F3 x = F1::arange(1, 7).reshape<3>({1, 1, 6}), w = F1::from({1, 2}).reshape<3>({1, 1, 2});
  const auto image = x.reshape<4>({1, 1, 2, 3}), kernel = w.reshape<4>({1, 1, 1, 2});
  EXPECT(holds(fn::linear(F2::from({{1, 2}}), F2::from({{1}, {3}}), F1::from({10})), {17}));
  EXPECT(holds(fn::embedding(F2::from({{1, 2}, {3, 4}}), I1::from({1})), {3, 4}));
  EXPECT(holds(fn::conv1d(x, w), {5, 8, 11, 14, 17}) &&
         holds(fn::conv2d(image, kernel), {5, 8, 14, 17}));
  EXPECT(fn::conv_transpose1d(x, w).size(2) == 7 &&
         fn::conv_transpose2d(image, kernel).size(3) == 4);
  EXPECT(fn::conv3d(image.unsqueeze(2), kernel.unsqueeze(2)).size(4) == 2);
  EXPECT(holds(fn::max_pool(x, {.kernel = {2}}), {2, 4, 6}) &&
         holds(fn::avg_pool(x, {.kernel = {3}}), {2, 5}));
  EXPECT(holds(fn::max_pool_with_indices(x, {.kernel = {3}}).indices, {2, 5}));
  EXPECT(holds(fn::adaptive_avg_pool(x, {2}), {2, 5}) && holds(fn::interpolate(x, {2}), {1, 4}));
  const F2 row = F2::from({{-1, 1}});
  EXPECT(holds(fn::layer_norm(row), {-1, 1}) && holds(fn::rms_norm(row), {-1, 1}));
  EXPECT(holds(fn::group_norm(row.unsqueeze(2), 1), {-1, 1}));
  EXPECT(holds(fn::attention(row.unsqueeze(0), row.unsqueeze(0), row.unsqueeze(0)), {-1, 1}));
  EXPECT(holds(fn::dropout(row, 0), {-1, 1}));
  EXPECT(near(fn::cross_entropy(row, I1::from({1})).item(), 0.126928));
  EXPECT(holds(fn::cross_entropy_each(row, I1::from({1})), {0.126928}));
  const F1 p = F1::from({0.5}), one = F1::from({1});
  EXPECT(near(fn::mse_loss(p, one).item(), 0.25) && near(fn::l1_loss(p, one).item(), 0.5));
  EXPECT(near(fn::bce_loss(p, one).item(), 0.693147) &&
         near(fn::bce_with_logits_loss(p, one).item(), 0.474077));
  EXPECT(near(fn::kl_div_loss(p.log(), one).item(), 0.693147));
}

int main() {
  creation();
  properties_and_reading();
  operators();
  elementwise();
  activations();
  shapes();
  indices();
  order_and_reductions();
  products();
  gradients();
  devices();
  functions();
  return wrong == 0 ? 0 : 1;
}
