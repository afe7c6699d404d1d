// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules and gradients of pooling.
#include "sinter/ops/pool/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::ops {
namespace {

// Windows beyond this have no use, and sums and products of them stay within 63 bits.
constexpr std::int64_t most = INT32_MAX;

Dims fill_in(const Dims& given, const Dims& standard, std::int64_t least, std::string_view what,
             std::string_view op) {
  if (given.empty()) {
    return standard;
  }
  if (given.rank() != standard.rank()) {
    throw ArgumentError(fmt::format("{}: {} {} needs {} numbers, as many as the kernel", op, what,
                                    given.str(), standard.rank()));
  }
  for (const std::int64_t value : given) {
    if (value < least || value > most) {
      throw ArgumentError(fmt::format("{}: {} must be at least {}{}, got {}", op, what, least,
                                      value > most ? " and less than 2^31" : "", given.str()));
    }
  }
  return given;
}

void check_rank(std::string_view op, const Shape& shape, int dims) {
  if (shape.rank() < dims + 1) {
    throw ShapeError(
        fmt::format("{}: windows over {} dims need an input of rank {} or more, got {}; "
                    "add a channel dim",
                    op, dims, dims + 1, shape.str()));
  }
}

void check_same_shape(std::string_view op, const Shape& got, const Shape& expected) {
  if (!(got == expected)) {
    throw ShapeError(
        fmt::format("{}: the output's gradient must be {}, got {}", op, expected.str(), got.str()));
  }
}

// Positions [batch dims, window dims] and the tensor [the same batch dims, ...] that they point
// into.
void check_pointed(std::string_view op, const Value& positions, const Shape& into, int dims) {
  if (!is_integer(positions.dtype())) {
    throw DTypeError(
        fmt::format("{}: positions must be integers, got {}", op, name_of(positions.dtype())));
  }
  bool fits = positions.rank() == into.rank();
  for (int i = 0; fits && i < into.rank() - dims; ++i) {
    fits = positions.size(i) == into[i];
  }
  if (!fits) {
    throw ShapeError(fmt::format("{}: positions {} do not point into {} with {} window dims", op,
                                 positions.shape().str(), into.str(), dims));
  }
}

// Positions within the window dims are i32.
void check_positions(std::string_view op, const Shape& shape, int dims) {
  std::int64_t plane = 1;
  for (int i = shape.rank() - dims; i < shape.rank(); ++i) {
    plane *= shape[i];
  }
  if (plane > std::numeric_limits<std::int32_t>::max()) {
    throw ShapeError(fmt::format("{}: {} elements in the window dims of {} are more than {}", op,
                                 plane, shape.str(), std::numeric_limits<std::int32_t>::max()));
  }
}

// `shape` with its last sizes replaced.
Shape with_last(const Shape& shape, const Dims& sizes) {
  Shape out = shape;
  for (int i = 0; i < sizes.rank(); ++i) {
    out[shape.rank() - sizes.rank() + i] = sizes[i];
  }
  return out;
}

Shape adaptive_shape(const Shape& shape, const Dims& size, std::string_view op) {
  if (size.empty()) {
    throw ArgumentError(fmt::format("{}: size needs a number for each dim to pool", op));
  }
  check_rank(op, shape, size.rank());
  for (int i = 0; i < size.rank(); ++i) {
    if (size[i] < 1 || shape[shape.rank() - size.rank() + i] < 1) {
      throw ShapeError(fmt::format("{}: sizes must be at least 1, got {} for an input of {}", op,
                                   size.str(), shape.str()));
    }
  }
  return with_last(shape, size);
}

PoolWindow window_of(Dims kernel, Dims stride = {}, Dims padding = {}, Dims dilation = {},
                     bool ceil_mode = false) {
  return {kernel, stride, padding, {}, dilation, ceil_mode};
}

template <class Op>
Op with_window(const PoolWindow& window) {
  Op op;
  static_cast<PoolWindow&>(op) = window;
  return op;
}

struct Example {
  Shape x;
  PoolWindow window;
  bool include = true;
};
std::vector<Example> average_examples() {
  return {{{2, 3, 7}, window_of({2})},
          {{1, 2, 5}, window_of({2}, {2}, {}, {}, true)},
          {{2, 2, 5, 6}, window_of({3, 2}, {2, 1}, {1, 1}), false},
          {{1, 2, 5, 6}, window_of({3, 2}, {2, 2}, {1, 0}, {}, true)},
          {{1, 1, 3, 4, 4}, window_of({2, 2, 3}, {1, 2, 1}, {0, 1, 1})}};
}

}  // namespace

