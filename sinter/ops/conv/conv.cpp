// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules and gradients of convolutions.
#include "sinter/ops/conv/conv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/join/join.hpp"

namespace sinter::ops {
namespace {

// Windows beyond this have no use, and sums and products of them stay within 63 bits.
constexpr std::int64_t most = INT32_MAX;

void check_spatial(std::string_view op, int dim, std::int64_t input, std::int64_t kernel) {
  if (input > most || kernel > most) {
    throw ShapeError(
        fmt::format("{}: spatial dim {} must be less than 2^31, got {} and a kernel of {}", op, dim,
                    input, kernel));
  }
}

Dims fill_in(const Dims& given, int spatial, std::int64_t standard, std::int64_t least,
             std::string_view what, std::string_view op) {
  if (given.empty()) {
    return Dims::filled(spatial, standard);
  }
  if (given.rank() != spatial) {
    throw ArgumentError(fmt::format("{}: {} {} needs {} numbers, one for each spatial dim, got {}",
                                    op, what, given.str(), spatial, given.rank()));
  }
  for (const std::int64_t value : given) {
    if (value < least || value > most) {
      throw ArgumentError(fmt::format("{}: {} must be at least {}{}, got {}", op, what, least,
                                      value > most ? " and less than 2^31" : "", given.str()));
    }
  }
  return given;
}

Shape spatial_of(const Shape& shape) {
  Shape spatial;
  for (int i = 2; i < shape.rank(); ++i) {
    spatial.push_back(shape[i]);
  }
  return spatial;
}

Shape with_spatial(std::int64_t first, std::int64_t second, const Shape& spatial) {
  Shape shape{first, second};
  for (const std::int64_t size : spatial) {
    shape.push_back(size);
  }
  return shape;
}

void check_operands(const OpCall& call, std::string_view first, std::string_view second) {
  const std::string_view op = call.def->name;
  if (call.inputs.size() < 2) {
    throw ArgumentError(fmt::format("{}: expected 2 inputs, got {}", op, call.inputs.size()));
  }
  const Value& a = call.inputs[0];
  const Value& b = call.inputs[1];
  if (a.rank() < 3 || a.rank() != b.rank()) {
    throw ShapeError(
        fmt::format("{}: {} and {} need the same rank of at least 3 ([batch, channels, "
                    "spatial dims...]), got {} and {}",
                    op, first, second, a.shape().str(), b.shape().str()));
  }
  check_domain(op, Domain::floating, a.dtype());
  for (const Value& input : call.inputs.subspan(1)) {
    if (input.dtype() != a.dtype()) {
      throw DTypeError(fmt::format("{}: all inputs need one dtype, got {} and {}; cast one", op,
                                   name_of(a.dtype()), name_of(input.dtype())));
    }
  }
}

// Channels must split evenly into groups.
void check_groups(std::string_view op, std::int64_t in, std::int64_t out, std::int64_t groups) {
  if (groups < 1) {
    throw ArgumentError(fmt::format("{}: groups must be at least 1, got {}", op, groups));
  }
  for (const auto& [count, what] : {std::pair{in, "input"}, std::pair{out, "output"}}) {
    if (count % groups != 0) {
      throw ShapeError(fmt::format("{}: {} {} channels are not divisible by {} groups", op, count,
                                   what, groups));
    }
  }
}

void check_weight_channels(std::string_view op, const Shape& weight, std::int64_t channels,
                           std::int64_t groups) {
  if (weight[1] * groups != channels) {
    throw ShapeError(
        fmt::format("{}: {} input channels in {} groups need a weight [Co, {}, ...], got {}", op,
                    channels, groups, channels / groups, weight.str()));
  }
}

void check_gradient(std::string_view op, const Shape& g, const Shape& expected) {
  if (!(g == expected)) {
    throw ShapeError(
        fmt::format("{}: the output's gradient must be {}, got {}", op, expected.str(), g.str()));
  }
}

template <class Op>
Op with_window(const ConvWindow& window) {
  Op op;
  static_cast<ConvWindow&>(op) = window;
  return op;
}

ConvWindow window2(Dims stride, Dims before, Dims after, Dims dilation, std::int64_t groups) {
  return {stride, before, after, dilation, groups};
}

struct Example {
  Shape x, weight;
  ConvWindow window;
  bool bias = false;
};

// Examples shared by the convolution and its gradients: padding, strides that drop input, groups.
std::vector<Example> examples() {
  return {{{2, 3, 7}, {4, 3, 3}, window2({}, {1}, {}, {}, 1), true},
          {{1, 2, 11}, {2, 2, 4}, window2({4}, {}, {}, {}, 1)},
          {{2, 4, 5, 6}, {6, 2, 3, 2}, window2({2, 1}, {1, 0}, {0, 1}, {1, 2}, 2), true},
          {{1, 3, 6, 5}, {3, 1, 3, 3}, window2({}, {1, 1}, {}, {}, 3)},
          {{2, 4, 1, 1}, {3, 4, 1, 1}, window2({}, {}, {}, {}, 1)},
          {{1, 2, 3, 4, 4}, {2, 2, 2, 3, 2}, window2({1, 1, 2}, {1, 1, 0}, {}, {}, 1), true}};
}

Shape example_output(const Example& e) {
  const ConvWindow window = e.window.resolved(e.x.rank() - 2, "conv");
  return with_spatial(e.x[0], e.weight[0],
                      window.output_size(spatial_of(e.x), spatial_of(e.weight), "conv"));
}

}  // namespace

ConvWindow ConvWindow::resolved(int spatial, std::string_view op) const {
  ConvWindow window = *this;
  window.stride = fill_in(stride, spatial, 1, 1, "stride", op);
  window.dilation = fill_in(dilation, spatial, 1, 1, "dilation", op);
  window.padding_before = fill_in(padding_before, spatial, 0, 0, "padding_before", op);
  window.padding_after = padding_after.empty()
                             ? window.padding_before
                             : fill_in(padding_after, spatial, 0, 0, "padding_after", op);
  return window;
}

Shape ConvWindow::output_size(const Shape& input, const Shape& kernel, std::string_view op) const {
  Shape out;
  for (int i = 0; i < input.rank(); ++i) {
    check_spatial(op, i, input[i], kernel[i]);
    const std::int64_t padded = input[i] + padding_before[i] + padding_after[i];
    const std::int64_t extent = (kernel[i] - 1) * dilation[i] + 1;
    if (kernel[i] < 1) {
      throw ShapeError(
          fmt::format("{}: kernel sizes must be at least 1, got {}", op, kernel.str()));
    }
    if (extent > padded) {
      throw ShapeError(
          fmt::format("{}: a kernel that covers {} elements does not fit spatial dim {} of "
                      "size {} (with padding); pad the input or use a smaller kernel",
                      op, extent, i, padded));
    }
    out.push_back((padded - extent) / stride[i] + 1);
  }
  return out;
}

void Conv::infer(const OpCall& call, Specs& outputs) {
  check_operands(call, "input", "weight");
  const Shape& x = call.inputs[0].shape();
  const Shape& weight = call.inputs[1].shape();
  const ConvWindow window = call.as<Conv>().resolved(x.rank() - 2, info.name);
  check_groups(info.name, x[1], weight[0], window.groups);
  check_weight_channels(info.name, weight, x[1], window.groups);
  if (call.inputs.size() > 2 && !(call.inputs[2].shape() == Shape{weight[0]})) {
    throw ShapeError(fmt::format("conv: the bias of {} output channels must be [{}], got {}",
                                 weight[0], weight[0], call.inputs[2].shape().str()));
  }
  const Shape size = window.output_size(spatial_of(x), spatial_of(weight), info.name);
  outputs.push_back({with_spatial(x[0], weight[0], size), call.inputs[0].dtype()});
}

void Conv::backward(GradCall& call) {
  const Conv& op = call.op<Conv>();
  const Value& g = call.grad();
  if (call.needs(0)) {
    call.set(0, conv_input_grad(g, call.input(1), spatial_of(call.input_shape(0)), op));
  }
  if (call.needs(1)) {
    call.set(1, conv_weight_grad(call.input(0), g, spatial_of(call.input_shape(1)), op));
  }
  if (call.num_inputs() > 2 && call.needs(2)) {
    Dims dims{0};
    for (int i = 2; i < g.rank(); ++i) {
      dims.push_back(i);
    }
    call.set(2, sum(g, dims));
  }
}

void Conv::samples(SampleSink& sink) {
  for (const Example& e : examples()) {
    const Conv op = with_window<Conv>(e.window);
    if (e.bias) {
      sink.add(op, {value_sample(e.x), finite_sample(e.weight), value_sample({e.weight[0]})});
    } else {
      sink.add(op, {value_sample(e.x), finite_sample(e.weight)});
    }
  }
}

void ConvInputGrad::infer(const OpCall& call, Specs& outputs) {
  check_operands(call, "gradient", "weight");
  const auto& op = call.as<ConvInputGrad>();
  const Shape& g = call.inputs[0].shape();
  const Shape& weight = call.inputs[1].shape();
  const ConvWindow window = op.resolved(g.rank() - 2, info.name);
  if (op.size.rank() != g.rank() - 2) {
    throw ArgumentError(
        fmt::format("{}: size {} needs {} numbers", info.name, op.size.str(), g.rank() - 2));
  }
  check_groups(info.name, weight[1] * window.groups, weight[0], window.groups);
  check_gradient(
      info.name, g,
      with_spatial(g[0], weight[0], window.output_size(op.size, spatial_of(weight), info.name)));
  outputs.push_back(
      {with_spatial(g[0], weight[1] * window.groups, op.size), call.inputs[0].dtype()});
}

// The map is linear in both inputs.
void ConvInputGrad::backward(GradCall& call) {
  const auto& op = call.op<ConvInputGrad>();
  if (call.needs(0)) {
    call.set(0, conv(call.grad(), call.input(1), {}, op));
  }
  if (call.needs(1)) {
    call.set(1, conv_weight_grad(call.grad(), call.input(0), spatial_of(call.input_shape(1)), op));
  }
}

void ConvInputGrad::samples(SampleSink& sink) {
  for (const Example& e : examples()) {
    ConvInputGrad op = with_window<ConvInputGrad>(e.window);
    op.size = spatial_of(e.x);
    sink.add(op, {value_sample(example_output(e)), finite_sample(e.weight)});
  }
}

void ConvWeightGrad::infer(const OpCall& call, Specs& outputs) {
  check_operands(call, "input", "gradient");
  const auto& op = call.as<ConvWeightGrad>();
  const Shape& x = call.inputs[0].shape();
  const Shape& g = call.inputs[1].shape();
  const ConvWindow window = op.resolved(x.rank() - 2, info.name);
  if (op.kernel.rank() != x.rank() - 2) {
    throw ArgumentError(
        fmt::format("{}: kernel {} needs {} numbers", info.name, op.kernel.str(), x.rank() - 2));
  }
  check_groups(info.name, x[1], g[1], window.groups);
  check_gradient(info.name, g,
                 with_spatial(x[0], g[1], window.output_size(spatial_of(x), op.kernel, info.name)));
  outputs.push_back({with_spatial(g[1], x[1] / window.groups, op.kernel), call.inputs[0].dtype()});
}

void ConvWeightGrad::backward(GradCall& call) {
  const auto& op = call.op<ConvWeightGrad>();
  if (call.needs(0)) {
    call.set(0, conv_input_grad(call.input(1), call.grad(), spatial_of(call.input_shape(0)), op));
  }
  if (call.needs(1)) {
    call.set(1, conv(call.input(0), call.grad(), {}, op));
  }
}

void ConvWeightGrad::samples(SampleSink& sink) {
  for (const Example& e : examples()) {
    ConvWeightGrad op = with_window<ConvWeightGrad>(e.window);
    op.kernel = spatial_of(e.weight);
    sink.add(op, {value_sample(e.x), finite_sample(example_output(e))});
  }
}

Value conv(const Value& x, const Value& weight, const Value& bias, const ConvWindow& window,
           SourceLoc where) {
  const Conv op = with_window<Conv>(window);
  return bias ? apply(op, {x, weight, bias}, where) : apply(op, {x, weight}, where);
}
Value conv_input_grad(const Value& g, const Value& weight, const Shape& size,
                      const ConvWindow& window) {
  ConvInputGrad op = with_window<ConvInputGrad>(window);
  op.size = size;
  return apply(op, {g, weight});
}
Value conv_weight_grad(const Value& x, const Value& g, const Shape& kernel,
                       const ConvWindow& window) {
  ConvWeightGrad op = with_window<ConvWeightGrad>(window);
  op.kernel = kernel;
  return apply(op, {x, g});
}

Value conv_transpose(const Value& x, const Value& weight, const Value& bias,
                     const ConvWindow& window, const Dims& output_padding, SourceLoc where) {
  constexpr std::string_view name = "conv_transpose";
  if (x.rank() < 3 || x.rank() != weight.rank() || x.size(1) != weight.size(0)) {
    throw ShapeError(
        fmt::format("{}: expected an input [N, Ci, ...] and a weight [Ci, Co / groups, ...] "
                    "of one rank, got {} and {}",
                    name, x.shape().str(), weight.shape().str()));
  }
  const int spatial = x.rank() - 2;
  const ConvWindow full = window.resolved(spatial, name);
  const Dims extra = fill_in(output_padding, spatial, 0, 0, "output_padding", name);
  Shape size;
  Dims zeros;
  for (int i = 0; i < spatial; ++i) {
    if (extra[i] > 0 && extra[i] >= std::max(full.stride[i], full.dilation[i])) {
      throw ArgumentError(
          fmt::format("{}: output_padding {} must be less than stride {} or dilation {}", name,
                      extra[i], full.stride[i], full.dilation[i]));
    }
    check_spatial(name, i, x.size(i + 2), weight.size(i + 2));
    size.push_back((x.size(i + 2) - 1) * full.stride[i] - full.padding_before[i] -
                   full.padding_after[i] + full.dilation[i] * (weight.size(i + 2) - 1) + 1 +
                   extra[i]);
    if (size[i] < 1) {
      throw ShapeError(fmt::format("{}: paddings {} and {} leave nothing of spatial dim {}", name,
                                   full.padding_before[i], full.padding_after[i], i));
    }
    // Beyond a stride, more windows fit in the output than there are inputs.
    zeros.push_back(extra[i] / full.stride[i]);
  }
  ConvInputGrad op = with_window<ConvInputGrad>(full);
  op.size = size;
  const bool whole = std::all_of(zeros.begin(), zeros.end(), [](auto n) { return n == 0; });
  const Value fitting =
      whole ? x : pad(x, Dims::filled(spatial, 0), zeros, PadMode::constant, 0, where);
  const Value y = apply(op, {fitting, weight}, where);
  if (!bias) {
    return y;
  }
  Shape column = Dims::filled(y.rank(), 1);
  column[1] = bias.num_elements();
  return add(y, reshape(bias, column), where);
}

}  // namespace sinter::ops
