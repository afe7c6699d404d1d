// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans: element i of `dim` combines the elements up to i.
#pragma once

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// The dim that a scan runs along.
struct ScanDim {
  std::int64_t dim = 0;
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dim", self.dim);
  }
};

/// Small integers and bool give i64.
struct Cumsum : ScanDim {
  static constexpr OpInfo info{
      .name = "cumsum", .domain = Domain::any, .cheap = false, .tolerance = 1e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

/// Small integers and bool give i64. The gradient is right at zeros too.
struct Cumprod : ScanDim {
  static constexpr OpInfo info{.name = "cumprod",
                               .domain = Domain::any,
                               .saves = {.inputs = 1, .outputs = 1},
                               .cheap = false,
                               .tolerance = 1e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

/// Values, and i64 indices of where each was first met. A NaN stays.
struct Cummax : ScanDim {
  static constexpr OpInfo info{.name = "cummax",
                               .domain = Domain::any,
                               .saves = {.outputs = 2},
                               .cheap = false,
                               .tolerance = 0};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};
struct Cummin : ScanDim {
  static constexpr OpInfo info{.name = "cummin",
                               .domain = Domain::any,
                               .saves = {.outputs = 2},
                               .cheap = false,
                               .tolerance = 0};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

Value cumsum(const Value& x, std::int64_t dim, SourceLoc where = SourceLoc::current());
Value cumprod(const Value& x, std::int64_t dim, SourceLoc where = SourceLoc::current());
/// Values and indices.
Outputs cummax(const Value& x, std::int64_t dim, SourceLoc where = SourceLoc::current());
Outputs cummin(const Value& x, std::int64_t dim, SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
