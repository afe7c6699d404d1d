// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolution passes of one instruction set: plan, prepare, tasks and finish.
#include "sinter/backend/portable/kernels/conv.hpp"

#include "sinter/backend/portable/kernels/conv_passes.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"

namespace sinter::portable::SINTER_ISA {

ConvPlan conv_plan(const ConvShape& s, ConvPass pass) {
  ConvPlan p;
  p.shape = s;
  p.pass = pass;
  if (pass == ConvPass::weight_gradient) {
    plan_weight_gradient(p);
  } else {
    plan_gather(p);
  }
  return p;
}

void conv_prepare(const ConvPlan& p, const ConvArgs& a, void* shared) {
  if (p.pass == ConvPass::weight_gradient) {
    return prepare_weight_gradient(p, shared);
  }
  prepare_gather(p, a, shared);
}

void conv_task(const ConvPlan& p, const ConvArgs& a, const void* shared, void* scratch,
               int64_t task) {
  if (p.pass == ConvPass::weight_gradient) {
    return run_weight_gradient(p, a, shared, scratch, task);
  }
  run_gather(p, a, shared, scratch, task);
}

void conv_finish(const ConvPlan& p, const ConvArgs& a, void* shared, int64_t part, int64_t parts) {
  if (p.pass == ConvPass::weight_gradient) {
    finish_weight_gradient(p, a, shared, part, parts);
  }
}

}  // namespace sinter::portable::SINTER_ISA
