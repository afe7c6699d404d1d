// SPDX-License-Identifier: MIT OR Apache-2.0
// Rule and gradient of batch norm.
#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/norm/norm.hpp"

namespace sinter::ops {
namespace {

void check_channels(std::string_view op, const Value& x, std::span<const Value> parameters) {
  check_domain(op, Domain::floating, x.dtype());
  if (x.rank() < 2) {
    throw ShapeError(
        fmt::format("{}: expected [N, C, ...] of rank 2 or more, got {}", op, x.shape().str()));
  }
  for (const Value& parameter : parameters) {
    if (!(parameter.shape() == Shape{x.size(1)})) {
      throw ShapeError(fmt::format("{}: {} channels need parameters of shape [{}], got {}", op,
                                   x.size(1), x.size(1), parameter.shape().str()));
    }
  }
}

Value against(const Value& parameter, const Value& x) {
  Shape shape = Dims::filled(x.rank(), 1);
  shape[1] = x.size(1);
  return reshape(parameter, shape);
}
Dims all_but_channels(const Value& x) {
  Dims dims{0};
  for (int i = 2; i < x.rank(); ++i) {
    dims.push_back(i);
  }
  return dims;
}

}  // namespace

void BatchNorm::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  if (call.inputs.size() != 3) {
    throw ArgumentError(fmt::format("batch_norm: expected 3 inputs, got {}", call.inputs.size()));
  }
  check_channels(info.name, x, call.inputs.subspan(1));
  if (x.size(1) > 0 && x.num_elements() / x.size(1) < 2) {
    throw ShapeError(
        fmt::format("batch_norm: training needs more than one value per channel, got {}; use a "
                    "bigger batch, or inference mode",
                    x.shape().str()));
  }
  const DType dtype = size_of(x.dtype()) < 4 ? DType::f32 : x.dtype();
  outputs.push_back({x.shape(), x.dtype()});
  outputs.push_back({Shape{x.size(1)}, dtype});
  outputs.push_back({Shape{x.size(1)}, dtype});
}
void BatchNorm::backward(GradCall& call) {
  const Value inputs[] = {call.grad(), call.input(0), call.input(1), call.output(1),
                          call.output(2)};
  const Outputs grads = sinter::apply(BatchNormGrad{call.op<BatchNorm>().eps}, inputs);
  for (int i = 0; i < 3; ++i) {
    call.set(i, grads[static_cast<std::size_t>(i)]);
  }
}
void BatchNorm::samples(SampleSink& sink) {
  sink.add(BatchNorm{}, {value_sample({4, 3}), value_sample({3}), value_sample({3})});
  sink.add(BatchNorm{1e-3}, {value_sample({2, 3, 5}), value_sample({3}), value_sample({3})});
  sink.add(BatchNorm{}, {value_sample({2, 2, 3, 4}), value_sample({2}), value_sample({2})});
}

void BatchNormGrad::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[1];
  check_channels(info.name, x, call.inputs.subspan(2));
  if (!(call.inputs[0].shape() == x.shape())) {
    throw ShapeError(fmt::format("{}: the output's gradient must be {}, got {}", info.name,
                                 x.shape().str(), call.inputs[0].shape().str()));
  }
  outputs.push_back({x.shape(), x.dtype()});
  outputs.push_back({Shape{x.size(1)}, x.dtype()});
  outputs.push_back({Shape{x.size(1)}, x.dtype()});
}
// Written from x alone, so that its own gradient sees how the statistics depend on x.
void BatchNormGrad::decompose(const OpCall& call, Outputs& outputs) {
  const Value& g = call.inputs[0];
  const Value& x = call.inputs[1];
  const Dims dims = all_but_channels(x);
  const Value centred = sub(x, mean(x, dims, true));
  const Value variance = mean(square(centred), dims, true);
  const Value rstd = rsqrt(add(variance, scalar_like(x, call.as<BatchNormGrad>().eps)));
  const Value xhat = mul(centred, rstd);
  const Value rest = sub(sub(g, mean(g, dims, true)), mul(xhat, mean(mul(g, xhat), dims, true)));
  outputs.push_back(mul(rest, mul(rstd, cast(against(call.inputs[2], x), x.dtype()))));
  outputs.push_back(sum(mul(g, xhat), dims));
  outputs.push_back(sum(g, dims));
}

Outputs batch_norm(const Value& x, const Value& weight, const Value& bias, double eps,
                   SourceLoc where) {
  const Shape channels{x.rank() > 1 ? x.size(1) : 0};
  const Value inputs[] = {x, weight ? weight : full(x.backend(), channels, 1, x.dtype()),
                          bias ? bias : full(x.backend(), channels, 0, x.dtype())};
  return apply(BatchNorm{eps}, inputs, 0, where);
}
Value batch_norm_inference(const Value& x, const Value& mean, const Value& variance,
                           const Value& weight, const Value& bias, double eps, SourceLoc where) {
  const Value statistics[] = {mean, variance};
  check_channels("batch_norm_inference", x, statistics);
  Value scale = rsqrt(add(variance, scalar_like(variance, eps)));
  if (weight) {
    scale = mul(scale, cast(weight, scale.dtype()));
  }
  Value shift = neg(mul(mean, scale));
  if (bias) {
    shift = add(shift, cast(bias, shift.dtype()));
  }
  return add(mul(x, cast(against(scale, x), x.dtype()), where), cast(against(shift, x), x.dtype()),
             where);
}

}  // namespace sinter::ops
