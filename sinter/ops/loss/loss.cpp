// SPDX-License-Identifier: MIT OR Apache-2.0
// Losses that are short formulas.
#include "sinter/ops/loss/loss.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::ops {
namespace {

// Broadcasting in a loss is a mistake: [n, 1] against [n] would give n^2 terms.
void check_same(std::string_view op, const Value& x, const Value& y) {
  if (!(x.shape() == y.shape())) {
    throw ShapeError(fmt::format("{}: prediction {} and target {} must have one shape; reshape one",
                                 op, x.shape().str(), y.shape().str()));
  }
}

}  // namespace

Value reduce_loss(const Value& loss, Reduction reduction) {
  switch (reduction) {
    case Reduction::mean:
      return mean(loss);
    case Reduction::sum:
      return sum(loss);
    case Reduction::none:
      break;
  }
  return loss;
}

Value mse_loss(const Value& x, const Value& y, Reduction reduction) {
  check_same("mse_loss", x, y);
  return reduce_loss(square(sub(x, y)), reduction);
}
Value l1_loss(const Value& x, const Value& y, Reduction reduction) {
  check_same("l1_loss", x, y);
  return reduce_loss(abs(sub(x, y)), reduction);
}
Value smooth_l1_loss(const Value& x, const Value& y, double beta, Reduction reduction) {
  check_same("smooth_l1_loss", x, y);
  if (!(beta >= 0)) {
    throw ArgumentError(fmt::format("smooth_l1_loss: beta must not be negative, got {}", beta));
  }
  if (beta == 0) {
    return l1_loss(x, y, reduction);
  }
  const Value d = abs(sub(x, y));
  const Value inside = mul(square(d), scalar_like(d, 0.5 / beta));
  const Value outside = sub(d, scalar_like(d, 0.5 * beta));
  return reduce_loss(where(less(d, scalar_like(d, beta)), inside, outside), reduction);
}
Value huber_loss(const Value& x, const Value& y, double delta, Reduction reduction) {
  check_same("huber_loss", x, y);
  if (!(delta > 0)) {
    throw ArgumentError(fmt::format("huber_loss: delta must be positive, got {}", delta));
  }
  const Value d = abs(sub(x, y));
  const Value inside = mul(square(d), scalar_like(d, 0.5));
  const Value outside = mul(sub(d, scalar_like(d, 0.5 * delta)), scalar_like(d, delta));
  return reduce_loss(where(less_equal(d, scalar_like(d, delta)), inside, outside), reduction);
}

Value bce_loss(const Value& probabilities, const Value& targets, Reduction reduction) {
  check_same("bce_loss", probabilities, targets);
  const Value& p = probabilities;
  const Value floor = scalar_like(p, -100);
  const Value zero = scalar_like(p, 0);
  const Value one = scalar_like(p, 1);
  // The ends are taken out before the logarithm: its infinite slope times a factor of 0 is NaN.
  const Value at_zero = equal(p, zero);
  const Value at_one = equal(p, one);
  const Value yes = where(at_zero, floor, maximum(log(where(at_zero, one, p)), floor));
  const Value no = where(at_one, floor, maximum(log1p(neg(where(at_one, zero, p))), floor));
  const Value rest = sub(scalar_like(targets, 1), targets);
  return reduce_loss(neg(add(mul(targets, yes), mul(rest, no))), reduction);
}
// softplus(x) - x * y, with softplus(x) = -log_sigmoid(-x).
Value bce_with_logits_loss(const Value& logits, const Value& targets, Reduction reduction) {
  check_same("bce_with_logits_loss", logits, targets);
  const Value no = neg(mul(logits, targets));
  return reduce_loss(sub(no, log_sigmoid(neg(logits))), reduction);
}

Value kl_div_loss(const Value& input, const Value& target, Reduction reduction, bool log_target) {
  check_same("kl_div_loss", input, target);
  if (log_target) {
    return reduce_loss(mul(exp(target), sub(target, input)), reduction);
  }
  const Value zero = scalar_like(target, 0);
  const Value positive = greater(target, zero);
  const Value safe = where(positive, target, scalar_like(target, 1));
  const Value loss = mul(target, sub(log(safe), input));
  return reduce_loss(where(positive, loss, zero), reduction);
}

}  // namespace sinter::ops
