// SPDX-License-Identifier: MIT OR Apache-2.0
// The two kinds of convolution passes of one instruction set, each in a file of its own: gathering
// (forward and data gradient) and weight gradient. `ConvPlan` says when each function runs.
#pragma once

#include "sinter/backend/portable/kernels/conv.hpp"

namespace sinter::portable::SINTER_ISA {

/// Fills in how much work and memory the pass takes; `shape` and `pass` are set.
void plan_gather(ConvPlan& plan);
void prepare_gather(const ConvPlan& plan, const ConvArgs& args, void* shared);
void run_gather(const ConvPlan& plan, const ConvArgs& args, const void* shared, void* scratch,
                int64_t task);

void plan_weight_gradient(ConvPlan& plan);
void prepare_weight_gradient(const ConvPlan& plan, void* shared);
void run_weight_gradient(const ConvPlan& plan, const ConvArgs& args, const void* shared,
                         void* scratch, int64_t task);
void finish_weight_gradient(const ConvPlan& plan, const ConvArgs& args, void* shared, int64_t part,
                            int64_t parts);

}  // namespace sinter::portable::SINTER_ISA
