// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolution passes of one instruction set: plan, prepare, tasks and finish.
#include "sinter/backend/portable/kernels/conv.hpp"

#include "sinter/backend/portable/kernels/conv_gather.hpp"
#include "sinter/backend/portable/kernels/conv_weight.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"

namespace sinter::portable::SINTER_ISA {

ConvPlan conv_plan(const ConvShape& s, ConvPass pass) {
  ConvPlan p;
  p.shape = s;
  p.pass = pass;
  if (pass == ConvPass::weight_gradient) {
    const WeightPlan w = make_weight_plan(s);
    p.tasks = w.g.groups * w.slices * w.splits;
    p.parts = finish_units(w);
    p.shared_bytes = WeightShared(w).bytes(w);
    p.scratch_bytes = weight_scratch_bytes(w);
    return p;
  }
  const Gather g = make_gather(s, pass == ConvPass::forward);
  p.tasks = g.n * g.groups * g.chunks;
  p.shared_bytes = GatherShared(g).bytes(g);
  p.scratch_bytes = gather_scratch_bytes(g);
  return p;
}

void conv_prepare(const ConvPlan& p, const ConvArgs& a, void* shared) {
  if (p.pass == ConvPass::weight_gradient) {
    const WeightPlan w = make_weight_plan(p.shape);
    list_taps(p.shape, w.g, true, 0, 0, WeightShared(w).taps(shared));
    return;
  }
  const bool forward = p.pass == ConvPass::forward;
  gather_prepare(p.shape, make_gather(p.shape, forward), forward, a.weight, shared);
}

void conv_task(const ConvPlan& p, const ConvArgs& a, const void* shared, void* scratch,
               int64_t task) {
  if (p.pass == ConvPass::weight_gradient) {
    return weight_task(make_weight_plan(p.shape), a.x, a.y, shared, scratch, task);
  }
  const bool forward = p.pass == ConvPass::forward;
  gather_task(make_gather(p.shape, forward), forward ? a.x : a.y, a.out, forward ? a.bias : nullptr,
              shared, scratch, task);
}

void conv_finish(const ConvPlan& p, const ConvArgs& a, void* shared, int64_t part, int64_t parts) {
  if (p.pass == ConvPass::weight_gradient) {
    weight_finish(make_weight_plan(p.shape), shared, a.out, part, parts);
  }
}

}  // namespace sinter::portable::SINTER_ISA
