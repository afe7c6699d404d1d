// SPDX-License-Identifier: MIT OR Apache-2.0
// Forward and data-gradient passes of convolution.
#include "sinter/backend/portable/kernels/conv_gather.hpp"

#include "sinter/backend/portable/kernels/conv_passes.hpp"

namespace sinter::portable::SINTER_ISA {

void plan_gather(ConvPlan& p) {
  const Gather g = make_gather(p.shape, p.pass == ConvPass::forward);
  p.tasks = g.n * g.groups * g.chunks;
  p.shared_bytes = GatherShared(g).bytes(g);
  p.scratch_bytes = gather_scratch_bytes(g);
}

void prepare_gather(const ConvPlan& p, const ConvArgs& a, void* shared) {
  const bool forward = p.pass == ConvPass::forward;
  gather_prepare(p.shape, make_gather(p.shape, forward), forward, a.weight, shared);
}

void run_gather(const ConvPlan& p, const ConvArgs& a, const void* shared, void* scratch,
                int64_t task) {
  const bool forward = p.pass == ConvPass::forward;
  gather_task(make_gather(p.shape, forward), forward ? a.x : a.y, a.out, forward ? a.bias : nullptr,
              shared, scratch, task);
}

}  // namespace sinter::portable::SINTER_ISA
