// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolutions of ResNet's sizes, forward and with both gradients.
#include "benches/sinter_side.hpp"
#include "sinter/ops/conv/conv.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::bench {

namespace {

struct Conv {
  const char* name;
  std::int64_t in, out, size, kernel, stride, padding;

  std::int64_t out_size() const { return (size + 2 * padding - kernel) / stride + 1; }
};

constexpr std::int64_t batch = 16;
constexpr Conv convs[] = {{"conv_a", 64, 64, 56, 3, 1, 1},
                          {"conv_b", 128, 128, 28, 3, 1, 1},
                          {"conv_c", 256, 256, 14, 3, 1, 1},
                          {"conv_d", 3, 64, 224, 7, 2, 3}};

ops::ConvWindow window_of(const Conv& conv) {
  ops::ConvWindow window;
  window.stride = {conv.stride, conv.stride};
  window.padding_before = {conv.padding, conv.padding};
  return window;
}

Runner make_forward(const Context& context, const Conv& conv) {
  const Device device = bench_device(context.options);
  const Value x = load(context, "x", device);
  const Value w = load(context, "w", device);
  return forward_runner(device,
                        [x, w, window = window_of(conv)] { return ops::conv(x, w, {}, window); });
}

Runner make_backward(const Context& context, const Conv& conv) {
  const Value g = load(context, "g", bench_device(context.options).autodiff());
  return loss_runner(context, {"x", "w"},
                     [g, window = window_of(conv)](const std::vector<Value>& leaves) {
                       return ops::sum(ops::mul(ops::conv(leaves[0], leaves[1], {}, window), g));
                     });
}

}  // namespace

void add_conv_rows(Rows& rows) {
  for (const Conv& conv : convs) {
    const double fan_in = static_cast<double>(conv.in * conv.kernel * conv.kernel);
    const std::int64_t size = conv.out_size();
    const Input x = normal("x", {batch, conv.in, conv.size, conv.size});
    const Input w = normal("w", {conv.out, conv.in, conv.kernel, conv.kernel}, 0.1);
    const Input g = normal("g", {batch, conv.out, size, size});
    const double flops = 2 * static_cast<double>(g.count()) * fan_in;
    const double bytes = 4.0 * static_cast<double>(x.count() + w.count() + g.count());
    rows.push_back({.name = conv.name,
                    .inputs = {x, w},
                    .work = {.flops = flops, .bytes = bytes},
                    .peers = {"torch", "torch_nhwc"},
                    .make = [&conv](const Context& c) { return make_forward(c, conv); }});
    rows.push_back({.name = conv.name + std::string("_fwdbwd"),
                    .inputs = {x, w, g},
                    .work = {.flops = 3 * flops, .bytes = 3 * bytes},
                    .peers = {"torch", "torch_nhwc"},
                    .make = [&conv](const Context& c) { return make_backward(c, conv); }});
  }
}

}  // namespace sinter::bench
