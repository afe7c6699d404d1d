// SPDX-License-Identifier: MIT OR Apache-2.0
// Creation, conversion and copies.
#pragma once

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// A tensor of one value. Has no inputs.
struct Fill {
  static constexpr OpInfo info{.name = "full", .domain = Domain::any, .tolerance = 0};
  Shape shape;
  Scalar value;
  DType dtype = DType::f32;
  static void infer(const OpCall& call, Specs& outputs);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("shape", self.shape);
    visit("value", self.value);
    visit("dtype", self.dtype);
  }
};

/// start, start + step, …: `count` of them. Has no inputs.
struct Arange {
  static constexpr OpInfo info{.name = "arange", .domain = Domain::numeric, .tolerance = 0};
  Scalar start;
  Scalar step = 1;
  std::int64_t count = 0;
  DType dtype = DType::i64;
  static void infer(const OpCall& call, Specs& outputs);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("start", self.start);
    visit("step", self.step);
    visit("count", self.count);
    visit("dtype", self.dtype);
  }
};

/// The same values in another dtype. Float to integer truncates, saturates, and maps NaN to 0.
struct Cast {
  static constexpr OpInfo info{.name = "cast", .domain = Domain::any, .tolerance = 0};
  DType dtype = DType::f32;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dtype", self.dtype);
  }
};

/// The same tensor in row-major order; costs nothing where it already is.
struct Contiguous {
  static constexpr OpInfo info{.name = "contiguous", .domain = Domain::any, .tolerance = 0};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

}  // namespace sinter::ops
