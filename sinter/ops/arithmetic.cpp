// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules of the elementwise ops with three inputs.
#include "sinter/ops/arithmetic.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/op.hpp"

namespace sinter::ops {

void Where::infer(const OpCall& call, Specs& outputs) {
  const Value& mask = call.inputs[0];
  if (mask.dtype() != DType::boolean) {
    throw DTypeError(fmt::format("where: the first input must be bool, got {}; compare it with 0",
                                 name_of(mask.dtype())));
  }
  const Value& b = call.inputs[1];
  const Value& c = call.inputs[2];
  const DType dtype = promote(b.dtype(), c.dtype());
  check_domain("where", Domain::any, dtype);
  outputs.push_back(
      {broadcast(broadcast(b.shape(), c.shape(), "where"), mask.shape(), "where"), dtype});
}

void Where::backward(GradCall& call) {
  const Value& mask = call.input(0);
  const Value zero = scalar_like(call.grad(), 0);
  if (call.needs(1)) {
    call.set(1, where(mask, call.grad(), zero));
  }
  if (call.needs(2)) {
    call.set(2, where(mask, zero, call.grad()));
  }
}

void Where::samples(SampleSink& sink) {
  sink.add(Where{}, {mask_sample({3, 4}), value_sample({3, 4}), value_sample({3, 4})});
  sink.add(Where{}, {mask_sample({4}), value_sample({3, 1}), value_sample({})});
}

void Lerp::backward(GradCall& call) {
  const Value& g = call.grad();
  const Value& c = call.input(2);
  if (call.needs(0)) {
    call.set(0, sub(g, mul(g, c)));
  }
  if (call.needs(1)) {
    call.set(1, mul(g, c));
  }
  if (call.needs(2)) {
    call.set(2, mul(g, sub(call.input(1), call.input(0))));
  }
}

void Lerp::samples(SampleSink& sink) {
  sink.add(Lerp{}, {value_sample({3, 4}), value_sample({3, 4}), value_sample({4})});
}

}  // namespace sinter::ops
