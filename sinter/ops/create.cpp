// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules of creation, casts and copies.
#include "sinter/ops/create.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::ops {

void Fill::infer(const OpCall& call, Specs& outputs) {
  const Fill& op = call.as<Fill>();
  for (const std::int64_t size : op.shape) {
    if (size < 0) {
      throw ShapeError(fmt::format("full: shape {} has a negative size", op.shape.str()));
    }
  }
  (void)num_elements(op.shape);
  outputs.push_back({op.shape, op.dtype});
}
void Fill::samples(SampleSink& sink) { sink.add(Fill{{2, 3}, 1.5, DType::f32}, {}); }

void Arange::infer(const OpCall& call, Specs& outputs) {
  const Arange& op = call.as<Arange>();
  check_domain("arange", info.domain, op.dtype);
  if (op.count < 0) {
    throw ArgumentError(fmt::format("arange: the count must not be negative, got {}", op.count));
  }
  outputs.push_back({Shape{op.count}, op.dtype});
}
void Arange::samples(SampleSink& sink) { sink.add(Arange{2, 3, 5, DType::i64}, {}); }

void Cast::infer(const OpCall& call, Specs& outputs) {
  outputs.push_back({call.inputs[0].shape(), call.as<Cast>().dtype});
}
void Cast::backward(GradCall& call) {
  if (is_floating(call.input_dtype(0))) {
    call.set(0, cast(call.grad(), call.input_dtype(0)));
  }
}
void Cast::samples(SampleSink& sink) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32,
                            DType::i8, DType::u64, DType::u8, DType::boolean}) {
    sink.add(Cast{dtype}, {value_sample({3, 4})});
  }
}

void Contiguous::infer(const OpCall& call, Specs& outputs) {
  outputs.push_back({call.inputs[0].shape(), call.inputs[0].dtype()});
}
void Contiguous::backward(GradCall& call) { call.set(0, call.grad()); }
void Contiguous::samples(SampleSink& sink) { sink.add(Contiguous{}, {value_sample({3, 4})}); }

}  // namespace sinter::ops
