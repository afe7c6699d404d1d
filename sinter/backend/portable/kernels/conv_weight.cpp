// SPDX-License-Identifier: MIT OR Apache-2.0
// Weight-gradient pass of convolution.
#include "sinter/backend/portable/kernels/conv_weight.hpp"

#include "sinter/backend/portable/kernels/conv_passes.hpp"

namespace sinter::portable::SINTER_ISA {

void plan_weight_gradient(ConvPlan& p) {
  const WeightPlan w = make_weight_plan(p.shape);
  p.tasks = w.g.groups * w.slices * w.splits;
  p.parts = finish_units(w);
  p.shared_bytes = WeightShared(w).bytes(w);
  p.scratch_bytes = weight_scratch_bytes(w);
}

void prepare_weight_gradient(const ConvPlan& p, void* shared) {
  const WeightPlan w = make_weight_plan(p.shape);
  list_taps(p.shape, w.g, true, 0, 0, WeightShared(w).taps(shared));
}

void run_weight_gradient(const ConvPlan& p, const ConvArgs& a, const void* shared, void* scratch,
                         int64_t task) {
  weight_task(make_weight_plan(p.shape), a.x, a.y, shared, scratch, task);
}

void finish_weight_gradient(const ConvPlan& p, const ConvArgs& a, void* shared, int64_t part,
                            int64_t parts) {
  weight_finish(make_weight_plan(p.shape), shared, a.out, part, parts);
}

}  // namespace sinter::portable::SINTER_ISA