PoolWindow PoolWindow::resolved(std::string_view op) const {
  if (kernel.empty()) {
    throw ArgumentError(fmt::format("{}: the kernel needs a size for each dim to pool", op));
  }
  const Dims zeros = Dims::filled(kernel.rank(), 0);
  const Dims ones = Dims::filled(kernel.rank(), 1);
  PoolWindow window = *this;
  window.kernel = fill_in(kernel, ones, 1, "kernel", op);
  window.stride = fill_in(stride, kernel, 1, "stride", op);
  window.padding_before = fill_in(padding_before, zeros, 0, "padding_before", op);
  window.padding_after = fill_in(padding_after, window.padding_before, 0, "padding_after", op);
  window.dilation = fill_in(dilation, ones, 1, "dilation", op);
  for (int i = 0; i < kernel.rank(); ++i) {
    const std::int64_t extent = (kernel[i] - 1) * window.dilation[i] + 1;
    if (window.padding_before[i] >= extent || window.padding_after[i] >= extent) {
      throw ArgumentError(
          fmt::format("{}: padding {} and {} must be less than the {} elements that a "
                      "window covers",
                      op, window.padding_before[i], window.padding_after[i], extent));
    }
  }
  return window;
}

Shape PoolWindow::output_shape(const Shape& shape, std::string_view op) const {
  check_rank(op, shape, kernel.rank());
  Dims sizes;
  for (int i = 0; i < kernel.rank(); ++i) {
    const std::int64_t size = shape[shape.rank() - kernel.rank() + i];
    const std::int64_t padded = size + padding_before[i] + padding_after[i];
    const std::int64_t extent = (kernel[i] - 1) * dilation[i] + 1;
    // Rounding up, a window may hang over the end by less than a stride.
    const std::int64_t over = ceil_mode ? stride[i] - 1 : 0;
    if (extent > padded + over || size < 1) {
      throw ShapeError(
          fmt::format("{}: a window that covers {} elements does not fit a dim of size {} "
                      "(with padding) in {}",
                      op, extent, padded, shape.str()));
    }
    std::int64_t out = (padded - extent + over) / stride[i] + 1;
    if (ceil_mode && (out - 1) * stride[i] >= size + padding_before[i]) {
      --out;  // the last window would see padding alone
    }
    sizes.push_back(out);
  }
  return with_last(shape, sizes);
}

void MaxPool::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  check_domain(info.name, info.domain, x.dtype());
  const PoolWindow window = call.as<MaxPool>().resolved(info.name);
  const Shape shape = window.output_shape(x.shape(), info.name);
  check_positions(info.name, x.shape(), window.kernel.rank());
  outputs.push_back({shape, x.dtype()});
  outputs.push_back({shape, DType::i32});
}
void MaxPool::backward(GradCall& call) {
  if (call.grad()) {
    call.set(0, apply(MaxPoolGrad{call.input_shape(0), call.op<MaxPool>().kernel.rank()},
                      {call.grad(), call.output(1)}));
  }
}
void MaxPool::samples(SampleSink& sink) {
  sink.add(with_window<MaxPool>(window_of({2})), {distinct_sample({2, 3, 7})});
  sink.add(with_window<MaxPool>(window_of({2, 2})), {distinct_sample({2, 2, 6, 6})});
  sink.add(with_window<MaxPool>(window_of({3, 2}, {2, 1}, {1, 1})),
           {distinct_sample({1, 2, 5, 6})});
  sink.add(with_window<MaxPool>(window_of({2, 2}, {1, 1}, {}, {1, 2})),
           {distinct_sample({1, 1, 4, 4})});
  sink.add(with_window<MaxPool>(window_of({2, 3}, {2, 2}, {}, {}, true)),
           {distinct_sample({2, 1, 5, 6})});
  sink.add(with_window<MaxPool>(window_of({2, 2, 2}, {1, 2, 1})),
           {distinct_sample({1, 1, 3, 4, 3})});
}

