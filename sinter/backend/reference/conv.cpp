// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolution and its gradients by plain loops: one walk over all products, three outputs.
#include "sinter/ops/conv/conv.hpp"

#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

Shape spatial_of(const Shape& shape) {
  Shape spatial;
  for (int i = 2; i < shape.rank(); ++i) {
    spatial.push_back(shape[i]);
  }
  return spatial;
}

// The input position that element `k` of the window at `o` reads; false when it lies in the
// padding.
bool input_position(const ops::ConvWindow& window, const Shape& input, const Dims& o, const Dims& k,
                    std::int64_t& flat) {
  flat = 0;
  for (int i = 0; i < input.rank(); ++i) {
    const std::int64_t at =
        o[i] * window.stride[i] - window.padding_before[i] + k[i] * window.dilation[i];
    if (at < 0 || at >= input[i]) {
      return false;
    }
    flat = flat * input[i] + at;
  }
  return true;
}

// Calls f(index in x, index in weight, index in y) for every product of the convolution.
template <class F>
void for_each_product(const ops::ConvWindow& op, const Shape& x, const Shape& weight,
                      const Shape& y, F&& f) {
  const ops::ConvWindow window = op.resolved(x.rank() - 2, "conv");
  const Shape input = spatial_of(x);
  const Shape kernel = spatial_of(weight);
  const Shape output = spatial_of(y);
  const std::int64_t in_size = num_elements(input);
  const std::int64_t kernel_size = num_elements(kernel);
  const std::int64_t out_size = num_elements(output);
  const std::int64_t in_group = weight[1];
  const std::int64_t out_group = weight[0] / window.groups;
  for_each_index(output, [&](const Dims& o) {
    const auto out = static_cast<std::int64_t>(flat_index(output, o));
    for_each_index(kernel, [&](const Dims& k) {
      std::int64_t in = 0;
      if (!input_position(window, input, o, k, in)) {
        return;
      }
      const auto tap = static_cast<std::int64_t>(flat_index(kernel, k));
      for (std::int64_t n = 0; n < x[0]; ++n) {
        for (std::int64_t co = 0; co < weight[0]; ++co) {
          for (std::int64_t c = 0; c < in_group; ++c) {
            const std::int64_t ci = co / out_group * in_group + c;
            f(static_cast<std::size_t>((n * x[1] + ci) * in_size + in),
              static_cast<std::size_t>((co * in_group + c) * kernel_size + tap),
              static_cast<std::size_t>((n * weight[0] + co) * out_size + out));
          }
        }
      }
    });
  });
}

void conv(Backend& backend, const OpCall& call, Outputs& outputs) {
  const std::vector<double> x = read_as<double>(call.inputs[0]);
  const std::vector<double> w = read_as<double>(call.inputs[1]);
  const Shape& shape = call.outputs[0].shape;
  std::vector<double> y(static_cast<std::size_t>(num_elements(shape)));
  for_each_product(call.as<ops::Conv>(), call.inputs[0].shape(), call.inputs[1].shape(), shape,
                   [&](std::size_t i, std::size_t k, std::size_t o) { y[o] += x[i] * w[k]; });
  if (call.inputs.size() > 2 && !y.empty()) {
    const std::vector<double> bias = read_as<double>(call.inputs[2]);
    const std::size_t plane = y.size() / static_cast<std::size_t>(shape[0] * shape[1]);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] += bias[i / plane % bias.size()];
    }
  }
  outputs.push_back(write_as(backend, call.outputs[0], y));
}

void conv_input_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const std::vector<double> g = read_as<double>(call.inputs[0]);
  const std::vector<double> w = read_as<double>(call.inputs[1]);
  const Shape& shape = call.outputs[0].shape;
  std::vector<double> x(static_cast<std::size_t>(num_elements(shape)));
  for_each_product(call.as<ops::ConvInputGrad>(), shape, call.inputs[1].shape(),
                   call.inputs[0].shape(),
                   [&](std::size_t i, std::size_t k, std::size_t o) { x[i] += g[o] * w[k]; });
  outputs.push_back(write_as(backend, call.outputs[0], x));
}

void conv_weight_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const std::vector<double> x = read_as<double>(call.inputs[0]);
  const std::vector<double> g = read_as<double>(call.inputs[1]);
  const Shape& shape = call.outputs[0].shape;
  std::vector<double> w(static_cast<std::size_t>(num_elements(shape)));
  for_each_product(call.as<ops::ConvWeightGrad>(), call.inputs[0].shape(), shape,
                   call.inputs[1].shape(),
                   [&](std::size_t i, std::size_t k, std::size_t o) { w[k] += x[i] * g[o]; });
  outputs.push_back(write_as(backend, call.outputs[0], w));
}

}  // namespace

void set_conv(KernelTable& table) {
  table.set<ops::Conv>(conv);
  table.set<ops::ConvInputGrad>(conv_input_grad);
  table.set<ops::ConvWeightGrad>(conv_weight_grad);
}

}  // namespace sinter::backend::reference
