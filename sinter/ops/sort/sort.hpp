// SPDX-License-Identifier: MIT OR Apache-2.0
// Order along a dim. Equal elements keep their order; indices are i64. NaN is sorted last, and wins
// in topk, argmax and argmin.
#pragma once

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// Sorted values, and the index of each in x.
struct Sort {
  static constexpr OpInfo info{.name = "sort",
                               .domain = Domain::any,
                               .saves = {.outputs = 2},
                               .cheap = false,
                               .tolerance = 0};
  std::int64_t dim = -1;
  bool descending = false;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dim", self.dim);
    visit("descending", self.descending);
  }
};

/// The `k` largest (or smallest) elements of each row, best first, and the index of each in x.
struct TopK {
  static constexpr OpInfo info{
      .name = "topk", .saves = {.outputs = 2}, .cheap = false, .tolerance = 0};
  std::int64_t k = 1;
  std::int64_t dim = -1;
  bool largest = true;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("k", self.k);
    visit("dim", self.dim);
    visit("largest", self.largest);
  }
};

/// Attributes of argmax and argmin.
struct ExtremeDim {
  std::int64_t dim = -1;
  bool keep_dim = false;
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dim", self.dim);
    visit("keep_dim", self.keep_dim);
  }
};

/// Index of the largest element: the lowest among equal ones.
struct Argmax : ExtremeDim {
  static constexpr OpInfo info{
      .name = "argmax", .domain = Domain::any, .cheap = false, .tolerance = 0};
  static void infer(const OpCall& call, Specs& outputs);
  static void samples(SampleSink& sink);
};
/// Index of the smallest element: the lowest among equal ones.
struct Argmin : ExtremeDim {
  static constexpr OpInfo info{
      .name = "argmin", .domain = Domain::any, .cheap = false, .tolerance = 0};
  static void infer(const OpCall& call, Specs& outputs);
  static void samples(SampleSink& sink);
};

/// Values and indices.
Outputs sort(const Value& x, std::int64_t dim = -1, bool descending = false,
             SourceLoc where = SourceLoc::current());
Value argsort(const Value& x, std::int64_t dim = -1, bool descending = false,
              SourceLoc where = SourceLoc::current());
/// Values and indices.
Outputs topk(const Value& x, std::int64_t k, std::int64_t dim = -1, bool largest = true,
             SourceLoc where = SourceLoc::current());
Value argmax(const Value& x, std::int64_t dim, bool keep_dim = false,
             SourceLoc where = SourceLoc::current());
Value argmin(const Value& x, std::int64_t dim, bool keep_dim = false,
             SourceLoc where = SourceLoc::current());
/// Over all elements in row-major order: rank 0.
Value argmax(const Value& x, SourceLoc where = SourceLoc::current());
Value argmin(const Value& x, SourceLoc where = SourceLoc::current());
/// The middle element of each row, the lower one of an even count, and its index; a NaN if there is
/// one.
Outputs median(const Value& x, std::int64_t dim, bool keep_dim = false,
               SourceLoc where = SourceLoc::current());
/// Over all elements: rank 0.
Value median(const Value& x, SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
