// SPDX-License-Identifier: MIT OR Apache-2.0
// Half-precision calls on f32 kernels, and the way back to the reference.
#include "sinter/backend/portable/nn_driver.hpp"

#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::portable {
namespace {

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

}  // namespace

void run_widened(Kernel kernel, Backend& backend, const OpCall& call, Outputs& outputs) {
  bool any = false;
  SmallVector<Value, 6> inputs;
  for (const Value& input : call.inputs) {
    any = any || is_half(input.dtype());
  }
  if (!any) {
    kernel(backend, call, outputs);
    return;
  }
  for (const Value& input : call.inputs) {
    inputs.push_back(is_half(input.dtype()) ? converted(input, DType::f32) : input);
  }
  Specs specs;
  for (const TensorSpec& spec : call.outputs) {
    specs.push_back({spec.shape, is_half(spec.dtype) ? DType::f32 : spec.dtype});
  }
  OpCall wide = call;
  wide.inputs = {inputs.data(), inputs.size()};
  wide.outputs = {specs.data(), specs.size()};
  wide.donated = 0;
  Outputs results;
  kernel(backend, wide, results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const DType dtype = call.outputs[i].dtype;
    outputs.push_back(results[i].dtype() == dtype ? results[i] : converted(results[i], dtype));
  }
}

void run_reference(Backend& backend, const OpCall& call, Outputs& outputs) {
  reference::kernels().find (*call.def)(backend, call, outputs);
}

}  // namespace sinter::backend::portable
