// SPDX-License-Identifier: MIT OR Apache-2.0
// Losses, as functions and as modules.
#pragma once

#include "sinter/nn/param.hpp"

namespace sinter::nn {

/// How a loss folds its elements; `forward_no_reduction` keeps them.
enum class Reduction : std::uint8_t { mean, sum };

struct CrossEntropyConfig {
  std::int64_t ignore_index = -100;  ///< targets of this value count nothing
  double label_smoothing = 0;        ///< share of the target spread evenly over all classes
  Reduction reduction = Reduction::mean;
  bool zero_if_empty = false;  ///< the mean over no targets is 0 instead of NaN
  bool logits = true;          ///< false: the input holds probabilities
};

namespace detail {
enum class Fold : std::uint8_t { mean, sum, none };
constexpr Fold fold_of(Reduction reduction) {
  return reduction == Reduction::mean ? Fold::mean : Fold::sum;
}
Value cross_entropy(const Value& x, const Value& targets, const Value& weights,
                    const CrossEntropyConfig& config, Fold fold);
Value mse(const Value& x, const Value& y, Fold fold);
Value l1(const Value& x, const Value& y, Fold fold);
Value smooth_l1(const Value& x, const Value& y, double beta, Fold fold);
Value huber(const Value& x, const Value& y, double delta, Fold fold);
Value bce(const Value& x, const Value& y, bool logits, double label_smoothing, Fold fold);
Value kl_div(const Value& x, const Value& y, bool log_target, Fold fold);
}  // namespace detail

/// logits [N, C, ...] and integer targets [N, ...] -> one number. The mean is over the targets that
/// count (by the weights of their classes [C], if given). IndexError for a target outside the
/// classes.
class CrossEntropyLoss {
 public:
  CrossEntropyConfig config;
  Tensor<1> weights;  ///< of the classes; unset: all 1

  template <int D>
  Tensor<0> forward(const Tensor<D>& x, const Tensor<D - 1, Int>& targets) const {
    return Tensor<0>(detail::cross_entropy(x.value(), targets.value(), weights.value(), config,
                                           detail::fold_of(config.reduction)));
  }
  /// The loss of each target.
  template <int D>
  Tensor<D - 1> forward_no_reduction(const Tensor<D>& x, const Tensor<D - 1, Int>& targets) const {
    return Tensor<D - 1>(detail::cross_entropy(x.value(), targets.value(), weights.value(), config,
                                               detail::Fold::none));
  }

  CrossEntropyLoss(const CrossEntropyConfig& options = {}, const Tensor<1>& class_weights = {})
      : config(options), weights(class_weights) {}
  SINTER_FIELDS(config, weights)
};

// A loss of two tensors of one shape, whose fields are its options.
#define SINTER_NN_LOSS(call)                                                              \
  template <int D>                                                                        \
  Tensor<0> forward(const Tensor<D>& input, const Tensor<D>& target) const {              \
    const Value& x = input.value();                                                       \
    const Value& y = target.value();                                                      \
    const detail::Fold fold = detail::fold_of(reduction);                                 \
    return Tensor<0>(call);                                                               \
  }                                                                                       \
  template <int D>                                                                        \
  Tensor<D> forward_no_reduction(const Tensor<D>& input, const Tensor<D>& target) const { \
    const Value& x = input.value();                                                       \
    const Value& y = target.value();                                                      \
    const detail::Fold fold = detail::Fold::none;                                         \
    return Tensor<D>(call);                                                               \
  }

/// (x - y)^2
struct MseLoss {
  Reduction reduction = Reduction::mean;
  SINTER_NN_LOSS(detail::mse(x, y, fold))
};
/// |x - y|
struct L1Loss {
  Reduction reduction = Reduction::mean;
  SINTER_NN_LOSS(detail::l1(x, y, fold))
};
/// (x - y)^2 / (2 beta) below `beta`, |x - y| - beta / 2 beyond.
struct SmoothL1Loss {
  double beta = 1;
  Reduction reduction = Reduction::mean;
  SINTER_NN_LOSS(detail::smooth_l1(x, y, beta, fold))
};
/// (x - y)^2 / 2 below `delta`, delta (|x - y| - delta / 2) beyond.
struct HuberLoss {
  double delta = 1;
  Reduction reduction = Reduction::mean;
  SINTER_NN_LOSS(detail::huber(x, y, delta, fold))
};
/// Binary cross entropy of probabilities; logarithms are at least -100. With smoothing the target
/// becomes y (1 - smoothing) + smoothing / 2.
struct BceLoss {
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;
  SINTER_NN_LOSS(detail::bce(x, y, false, label_smoothing, fold))
};
/// Binary cross entropy of logits, without overflow.
struct BceWithLogitsLoss {
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;
  SINTER_NN_LOSS(detail::bce(x, y, true, label_smoothing, fold))
};
/// target (log target - x) with x log-probabilities.
struct KlDivLoss {
  bool log_target = false;
  Reduction reduction = Reduction::mean;
  SINTER_NN_LOSS(detail::kl_div(x, y, log_target, fold))
};
#undef SINTER_NN_LOSS

template <int D>
Tensor<0> cross_entropy(const Tensor<D>& logits, const Tensor<D - 1, Int>& targets,
                        const CrossEntropyConfig& config = {}) {
  return CrossEntropyLoss(config).forward(logits, targets);
}
template <int D>
Tensor<0> mse_loss(const Tensor<D>& x, const Tensor<D>& y) {
  return MseLoss{}.forward(x, y);
}
template <int D>
Tensor<0> l1_loss(const Tensor<D>& x, const Tensor<D>& y) {
  return L1Loss{}.forward(x, y);
}
template <int D>
Tensor<0> huber_loss(const Tensor<D>& x, const Tensor<D>& y, double delta = 1) {
  return HuberLoss{.delta = delta}.forward(x, y);
}
template <int D>
Tensor<0> bce_loss(const Tensor<D>& probabilities, const Tensor<D>& y) {
  return BceLoss{}.forward(probabilities, y);
}
template <int D>
Tensor<0> bce_with_logits_loss(const Tensor<D>& logits, const Tensor<D>& y) {
  return BceWithLogitsLoss{}.forward(logits, y);
}

}  // namespace sinter::nn
