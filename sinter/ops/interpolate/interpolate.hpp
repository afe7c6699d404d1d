// SPDX-License-Identifier: MIT OR Apache-2.0
// Resizing of the last dims by nearest elements or linear interpolation.
#pragma once

#include "sinter/ops/modes.hpp"
#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// Resizes the last `size.rank()` dims to `size`; the dims before are a batch. Linear positions are
/// (i + 0.5) * in / out - 0.5, or i * (in - 1) / (out - 1) with `align_corners` (0 for one output),
/// kept inside the input.
struct Interpolate {
  static constexpr OpInfo info{
      .name = "interpolate", .domain = Domain::floating, .cheap = false, .tolerance = 1e-5};
  Dims size;
  InterpolateMode mode = InterpolateMode::nearest;
  bool align_corners = false;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("size", self.size);
    visit("mode", self.mode);
    visit("align_corners", self.align_corners);
  }
};

/// The gradient of Interpolate's input, which has `shape`.
struct InterpolateGrad : Interpolate {
  static constexpr OpInfo info{
      .name = "interpolate_grad", .domain = Domain::floating, .cheap = false, .tolerance = 1e-5};
  Shape shape;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    Interpolate::fields(self, visit);
    visit("shape", self.shape);
  }
};

/// Output element `out` along one dim is (1 - weight) * input[low] + weight * input[high]: for
/// kernels.
struct Tap {
  std::int64_t low = 0;
  std::int64_t high = 0;
  double weight = 0;
};
Tap interpolation_tap(const Interpolate& op, std::int64_t input, std::int64_t outputs,
                      std::int64_t out);

/// See Interpolate.
Value interpolate(const Value& x, const Dims& size, InterpolateMode mode = InterpolateMode::nearest,
                  bool align_corners = false, SourceLoc where = SourceLoc::current());
/// To floor(in * scale) in each of the last `dims` dims.
Value interpolate_by(const Value& x, double scale, int dims,
                     InterpolateMode mode = InterpolateMode::nearest, bool align_corners = false,
                     SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
