// SPDX-License-Identifier: MIT OR Apache-2.0
// Losses: cross entropy as an op of its own, the others as formulas.
#pragma once

#include "sinter/ops/modes.hpp"
#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// How targets count in a cross entropy.
struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;       ///< targets of this value count nothing
  double label_smoothing = 0;             ///< share of the target spread evenly over all classes
  Reduction reduction = Reduction::mean;  ///< mean: over the weights of the targets that count
  bool zero_if_empty =
      false;                ///< a mean over no targets is 0 instead of NaN; gradients are 0 always
  bool normalized = false;  ///< the input holds log-probabilities already

  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("ignore_index", self.ignore_index);
    visit("label_smoothing", self.label_smoothing);
    visit("reduction", self.reduction);
    visit("zero_if_empty", self.zero_if_empty);
    visit("normalized", self.normalized);
  }
};

/// logits [N, C, ...] or [C], targets (integers) [N, ...] or [], optional weights of the classes
/// [C]. Outputs the loss and, for the gradient, the logsumexp of each position (zeros when
/// normalized), in the shape of the targets. IndexError for a target outside the classes that is
/// not ignored.
struct CrossEntropy : CrossEntropyOptions {
  static constexpr OpInfo info{.name = "cross_entropy",
                               .domain = Domain::floating,
                               .saves = {.inputs = 7, .outputs = 3},
                               .untracked_outputs = 2,
                               .cheap = false,
                               .tolerance = 2e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
};

/// (g, logits, targets, logsumexp[, weights]) -> the gradient of the logits.
struct CrossEntropyGrad : CrossEntropyOptions {
  static constexpr OpInfo info{
      .name = "cross_entropy_grad", .domain = Domain::floating, .cheap = false, .tolerance = 2e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void decompose(const OpCall& call, Outputs& outputs);
};

/// See CrossEntropy; `weights` may be empty.
Value cross_entropy(const Value& logits, const Value& targets,
                    const CrossEntropyOptions& options = {}, const Value& weights = {},
                    SourceLoc where = SourceLoc::current());
/// Cross entropy of log-probabilities.
Value nll_loss(const Value& log_probabilities, const Value& targets,
               CrossEntropyOptions options = {}, const Value& weights = {},
               SourceLoc where = SourceLoc::current());
/// Cross entropy of probabilities: [0.7, 0.2, 0.1] and target 0 give -log 0.7.
Value cross_entropy_of_probabilities(const Value& probabilities, const Value& targets,
                                     const CrossEntropyOptions& options = {},
                                     const Value& weights = {},
                                     SourceLoc where = SourceLoc::current());
/// Cross entropy with target probabilities of the logits' shape; classes are dim 1.
Value soft_cross_entropy(const Value& logits, const Value& targets,
                         Reduction reduction = Reduction::mean,
                         SourceLoc where = SourceLoc::current());

/// (x - y)^2, |x - y|, and the two that are quadratic near 0 and linear beyond `beta` or `delta`.
Value mse_loss(const Value& x, const Value& y, Reduction reduction = Reduction::mean);
Value l1_loss(const Value& x, const Value& y, Reduction reduction = Reduction::mean);
Value smooth_l1_loss(const Value& x, const Value& y, double beta = 1,
                     Reduction reduction = Reduction::mean);
Value huber_loss(const Value& x, const Value& y, double delta = 1,
                 Reduction reduction = Reduction::mean);

/// Binary cross entropy of probabilities; logarithms are at least -100, so that 0 and 1 are finite.
Value bce_loss(const Value& probabilities, const Value& targets,
               Reduction reduction = Reduction::mean);
/// Binary cross entropy of logits, without overflow.
Value bce_with_logits_loss(const Value& logits, const Value& targets,
                           Reduction reduction = Reduction::mean);

/// target * (log(target) - input) with `input` log-probabilities; 0 where a target is 0.
Value kl_div_loss(const Value& input, const Value& target, Reduction reduction = Reduction::mean,
                  bool log_target = false);

/// `loss` reduced.
Value reduce_loss(const Value& loss, Reduction reduction);

}  // namespace sinter::ops
