// SPDX-License-Identifier: MIT OR Apache-2.0
// Optimizer steps over many tensors in one call, global norm and scaling. None is differentiable.
#pragma once

#include <vector>

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// Inputs: n parameters, n gradients and, with momentum, n buffers; outputs: n new parameters and
/// buffers. g += weight_decay * p; buf = momentum * buf + (1 - dampening) * g (buf = g at the first
/// step); p -= lr * (g + momentum * buf for nesterov, else buf).
struct SgdStep {
  static constexpr OpInfo info{.name = "sgd_step", .domain = Domain::floating, .cheap = false};
  double lr = 0.01;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool first = false;  ///< buffers hold nothing yet
  static void infer(const OpCall& call, Specs& outputs);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("lr", self.lr);
    visit("momentum", self.momentum);
    visit("dampening", self.dampening);
    visit("weight_decay", self.weight_decay);
    visit("nesterov", self.nesterov);
    visit("first", self.first);
  }
};

/// Inputs: n parameters, n gradients, n first and n second moments (and, with amsgrad, n maxima of
/// the second); outputs: the same without the gradients. Adam by Kingma and Ba, with both bias
/// corrections; `decoupled` decays weights as AdamW (Loshchilov and Hutter) does. `step` counts
/// from 1.
struct AdamStep {
  static constexpr OpInfo info{
      .name = "adam_step", .domain = Domain::floating, .cheap = false, .tolerance = 1e-5};
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  std::int64_t step = 1;
  bool decoupled = false;
  bool amsgrad = false;
  static void infer(const OpCall& call, Specs& outputs);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("lr", self.lr);
    visit("beta1", self.beta1);
    visit("beta2", self.beta2);
    visit("eps", self.eps);
    visit("weight_decay", self.weight_decay);
    visit("step", self.step);
    visit("decoupled", self.decoupled);
    visit("amsgrad", self.amsgrad);
  }
};

/// The sum of the squares of all elements of all inputs, a scalar of f32 (f64 if an input is).
struct SumSquares {
  static constexpr OpInfo info{
      .name = "sum_squares", .domain = Domain::floating, .cheap = false, .tolerance = 1e-5};
  static void infer(const OpCall& call, Specs& outputs);
  static void samples(SampleSink& sink);
};

/// (factor [], n tensors) -> each tensor times the factor.
struct ScaleAll {
  static constexpr OpInfo info{.name = "scale_all", .domain = Domain::floating, .cheap = false};
  static void infer(const OpCall& call, Specs& outputs);
  static void samples(SampleSink& sink);
};

/// The dtype that an optimizer keeps state in for a parameter: at least f32.
inline DType state_dtype(DType parameter) {
  return size_of(parameter) < 4 ? DType::f32 : parameter;
}

// The lists below are replaced by their new tensors. A tensor that nobody else holds is updated in
// place. An empty gradient leaves its parameter and state as they are.

/// `buffers` may be empty without momentum.
void sgd_step(const SgdStep& op, std::vector<Value>& parameters,
              const std::vector<Value>& gradients, std::vector<Value>& buffers);
/// `max_second` is used with amsgrad only.
void adam_step(const AdamStep& op, std::vector<Value>& parameters,
               const std::vector<Value>& gradients, std::vector<Value>& first,
               std::vector<Value>& second, std::vector<Value>& max_second);
/// The Euclidean norm over all tensors; empty ones are skipped. ArgumentError when none is left.
Value global_norm(const std::vector<Value>& tensors);
void scale_all(const Value& factor, std::vector<Value>& tensors);
/// Scales all tensors by max_norm / norm when their global norm is larger; gives the norm from
/// before.
Value clip_global_norm(std::vector<Value>& tensors, double max_norm);

}  // namespace sinter::ops
