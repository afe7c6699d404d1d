// SPDX-License-Identifier: MIT OR Apache-2.0
// Matrix products.
#pragma once

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// [..., m, k] x [..., k, n] -> [..., m, n]; leading dims broadcast. Both ranks are at least 2.
/// i8 x i8 gives i32; other integers keep their dtype and wrap. Floats accumulate in at least f32.
struct Matmul {
  static constexpr OpInfo info{
      .name = "matmul", .saves = {.inputs = 3}, .cheap = false, .tolerance = 1e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

}  // namespace sinter::ops
