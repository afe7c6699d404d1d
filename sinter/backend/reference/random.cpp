// SPDX-License-Identifier: MIT OR Apache-2.0
// Random numbers, each reached from its position alone.
#include <cmath>
#include <numbers>

#include "sinter/backend/host/random.hpp"
#include "sinter/backend/reference/oracle.hpp"
#include "sinter/ops/random/philox.hpp"
#include "sinter/ops/random/random.hpp"

namespace sinter::backend::reference {
namespace {

using ops::RandomKind;

// Box and Muller's: positions 2 i and 2 i + 1 are the two coordinates of one point.
double normal(const ops::Random& op, std::uint64_t position) {
  const std::uint64_t seed = op.key.seed;
  const std::uint64_t first = position / 2 * 2;
  double radius;
  double turn;
  if (op.dtype == DType::f64) {
    radius = philox::unit_above_zero(philox::bits64(seed, first));
    turn = philox::unit(philox::bits64(seed, first + 1));
  } else {
    radius = philox::unit_above_zero(philox::bits32(seed, first));
    turn = philox::unit(philox::bits32(seed, first + 1));
  }
  const double angle = 2 * std::numbers::pi * turn;
  const double point = position % 2 ? std::sin(angle) : std::cos(angle);
  return op.distribution.a + op.distribution.b * (std::sqrt(-2 * std::log(radius)) * point);
}

double uniform(const ops::Random& op, std::uint64_t position) {
  const UniformRange range(op.distribution, op.dtype);
  return op.dtype == DType::f64 ? range.at(philox::bits64(op.key.seed, position))
                                : range.at(philox::bits32(op.key.seed, position));
}

void random(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Random>();
  const ops::Distribution& d = op.distribution;
  const auto count = static_cast<std::size_t>(num_elements(op.shape));
  if (d.kind == RandomKind::uniform || d.kind == RandomKind::normal) {
    std::vector<double> out(count);
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = d.kind == RandomKind::uniform ? uniform(op, op.key.offset + i)
                                             : normal(op, op.key.offset + i);
    }
    outputs.push_back(write_as(backend, call.outputs[0], out));
    return;
  }
  std::vector<std::int64_t> out(count);
  const auto range = static_cast<std::uint64_t>(d.last) - static_cast<std::uint64_t>(d.first);
  const std::uint64_t threshold = philox::threshold(d.a);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t position = op.key.offset + i;
    out[i] = d.kind == RandomKind::bernoulli
                 ? philox::bits32(op.key.seed, position) < threshold
                 : static_cast<std::int64_t>(static_cast<std::uint64_t>(d.first) +
                                             philox::bounded(op.key.seed, position, range));
  }
  outputs.push_back(write_as(backend, call.outputs[0], out));
}

void dropout(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Dropout>();
  std::vector<double> x = read_as<double>(call.inputs[0]);
  const std::uint64_t threshold = philox::threshold(op.p);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool dropped = philox::bits32(op.key.seed, op.key.offset + i) < threshold;
    x[i] = dropped ? 0 : x[i] * (1 / (1 - op.p));
  }
  outputs.push_back(write_as(backend, call.outputs[0], x));
}

}  // namespace

void set_random(KernelTable& table) {
  table.set<ops::Random>(random);
  table.set<ops::Dropout>(dropout);
}

}  // namespace sinter::backend::reference