void MaxPoolGrad::infer(const OpCall& call, Specs& outputs) {
  const auto& op = call.as<MaxPoolGrad>();
  const Value& g = call.inputs[0];
  check_domain(info.name, info.domain, g.dtype());
  check_rank(info.name, g.shape(), op.dims);
  check_positions(info.name, op.shape, op.dims);
  check_same_shape(info.name, call.inputs[1].shape(), g.shape());
  check_pointed(info.name, call.inputs[1], op.shape, op.dims);
  outputs.push_back({op.shape, g.dtype()});
}
void MaxPoolGrad::backward(GradCall& call) {
  if (call.needs(0)) {
    call.set(0, apply(MaxPoolTake{call.op<MaxPoolGrad>().dims}, {call.grad(), call.input(1)}));
  }
}
void MaxPoolGrad::samples(SampleSink& sink) {
  sink.add(MaxPoolGrad{{2, 1, 4, 3}, 2},
           {value_sample({2, 1, 2, 2}), index_sample({2, 1, 2, 2}, 12)});
}

void MaxPoolTake::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  check_domain(info.name, info.domain, x.dtype());
  check_rank(info.name, x.shape(), call.as<MaxPoolTake>().dims);
  check_positions(info.name, x.shape(), call.as<MaxPoolTake>().dims);
  check_pointed(info.name, call.inputs[1], x.shape(), call.as<MaxPoolTake>().dims);
  if (x.num_elements() == 0 && call.inputs[1].num_elements() != 0) {
    throw ShapeError(fmt::format("max_pool_take: no elements to take in {} for positions {}",
                                 x.shape().str(), call.inputs[1].shape().str()));
  }
  outputs.push_back({call.inputs[1].shape(), x.dtype()});
}
void MaxPoolTake::backward(GradCall& call) {
  if (call.needs(0)) {
    call.set(0, apply(MaxPoolGrad{call.input_shape(0), call.op<MaxPoolTake>().dims},
                      {call.grad(), call.input(1)}));
  }
}
void MaxPoolTake::samples(SampleSink& sink) {
  sink.add(MaxPoolTake{2}, {value_sample({2, 1, 4, 3}), index_sample({2, 1, 2, 2}, 12)});
}

void AvgPool::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  check_domain(info.name, info.domain, x.dtype());
  const PoolWindow window = call.as<AvgPool>().resolved(info.name);
  for (const std::int64_t step : window.dilation) {
    if (step != 1) {
      throw ArgumentError(fmt::format("avg_pool: has no dilation, got {}", window.dilation.str()));
    }
  }
  outputs.push_back({window.output_shape(x.shape(), info.name), x.dtype()});
}
void AvgPool::backward(GradCall& call) {
  AvgPoolGrad op;
  static_cast<AvgPool&>(op) = call.op<AvgPool>();
  op.shape = call.input_shape(0);
  call.set(0, apply(op, {call.grad()}));
}
void AvgPool::samples(SampleSink& sink) {
  for (const Example& e : average_examples()) {
    AvgPool op = with_window<AvgPool>(e.window);
    op.count_include_pad = e.include;
    sink.add(op, {value_sample(e.x)});
  }
}

