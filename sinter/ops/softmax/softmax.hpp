// SPDX-License-Identifier: MIT OR Apache-2.0
// Softmax, its logarithm and the logarithm of its denominator, with their gradients.
#pragma once

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// The dim along which elements are normalised.
struct AlongDim {
  std::int64_t dim = -1;
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dim", self.dim);
  }
};

/// exp(x) / sum(exp(x)) along a dim, without overflow. A row of -inf alone gives NaN.
struct Softmax : AlongDim {
  static constexpr OpInfo info{.name = "softmax",
                               .domain = Domain::floating,
                               .saves = {.outputs = 1},
                               .cheap = false,
                               .tolerance = 1e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void decompose(const OpCall& call, Outputs& outputs);
  static void samples(SampleSink& sink);
};

/// x - logsumexp(x) along a dim.
struct LogSoftmax : AlongDim {
  static constexpr OpInfo info{.name = "log_softmax",
                               .domain = Domain::floating,
                               .saves = {.outputs = 1},
                               .cheap = false,
                               .tolerance = 1e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void decompose(const OpCall& call, Outputs& outputs);
  static void samples(SampleSink& sink);
};

/// (y, g) -> y * (g - sum(y * g)): the gradient of softmax from its result.
struct SoftmaxGrad : AlongDim {
  static constexpr OpInfo info{
      .name = "softmax_grad", .domain = Domain::floating, .cheap = false, .tolerance = 2e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void decompose(const OpCall& call, Outputs& outputs);
  static void samples(SampleSink& sink);
};

/// (y, g) -> g - exp(y) * sum(g): the gradient of log_softmax from its result.
struct LogSoftmaxGrad : AlongDim {
  static constexpr OpInfo info{
      .name = "log_softmax_grad", .domain = Domain::floating, .cheap = false, .tolerance = 2e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void decompose(const OpCall& call, Outputs& outputs);
  static void samples(SampleSink& sink);
};

/// log(sum(exp(x))) over dims, without overflow: [-inf, -inf] gives -inf, [inf, 1] gives inf.
struct LogSumExp {
  static constexpr OpInfo info{.name = "logsumexp",
                               .domain = Domain::floating,
                               .saves = {.inputs = 1, .outputs = 1},
                               .cheap = false,
                               .tolerance = 1e-5};
  Dims dims;  ///< empty: all
  bool keep_dim = false;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void decompose(const OpCall& call, Outputs& outputs);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dims", self.dims);
    visit("keep_dim", self.keep_dim);
  }
};

Value softmax(const Value& x, int dim = -1, SourceLoc where = SourceLoc::current());
Value log_softmax(const Value& x, int dim = -1, SourceLoc where = SourceLoc::current());
Value logsumexp(const Value& x, const Dims& dims = {}, bool keep_dim = false,
                SourceLoc where = SourceLoc::current());
/// softmax(-x).
Value softmin(const Value& x, int dim = -1, SourceLoc where = SourceLoc::current());
/// exp(x) / (1 + sum(exp(x))): all weights may be near zero. [0, 0] gives 1/3 each.
Value quiet_softmax(const Value& x, int dim = -1, SourceLoc where = SourceLoc::current());
/// x / max(norm, eps) along a dim; zeros stay zeros.
Value normalize(const Value& x, int dim = -1, double eps = 1e-12,
                SourceLoc where = SourceLoc::current());
/// The first half along `dim` times the sigmoid of the second. ShapeError for an odd size.
Value glu(const Value& x, int dim = -1, SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
