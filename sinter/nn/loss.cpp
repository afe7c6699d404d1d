// SPDX-License-Identifier: MIT OR Apache-2.0
// Cores of losses.
#include "sinter/nn/loss.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/loss/loss.hpp"

namespace sinter::nn::detail {
namespace {

ops::Reduction reduction_of(Fold fold) {
  return fold == Fold::mean  ? ops::Reduction::mean
         : fold == Fold::sum ? ops::Reduction::sum
                             : ops::Reduction::none;
}

// Shapes must be equal: a silent broadcast of [n] against [n, 1] is the classic wrong loss.
void check_same(std::string_view loss, const Value& x, const Value& y) {
  if (!(x.shape() == y.shape())) {
    throw ShapeError(fmt::format(
        "{}: expected a target of the input's shape {}, got {}; reshape or expand it first", loss,
        x.shape().str(), y.shape().str()));
  }
}

}  // namespace

Value cross_entropy(const Value& x, const Value& targets, const Value& weights,
                    const CrossEntropyConfig& config, Fold fold) {
  const ops::CrossEntropyOptions options{.ignore_index = config.ignore_index,
                                         .label_smoothing = config.label_smoothing,
                                         .reduction = reduction_of(fold),
                                         .zero_if_empty = config.zero_if_empty};
  return config.logits ? ops::cross_entropy(x, targets, options, weights)
                       : ops::cross_entropy_of_probabilities(x, targets, options, weights);
}
Value mse(const Value& x, const Value& y, Fold fold) {
  check_same("MseLoss", x, y);
  return ops::mse_loss(x, y, reduction_of(fold));
}
Value l1(const Value& x, const Value& y, Fold fold) {
  check_same("L1Loss", x, y);
  return ops::l1_loss(x, y, reduction_of(fold));
}
Value smooth_l1(const Value& x, const Value& y, double beta, Fold fold) {
  check_same("SmoothL1Loss", x, y);
  return ops::smooth_l1_loss(x, y, beta, reduction_of(fold));
}
Value huber(const Value& x, const Value& y, double delta, Fold fold) {
  check_same("HuberLoss", x, y);
  return ops::huber_loss(x, y, delta, reduction_of(fold));
}
Value bce(const Value& x, const Value& y, bool logits, double label_smoothing, Fold fold) {
  check_same(logits ? "BceWithLogitsLoss" : "BceLoss", x, y);
  Value target = y;
  if (label_smoothing != 0) {
    target = ops::add(ops::mul(y, ops::scalar_like(y, 1 - label_smoothing)),
                      ops::scalar_like(y, label_smoothing / 2));
  }
  return logits ? ops::bce_with_logits_loss(x, target, reduction_of(fold))
                : ops::bce_loss(x, target, reduction_of(fold));
}
Value kl_div(const Value& x, const Value& y, bool log_target, Fold fold) {
  check_same("KlDivLoss", x, y);
  return ops::kl_div_loss(x, y, reduction_of(fold), log_target);
}

}  // namespace sinter::nn::detail
