// SPDX-License-Identifier: MIT OR Apache-2.0
// Random numbers. Element i of a result depends on the key's seed and offset + i alone: the same on
// every backend and number of threads.
#pragma once

#include "sinter/graph/generator.hpp"
#include "sinter/ops/op.hpp"
#include "sinter/types/distribution.hpp"

namespace sinter::ops {

using sinter::Distribution;
using sinter::RandomKind;

/// A tensor of random numbers. Has no inputs. Uniform and normal need a floating dtype, randint an
/// integer one.
struct Random {
  static constexpr OpInfo info{
      .name = "random", .domain = Domain::any, .cheap = false, .tolerance = 1e-6};
  Distribution distribution;
  Shape shape;
  DType dtype = DType::f32;
  RandomKey key;
  static void infer(const OpCall& call, Specs& outputs);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("kind", self.distribution.kind);
    visit("a", self.distribution.a);
    visit("b", self.distribution.b);
    visit("first", self.distribution.first);
    visit("last", self.distribution.last);
    visit("shape", self.shape);
    visit("dtype", self.dtype);
    visit("seed", self.key.seed);
    visit("offset", self.key.offset);
  }
};

/// Elements are 0 with probability `p` and x / (1 - p) otherwise. The gradient draws the same mask
/// from the key again, so none is kept.
struct Dropout {
  static constexpr OpInfo info{.name = "dropout", .domain = Domain::floating};
  double p = 0.5;
  RandomKey key;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("p", self.p);
    visit("seed", self.key.seed);
    visit("offset", self.key.offset);
  }
};

/// Draws from the generator that is current on `backend`.
Value random(Backend& backend, const Shape& shape, const Distribution& distribution,
             DType dtype = DType::f32, SourceLoc where = SourceLoc::current());
/// The same with a key of the caller's, for a stream of its own.
Value random(Backend& backend, const Shape& shape, const Distribution& distribution, DType dtype,
             RandomKey key, SourceLoc where = SourceLoc::current());
/// x's shape, dtype and backend.
Value random_like(const Value& x, const Distribution& distribution,
                  SourceLoc where = SourceLoc::current());
/// 0 … n - 1 in random order (i64).
Value randperm(Backend& backend, std::int64_t n, SourceLoc where = SourceLoc::current());
/// Draws `count` classes for each row of `logits` [.., classes], with replacement: i64 [.., count]
/// (the Gumbel-max method).
Value categorical(const Value& logits, std::int64_t count, SourceLoc where = SourceLoc::current());

Value dropout(const Value& x, double p, SourceLoc where = SourceLoc::current());
Value dropout(const Value& x, double p, RandomKey key, SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
