// SPDX-License-Identifier: MIT OR Apache-2.0
// Views: ops that only say how the same elements are addressed. A backend applies the layout rule
// and copies only where a rule says that no layout does it.
#pragma once

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// The same elements in row-major order under another shape; one size may be -1.
struct Reshape {
  static constexpr OpInfo info{.name = "reshape", .domain = Domain::any, .tolerance = 0};
  Shape shape;
  static void infer(const OpCall& call, Specs& outputs);
  static bool view(const OpCall& call, const Layout& in, Layout& out);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("shape", self.shape);
  }
};

/// Dim `i` of the result is dim `dims[i]` of the input.
struct Permute {
  static constexpr OpInfo info{.name = "permute", .domain = Domain::any, .tolerance = 0};
  Dims dims;
  static void infer(const OpCall& call, Specs& outputs);
  static bool view(const OpCall& call, const Layout& in, Layout& out);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dims", self.dims);
  }
};

/// Dims of size 1 repeated, and leading dims added, without copying; a size of -1 keeps the
/// input's.
struct Expand {
  static constexpr OpInfo info{.name = "expand", .domain = Domain::any, .tolerance = 0};
  Shape shape;
  static void infer(const OpCall& call, Specs& outputs);
  static bool view(const OpCall& call, const Layout& in, Layout& out);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("shape", self.shape);
  }
};

/// Elements starts, starts + steps, … of every dim: resolved positions, as `tensor/slice.hpp` makes
/// them from ranges. A negative step walks backwards.
struct Slice {
  static constexpr OpInfo info{.name = "slice", .domain = Domain::any, .tolerance = 0};
  Dims starts;
  Dims lengths;
  Dims steps;
  static void infer(const OpCall& call, Specs& outputs);
  static bool view(const OpCall& call, const Layout& in, Layout& out);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("starts", self.starts);
    visit("lengths", self.lengths);
    visit("steps", self.steps);
  }
};

/// Windows of `size` elements each `step` along `dim`; the windows' elements become a new last dim.
struct Unfold {
  static constexpr OpInfo info{.name = "unfold", .domain = Domain::any, .tolerance = 0};
  std::int64_t dim = 0;
  std::int64_t size = 1;
  std::int64_t step = 1;
  static void infer(const OpCall& call, Specs& outputs);
  static bool view(const OpCall& call, const Layout& in, Layout& out);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dim", self.dim);
    visit("size", self.size);
    visit("step", self.step);
  }
};

/// A copy of the first input in which the slice (as in `Slice`) holds the second input, which
/// broadcasts to the slice's lengths; with `accumulate` it is added instead.
struct SliceAssign {
  static constexpr OpInfo info{
      .name = "slice_assign", .domain = Domain::any, .cheap = false, .tolerance = 0};
  Dims starts;
  Dims lengths;
  Dims steps;
  bool accumulate = false;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("starts", self.starts);
    visit("lengths", self.lengths);
    visit("steps", self.steps);
    visit("accumulate", self.accumulate);
  }
};

}  // namespace sinter::ops
