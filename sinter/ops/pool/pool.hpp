// SPDX-License-Identifier: MIT OR Apache-2.0
// Pooling over the last dims: maximum, average and adaptive average, with their gradients.
#pragma once

#include <string_view>

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// How pooling windows lie on the last `kernel.rank()` dims; the dims before are a batch.
struct PoolWindow {
  Dims kernel{};
  Dims stride{};           ///< empty: the kernel's sizes
  Dims padding_before{};   ///< empty: 0
  Dims padding_after{};    ///< empty: as before
  Dims dilation{};         ///< empty: 1
  bool ceil_mode = false;  ///< also windows that start inside the input and run over its end

  /// The same with defaults filled in; ArgumentError for lists of wrong length or numbers out of
  /// range.
  PoolWindow resolved(std::string_view op) const;
  /// The output's shape for an input of `shape`; `*this` must be resolved.
  Shape output_shape(const Shape& shape, std::string_view op) const;

  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("kernel", self.kernel);
    visit("stride", self.stride);
    visit("padding_before", self.padding_before);
    visit("padding_after", self.padding_after);
    visit("dilation", self.dilation);
    visit("ceil_mode", self.ceil_mode);
  }
};

/// Outputs the maxima, and their i32 positions within the flattened window dims of the input. NaN
/// is a maximum, among equal elements the first; padding never wins. A window of padding alone
/// gives -inf and position -1.
struct MaxPool : PoolWindow {
  static constexpr OpInfo info{.name = "max_pool",
                               .domain = Domain::floating,
                               .saves = {.outputs = 2},
                               .cheap = false,
                               .tolerance = 0};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

/// (g, positions) -> zeros of `shape` to which each g is added at its position; the last `dims`
/// dims of g are windows, as in MaxPool.
struct MaxPoolGrad {
  static constexpr OpInfo info{.name = "max_pool_grad",
                               .domain = Domain::floating,
                               .saves = {.inputs = 2},
                               .cheap = false,
                               .tolerance = 2e-6};
  Shape shape;
  int dims = 1;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("shape", self.shape);
    visit("dims", self.dims);
  }
};

/// (x, positions) -> x at the positions, 0 where a position is -1: the transpose of MaxPoolGrad.
struct MaxPoolTake {
  static constexpr OpInfo info{.name = "max_pool_take",
                               .domain = Domain::floating,
                               .saves = {.inputs = 2},
                               .cheap = false,
                               .tolerance = 0};
  int dims = 1;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dims", self.dims);
  }
};

/// Means of windows. With `count_include_pad` the padding counts as zeros, though not what
/// `ceil_mode` adds beyond it. Has no dilation.
struct AvgPool : PoolWindow {
  static constexpr OpInfo info{
      .name = "avg_pool", .domain = Domain::floating, .cheap = false, .tolerance = 4e-6};
  bool count_include_pad = true;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    PoolWindow::fields(self, visit);
    visit("count_include_pad", self.count_include_pad);
  }
};

/// The gradient of AvgPool's input, which has `shape`.
struct AvgPoolGrad : AvgPool {
  static constexpr OpInfo info{
      .name = "avg_pool_grad", .domain = Domain::floating, .cheap = false, .tolerance = 4e-6};
  Shape shape;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    AvgPool::fields(self, visit);
    visit("shape", self.shape);
  }
};

/// Means of `size` windows along each of the last dims: output i averages the input from
/// floor(i * in / out) to ceil((i + 1) * in / out).
struct AdaptiveAvgPool {
  static constexpr OpInfo info{
      .name = "adaptive_avg_pool", .domain = Domain::floating, .cheap = false, .tolerance = 4e-6};
  Dims size;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("size", self.size);
  }
};

/// The gradient of AdaptiveAvgPool's input, which has `shape`.
struct AdaptiveAvgPoolGrad {
  static constexpr OpInfo info{.name = "adaptive_avg_pool_grad",
                               .domain = Domain::floating,
                               .cheap = false,
                               .tolerance = 4e-6};
  Dims size;
  Shape shape;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("size", self.size);
    visit("shape", self.shape);
  }
};

/// One window along one dim: input elements [begin, end), and the number they are divided by.
struct Span1 {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t count = 1;
};
/// The windows of an average along window dim `i`: for kernels. `pool` must be resolved.
Span1 average_span(const AvgPool& pool, int i, std::int64_t input, std::int64_t out);
Span1 adaptive_span(std::int64_t input, std::int64_t outputs, std::int64_t out);

/// See MaxPool.
Value max_pool(const Value& x, const PoolWindow& window, SourceLoc where = SourceLoc::current());
/// The maxima and their positions as i64.
Outputs max_pool_with_indices(const Value& x, const PoolWindow& window,
                              SourceLoc where = SourceLoc::current());
/// See AvgPool.
Value avg_pool(const Value& x, const PoolWindow& window, bool count_include_pad = true,
               SourceLoc where = SourceLoc::current());
/// See AdaptiveAvgPool.
Value adaptive_avg_pool(const Value& x, const Dims& size, SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