void AvgPoolGrad::infer(const OpCall& call, Specs& outputs) {
  const auto& op = call.as<AvgPoolGrad>();
  const Value& g = call.inputs[0];
  check_domain(info.name, info.domain, g.dtype());
  check_same_shape(info.name, g.shape(), op.resolved(info.name).output_shape(op.shape, info.name));
  outputs.push_back({op.shape, g.dtype()});
}
void AvgPoolGrad::backward(GradCall& call) {
  const AvgPool op = call.op<AvgPoolGrad>();
  call.set(0, apply(op, {call.grad()}));
}
void AvgPoolGrad::samples(SampleSink& sink) {
  for (const Example& e : average_examples()) {
    AvgPoolGrad op = with_window<AvgPoolGrad>(e.window);
    op.count_include_pad = e.include;
    op.shape = e.x;
    sink.add(op, {value_sample(e.window.resolved("avg_pool").output_shape(e.x, "avg_pool"))});
  }
}

void AdaptiveAvgPool::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  check_domain(info.name, info.domain, x.dtype());
  outputs.push_back(
      {adaptive_shape(x.shape(), call.as<AdaptiveAvgPool>().size, info.name), x.dtype()});
}
void AdaptiveAvgPool::backward(GradCall& call) {
  call.set(0, apply(AdaptiveAvgPoolGrad{call.op<AdaptiveAvgPool>().size, call.input_shape(0)},
                    {call.grad()}));
}
void AdaptiveAvgPool::samples(SampleSink& sink) {
  sink.add(AdaptiveAvgPool{{3}}, {value_sample({2, 2, 5})});
  sink.add(AdaptiveAvgPool{{1, 1}}, {value_sample({2, 3, 4, 5})});
  sink.add(AdaptiveAvgPool{{3, 7}}, {value_sample({1, 2, 7, 5})});
}

void AdaptiveAvgPoolGrad::infer(const OpCall& call, Specs& outputs) {
  const auto& op = call.as<AdaptiveAvgPoolGrad>();
  const Value& g = call.inputs[0];
  check_domain(info.name, info.domain, g.dtype());
  check_same_shape(info.name, g.shape(), adaptive_shape(op.shape, op.size, info.name));
  outputs.push_back({op.shape, g.dtype()});
}
void AdaptiveAvgPoolGrad::backward(GradCall& call) {
  call.set(0, apply(AdaptiveAvgPool{call.op<AdaptiveAvgPoolGrad>().size}, {call.grad()}));
}
void AdaptiveAvgPoolGrad::samples(SampleSink& sink) {
  sink.add(AdaptiveAvgPoolGrad{{3}, {2, 2, 5}}, {value_sample({2, 2, 3})});
  sink.add(AdaptiveAvgPoolGrad{{3, 7}, {1, 2, 7, 5}}, {value_sample({1, 2, 3, 7})});
}

Span1 average_span(const AvgPool& pool, int i, std::int64_t input, std::int64_t out) {
  const std::int64_t first = out * pool.stride[i] - pool.padding_before[i];
  const std::int64_t last = std::min(first + pool.kernel[i], input + pool.padding_after[i]);
  Span1 span{std::max<std::int64_t>(first, 0), std::min(last, input)};
  span.end = std::max(span.begin, span.end);
  span.count = pool.count_include_pad ? last - first : span.end - span.begin;
  return span;
}
Span1 adaptive_span(std::int64_t input, std::int64_t outputs, std::int64_t out) {
  Span1 span{out * input / outputs, ((out + 1) * input + outputs - 1) / outputs};
  span.count = span.end - span.begin;
  return span;
}

Value max_pool(const Value& x, const PoolWindow& window, SourceLoc where) {
  return apply(with_window<MaxPool>(window), {x}, where);
}
Outputs max_pool_with_indices(const Value& x, const PoolWindow& window, SourceLoc where) {
  const MaxPool op = with_window<MaxPool>(window);
  Outputs outputs = apply(op, std::span<const Value>(&x, 1), 0, where);
  outputs[1] = cast(outputs[1], DType::i64);
  return outputs;
}
Value avg_pool(const Value& x, const PoolWindow& window, bool count_include_pad, SourceLoc where) {
  AvgPool op = with_window<AvgPool>(window);
  op.count_include_pad = count_include_pad;
  return apply(op, {x}, where);
}
Value adaptive_avg_pool(const Value& x, const Dims& size, SourceLoc where) {
  return apply(AdaptiveAvgPool{size}, {x}, where);
}

}  // namespace sinter::ops
