// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading elements by index. Indices are integers of any dtype in [0, size); others are an
// IndexError.
#pragma once

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// Slices of `dim` named by a 1-d index: out[.., i, ..] = x[.., index[i], ..].
struct Select {
  static constexpr OpInfo info{.name = "select",
                               .domain = Domain::any,
                               .saves = {.inputs = 2},
                               .cheap = false,
                               .tolerance = 0};
  std::int64_t dim = 0;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dim", self.dim);
  }
};

/// out[i, j, k] = x[i, index[i, j, k], k] for dim 1. The index has x's rank and is no larger than x
/// in the other dims.
struct Gather {
  static constexpr OpInfo info{.name = "gather",
                               .domain = Domain::any,
                               .saves = {.inputs = 2},
                               .cheap = false,
                               .tolerance = 0};
  std::int64_t dim = 0;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dim", self.dim);
  }
};

/// x of rank r and index [.., k] give [.., x's last r - k dims]: each row of the index is a
/// position in x's first k dims.
struct GatherNd {
  static constexpr OpInfo info{.name = "gather_nd",
                               .domain = Domain::any,
                               .saves = {.inputs = 2},
                               .cheap = false,
                               .tolerance = 0};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

/// Rows of `weight` [n, d] named by an index of any shape: [.., d].
struct Embedding {
  static constexpr OpInfo info{.name = "embedding",
                               .domain = Domain::any,
                               .saves = {.inputs = 2},
                               .cheap = false,
                               .tolerance = 0};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

/// Index [..] to [.., classes] of `dtype`: 1 at the index, 0 elsewhere.
struct OneHot {
  static constexpr OpInfo info{
      .name = "one_hot", .domain = Domain::integer, .cheap = false, .tolerance = 0};
  std::int64_t classes = 0;
  DType dtype = DType::i64;
  static void infer(const OpCall& call, Specs& outputs);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("classes", self.classes);
    visit("dtype", self.dtype);
  }
};

/// `index_select` is `Select`; the others are the op structs of their names.
Value index_select(const Value& x, std::int64_t dim, const Value& index,
                   SourceLoc where = SourceLoc::current());
Value gather(const Value& x, std::int64_t dim, const Value& index,
             SourceLoc where = SourceLoc::current());
Value gather_nd(const Value& x, const Value& index, SourceLoc where = SourceLoc::current());
Value embedding(const Value& weight, const Value& index, SourceLoc where = SourceLoc::current());
Value one_hot(const Value& index, std::int64_t classes, DType dtype = DType::i64,
              SourceLoc where = SourceLoc::current());

/// Replaces `dim` by the dims of an index of any shape: select with more (or no) dims.
Value take(const Value& x, std::int64_t dim, const Value& index,
           SourceLoc where = SourceLoc::current());
/// gather with the index broadcast to x in the other dims (NumPy's take_along_axis).
Value take_along_dim(const Value& x, std::int64_t dim, const Value& index,
                     SourceLoc where = SourceLoc::current());

/// x where `mask` is false, `value` where it is true; the mask broadcasts to x. A masked-out NaN
/// leaves no trace.
Value mask_fill(const Value& x, const Value& mask, Scalar value,
                SourceLoc where = SourceLoc::current());
/// Positions of the elements that are not 0: i64 [count, rank], row-major. Waits for `x`.
Value nonzero(const Value& x, SourceLoc where = SourceLoc::current());
/// The elements of x at which `mask` (of x's shape after broadcasting) is true: [count]. Waits for
/// the mask.
Value mask_select(const Value& x, const Value& mask, SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
