// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementwise rows: GELU by its definition, and with erf written out.
#include <numbers>

#include "benches/sinter_side.hpp"
#include "sinter/tensor/tensor.hpp"

namespace sinter::bench {
namespace {

using Tensor3 = Tensor<3>;
constexpr float sqrt_2 = std::numbers::sqrt2_v<float>;

Tensor3 gelu_custom(const Tensor3& x) { return x * ((x / sqrt_2).erf() + 1) / 2; }

/// erf by Abramowitz and Stegun 7.1.26.
Tensor3 gelu_erfpoly(const Tensor3& x) {
  const Tensor3 z = x / sqrt_2;
  const Tensor3 a = z.abs();
  const Tensor3 t = 1 / (a * 0.3275911f + 1);
  const Tensor3 p =
      ((((t * 1.061405429f - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t +
       0.254829592f) *
      t;
  const Tensor3 erf = z.sign() * (1 - p * (-(a * a)).exp());
  return x * (erf + 1) / 2;
}

Runner make_forward(const Context& context, Tensor3 (*gelu)(const Tensor3&)) {
  const Device device = bench_device(context.options);
  const Tensor3 x(load(context, "x", device));
  return forward_runner(device, [x, gelu] { return gelu(x).value(); });
}

Runner make_backward(const Context& context) {
  return loss_runner(context, {"x"}, [](const std::vector<Value>& leaves) {
    return gelu_custom(Tensor3(leaves[0])).sum().value();
  });
}

}  // namespace

void add_elementwise_rows(Rows& rows) {
  const double n = 32.0 * 512 * 2048;
  const std::vector<Input> inputs = {normal("x", {32, 512, 2048})};
  // erf by a rational or polynomial formula is about 20 fused operations.
  rows.push_back({.name = "gelu_custom_fwd",
                  .inputs = inputs,
                  .work = {.flops = 40 * n, .bytes = 8 * n},
                  .tolerance = 1e-5,
                  .make = [](const Context& c) { return make_forward(c, gelu_custom); }});
  rows.push_back({.name = "gelu_custom_fwdbwd",
                  .inputs = inputs,
                  .work = {.flops = 80 * n, .bytes = 12 * n},
                  .tolerance = 1e-5,
                  .make = make_backward});
  rows.push_back({.name = "gelu_erfpoly_fwd",
                  .inputs = inputs,
                  .work = {.flops = 40 * n, .bytes = 8 * n},
                  .tolerance = 1e-5,
                  .make = [](const Context& c) { return make_forward(c, gelu_erfpoly); }});
}

}  // namespace sinter::bench
