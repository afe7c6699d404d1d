// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules of interpolation, and where each output lies on the input.
#include "sinter/ops/interpolate/interpolate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::ops {
namespace {

Shape resized(const Shape& shape, const Dims& size, std::string_view op) {
  if (size.empty() || shape.rank() < size.rank()) {
    throw ShapeError(
        fmt::format("{}: {} sizes do not fit an input of {}", op, size.rank(), shape.str()));
  }
  Shape out = shape;
  for (int i = 0; i < size.rank(); ++i) {
    const int dim = shape.rank() - size.rank() + i;
    if (size[i] < 1 || shape[dim] < 1) {
      throw ShapeError(fmt::format("{}: sizes must be at least 1, got {} for an input of {}", op,
                                   size.str(), shape.str()));
    }
    out[dim] = size[i];
  }
  return out;
}

struct Example {
  Shape x;
  Interpolate op;
};
const Example* examples(std::size_t& count) {
  static const Example list[] = {
      {{2, 2, 5}, {{3}, InterpolateMode::nearest, false}},
      {{2, 2, 3}, {{7}, InterpolateMode::nearest_exact, false}},
      {{1, 2, 4, 3}, {{6, 2}, InterpolateMode::nearest, false}},
      {{1, 2, 4, 4}, {{3, 1}, InterpolateMode::linear, false}},
      {{2, 1, 3, 4}, {{5, 7}, InterpolateMode::linear, true}},
      {{1, 1, 3}, {{1}, InterpolateMode::linear, true}},
      {{1, 1, 2, 3, 2}, {{3, 2, 4}, InterpolateMode::linear, false}},
  };
  count = std::size(list);
  return list;
}

}  // namespace

void Interpolate::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  check_domain(info.name, info.domain, x.dtype());
  outputs.push_back({resized(x.shape(), call.as<Interpolate>().size, info.name), x.dtype()});
}
void Interpolate::backward(GradCall& call) {
  InterpolateGrad op;
  static_cast<Interpolate&>(op) = call.op<Interpolate>();
  op.shape = call.input_shape(0);
  call.set(0, apply(op, {call.grad()}));
}
void Interpolate::samples(SampleSink& sink) {
  std::size_t count = 0;
  const Example* list = examples(count);
  for (std::size_t i = 0; i < count; ++i) {
    sink.add(list[i].op, {value_sample(list[i].x)});
  }
}

void InterpolateGrad::infer(const OpCall& call, Specs& outputs) {
  const auto& op = call.as<InterpolateGrad>();
  const Value& g = call.inputs[0];
  check_domain(info.name, info.domain, g.dtype());
  const Shape expected = resized(op.shape, op.size, info.name);
  if (!(g.shape() == expected)) {
    throw ShapeError(fmt::format("{}: the output's gradient must be {}, got {}", info.name,
                                 expected.str(), g.shape().str()));
  }
  outputs.push_back({op.shape, g.dtype()});
}
void InterpolateGrad::backward(GradCall& call) {
  const Interpolate op = call.op<InterpolateGrad>();
  call.set(0, apply(op, {call.grad()}));
}
void InterpolateGrad::samples(SampleSink& sink) {
  std::size_t count = 0;
  const Example* list = examples(count);
  for (std::size_t i = 0; i < count; ++i) {
    InterpolateGrad op;
    static_cast<Interpolate&>(op) = list[i].op;
    op.shape = list[i].x;
    sink.add(op, {value_sample(resized(op.shape, op.size, info.name))});
  }
}

Tap interpolation_tap(const Interpolate& op, std::int64_t input, std::int64_t outputs,
                      std::int64_t out) {
  Tap tap;
  if (op.mode == InterpolateMode::nearest) {
    tap.low = out * input / outputs;
  } else if (op.mode == InterpolateMode::nearest_exact) {
    tap.low = (2 * out + 1) * input / (2 * outputs);
  } else {
    double at = (static_cast<double>(out) + 0.5) * static_cast<double>(input) /
                    static_cast<double>(outputs) -
                0.5;
    if (op.align_corners) {
      at = outputs == 1 ? 0
                        : static_cast<double>(out) * static_cast<double>(input - 1) /
                              static_cast<double>(outputs - 1);
    }
    at = std::clamp(at, 0.0, static_cast<double>(input - 1));
    tap.low = static_cast<std::int64_t>(at);
    tap.weight = at - static_cast<double>(tap.low);
  }
  tap.low = std::min(tap.low, input - 1);
  tap.high = std::min(tap.low + 1, input - 1);
  return tap;
}

Value interpolate(const Value& x, const Dims& size, InterpolateMode mode, bool align_corners,
                  SourceLoc where) {
  return apply(Interpolate{size, mode, align_corners}, {x}, where);
}
Value interpolate_by(const Value& x, double scale, int dims, InterpolateMode mode,
                     bool align_corners, SourceLoc where) {
  if (!(scale > 0) || !std::isfinite(scale)) {
    throw ArgumentError(
        fmt::format("interpolate: the scale must be positive and finite, got {}", scale));
  }
  if (dims < 1 || dims > x.rank()) {
    throw ArgumentError(
        fmt::format("interpolate: can't resize {} dims of {}", dims, x.shape().str()));
  }
  Dims size;
  for (int i = x.rank() - dims; i < x.rank(); ++i) {
    size.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(x.size(i)) * scale)));
  }
  return interpolate(x, size, mode, align_corners, where);
}

}  // namespace sinter::ops
