// SPDX-License-Identifier: MIT OR Apache-2.0
// Writing elements by index. Results are copies; several writes to one element act in index order,
// on any number of threads.
#pragma once

#include "sinter/ops/modes.hpp"
#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// x with values written as `Gather` would read them: out[i, index[i, j, k], k] (op)= values[i, j,
/// k] for dim 1. The values broadcast to the index.
struct Scatter {
  static constexpr OpInfo info{.name = "scatter",
                               .domain = Domain::any,
                               .saves = {.inputs = 7, .outputs = 1},
                               .cheap = false,
                               .tolerance = 1e-5};
  std::int64_t dim = 0;
  IndexUpdate update = IndexUpdate::add;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dim", self.dim);
    visit("update", self.update);
  }
};

/// x with slices of `dim` written as `Select` would read them. The values broadcast to the slices.
struct SelectAssign {
  static constexpr OpInfo info{.name = "select_assign",
                               .domain = Domain::any,
                               .saves = {.inputs = 7, .outputs = 1},
                               .cheap = false,
                               .tolerance = 1e-5};
  std::int64_t dim = 0;
  IndexUpdate update = IndexUpdate::add;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dim", self.dim);
    visit("update", self.update);
  }
};

/// x with values written as `GatherNd` would read them. The values broadcast to what it would give.
struct ScatterNd {
  static constexpr OpInfo info{.name = "scatter_nd",
                               .domain = Domain::any,
                               .saves = {.inputs = 7, .outputs = 1},
                               .cheap = false,
                               .tolerance = 1e-5};
  IndexUpdate update = IndexUpdate::assign;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("update", self.update);
  }
};

/// The gradient of an embedding's weight: rows [.., d] added up at an index of shape [..]; [rows,
/// d].
struct EmbeddingGrad {
  static constexpr OpInfo info{
      .name = "embedding_grad", .saves = {.inputs = 2}, .cheap = false, .tolerance = 1e-5};
  std::int64_t rows = 0;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("rows", self.rows);
  }
};

/// See the op structs of the same names.
Value scatter(const Value& x, std::int64_t dim, const Value& index, const Value& values,
              IndexUpdate update = IndexUpdate::add, SourceLoc where = SourceLoc::current());
Value select_assign(const Value& x, std::int64_t dim, const Value& index, const Value& values,
                    IndexUpdate update = IndexUpdate::add, SourceLoc where = SourceLoc::current());
Value scatter_nd(const Value& x, const Value& index, const Value& values,
                 IndexUpdate update = IndexUpdate::assign, SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
