// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules of random ops, and where their keys come from.
#include "sinter/ops/random/random.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/random/philox.hpp"
#include "sinter/ops/sort/sort.hpp"

namespace sinter::ops {
namespace {

void check_distribution(const Random& op) {
  const Distribution& d = op.distribution;
  switch (d.kind) {
    case RandomKind::uniform:
      check_domain("random", Domain::floating, op.dtype);
      if (!(d.a < d.b) || !std::isfinite(d.b - d.a)) {
        throw ArgumentError(
            fmt::format("random: uniform needs finite low < high, got [{}, {})", d.a, d.b));
      }
      return;
    case RandomKind::normal:
      check_domain("random", Domain::floating, op.dtype);
      if (!(d.b >= 0)) {
        throw ArgumentError(fmt::format("random: the deviation must not be negative, got {}", d.b));
      }
      return;
    case RandomKind::bernoulli:
      check_domain("random", Domain::any, op.dtype);
      if (!(d.a >= 0 && d.a <= 1)) {
        throw ArgumentError(fmt::format("random: the probability must be in [0, 1], got {}", d.a));
      }
      return;
    case RandomKind::randint:
      check_domain("random", Domain::integer, op.dtype);
      if (d.first >= d.last) {
        throw ArgumentError(
            fmt::format("random: randint needs first < last, got [{}, {})", d.first, d.last));
      }
      return;
  }
}

// Whole blocks, so that a stream's calls start aligned.
RandomKey take_key(Backend& backend, std::int64_t count) {
  return current_generator(backend).take((static_cast<std::uint64_t>(count) + 3) / 4 * 4);
}

}  // namespace

void Random::infer(const OpCall& call, Specs& outputs) {
  const Random& op = call.as<Random>();
  check_distribution(op);
  for (const std::int64_t size : op.shape) {
    if (size < 0) {
      throw ShapeError(fmt::format("random: shape {} has a negative size", op.shape.str()));
    }
  }
  (void)num_elements(op.shape);
  outputs.push_back({op.shape, op.dtype});
}
void Random::samples(SampleSink& sink) {
  sink.add(Random{Distribution::uniform(-2, 3), {3, 37}, DType::f32, {1, 0}}, {});
  sink.add(Random{Distribution::uniform(), {3, 7}, DType::f16, {2, 5}}, {});
  sink.add(Random{Distribution::uniform(), {5}, DType::f64, {3, 3}}, {});
  sink.add(Random{Distribution::normal(1, 2), {67}, DType::f32, {4, 2}}, {});
  sink.add(Random{Distribution::bernoulli(0.3), {40}, DType::boolean, {5, 1}}, {});
  sink.add(Random{Distribution::randint(-2, 9), {41}, DType::i64, {6, 0}}, {});
}

void Dropout::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  const double p = call.as<Dropout>().p;
  check_domain("dropout", info.domain, x.dtype());
  if (!(p >= 0 && p <= 1)) {
    throw ArgumentError(fmt::format("dropout: the probability must be in [0, 1], got {}", p));
  }
  outputs.push_back({x.shape(), x.dtype()});
}
void Dropout::backward(GradCall& call) {
  const Dropout& op = call.op<Dropout>();
  call.set(0, apply(op, {call.grad()}));
}
void Dropout::samples(SampleSink& sink) {
  sink.add(Dropout{0.3, {7, 0}}, {value_sample({5, 17})});
  sink.add(Dropout{0.5, {8, 3}}, {value_sample({2, 3, 4})});
  sink.add(Dropout{1, {9, 0}}, {value_sample({4})});
}

Value random(Backend& backend, const Shape& shape, const Distribution& distribution, DType dtype,
             RandomKey key, SourceLoc where) {
  return apply(Random{distribution, shape, dtype, key}, std::span<const Value>(), 0, where,
               &backend)[0];
}
Value random(Backend& backend, const Shape& shape, const Distribution& distribution, DType dtype,
             SourceLoc where) {
  return random(backend, shape, distribution, dtype, take_key(backend, num_elements(shape)), where);
}
Value random_like(const Value& x, const Distribution& distribution, SourceLoc where) {
  return random(x.backend(), x.shape(), distribution, x.dtype(), where);
}

// Fisher and Yates' shuffle.
Value randperm(Backend& backend, std::int64_t n, SourceLoc) {
  if (n < 0) {
    throw ArgumentError(fmt::format("randperm: the length must not be negative, got {}", n));
  }
  HostData data(Shape{n}, DType::i64);
  const RandomKey key = take_key(backend, n);
  const std::span<std::int64_t> order = data.as<std::int64_t>();
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::int64_t i = n - 1; i > 0; --i) {
    const std::uint64_t j =
        philox::multiply_high(philox::bits64(key.seed, key.offset + static_cast<std::uint64_t>(i)),
                              static_cast<std::uint64_t>(i) + 1);
    std::swap(order[static_cast<std::size_t>(i)], order[j]);
  }
  return backend.from_data(data);
}

Value categorical(const Value& logits, std::int64_t count, SourceLoc where) {
  if (logits.rank() < 1 || count < 0) {
    throw ArgumentError(
        fmt::format("categorical: expected logits [.., classes] and a count of at least "
                    "0, got {} and {}",
                    logits.shape().str(), count));
  }
  Shape shape = logits.shape();
  shape.insert(shape.rank() - 1, count);
  const Value u = random(logits.backend(), shape, Distribution::uniform(), DType::f32, where);
  // u may be 0 but not 1; log(0) is clamped to a finite number.
  const Value noise = neg(log(neg(clamp(log(u), -104, -1e-8))));
  return argmax(add(unsqueeze(cast(logits, DType::f32), -2), noise), -1, false, where);
}

Value dropout(const Value& x, double p, RandomKey key, SourceLoc where) {
  return p == 0 ? x : apply(Dropout{p, key}, {x}, where);
}
Value dropout(const Value& x, double p, SourceLoc where) {
  return p == 0 ? x : dropout(x, p, take_key(x.backend(), x.num_elements()), where);
}

}  // namespace sinter::ops
