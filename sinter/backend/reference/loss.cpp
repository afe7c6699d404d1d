// SPDX-License-Identifier: MIT OR Apache-2.0
// Cross entropy and its gradient by plain loops.
#include "sinter/ops/loss/loss.hpp"

#include <cmath>

#include "sinter/backend/host/class_targets.hpp"
#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

// Logits as [outer, classes, inner] with targets [outer, inner].
struct Problem {
  std::size_t classes, inner;
  std::vector<double> logits;
  std::vector<std::int64_t> targets;
  std::vector<double> weights;
  double all_weights = 0;
  double total = 0;  // of the weights of targets that count

  Problem(const ops::CrossEntropyOptions& op, const Value& x, const Value& t, const Value* w)
      : logits(read_as<double>(x)),
        targets(read_class_targets(t, class_count(x), op.ignore_index)) {
    classes = static_cast<std::size_t>(class_count(x));
    inner = 1;
    for (int i = 2; i < x.rank(); ++i) {
      inner *= static_cast<std::size_t>(x.size(i));
    }
    weights = w ? read_as<double>(*w) : std::vector<double>(classes, 1.0);
    for (const double weight : weights) {
      all_weights += weight;
    }
    for (const std::int64_t target : targets) {
      total += target < 0 ? 0 : weights[static_cast<std::size_t>(target)];
    }
  }
  std::size_t index(std::size_t position, std::size_t c) const {
    return (position / inner * classes + c) * inner + position % inner;
  }
  double logsumexp(std::size_t position) const {
    double top = -INFINITY;
    for (std::size_t c = 0; c < classes; ++c) {
      top = std::fmax(top, logits[index(position, c)]);
    }
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      sum += std::exp(logits[index(position, c)] - top);
    }
    return top + std::log(sum);
  }
};

void cross_entropy(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::CrossEntropy>();
  const Problem p(op, call.inputs[0], call.inputs[1],
                  call.inputs.size() > 2 ? &call.inputs[2] : nullptr);
  std::vector<double> losses(p.targets.size());
  std::vector<double> sums(p.targets.size());
  double sum = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    sums[i] = op.normalized ? 0 : p.logsumexp(i);
    if (p.targets[i] < 0) {
      continue;
    }
    const auto y = static_cast<std::size_t>(p.targets[i]);
    losses[i] = (1 - op.label_smoothing) * p.weights[y] * (sums[i] - p.logits[p.index(i, y)]);
    for (std::size_t c = 0; c < p.classes && op.label_smoothing > 0; ++c) {
      losses[i] += op.label_smoothing / static_cast<double>(p.classes) * p.weights[c] *
                   (sums[i] - p.logits[p.index(i, c)]);
    }
    sum += losses[i];
  }
  if (op.reduction == ops::Reduction::none) {
    outputs.push_back(write_as(backend, call.outputs[0], losses));
  } else {
    if (op.reduction == ops::Reduction::mean) {
      sum = p.total == 0 && op.zero_if_empty ? 0 : sum / p.total;
    }
    outputs.push_back(write_as(backend, call.outputs[0], std::vector<double>{sum}));
  }
  outputs.push_back(write_as(backend, call.outputs[1], sums));
}

void cross_entropy_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::CrossEntropyGrad>();
  const Problem p(op, call.inputs[1], call.inputs[2],
                  call.inputs.size() > 4 ? &call.inputs[4] : nullptr);
  const std::vector<double> g = read_as<double>(call.inputs[0]);
  const std::vector<double> sums = read_as<double>(call.inputs[3]);
  const double share = op.label_smoothing / static_cast<double>(p.classes);
  std::vector<double> dx(p.logits.size());
  for (std::size_t i = 0; i < p.targets.size(); ++i) {
    if (p.targets[i] < 0) {
      continue;
    }
    const auto y = static_cast<std::size_t>(p.targets[i]);
    double scale = op.reduction == ops::Reduction::none ? g[i] : g[0];
    scale /= op.reduction == ops::Reduction::mean ? p.total : 1;
    const double hard = (1 - op.label_smoothing) * p.weights[y];
    for (std::size_t c = 0; c < p.classes; ++c) {
      const double probability = op.normalized ? 0 : std::exp(p.logits[p.index(i, c)] - sums[i]);
      dx[p.index(i, c)] = scale * (probability * (hard + share * p.all_weights) -
                                   (c == y ? hard : 0) - share * p.weights[c]);
    }
  }
  outputs.push_back(write_as(backend, call.outputs[0], dx));
}

}  // namespace

void set_loss(KernelTable& table) {
  table.set<ops::CrossEntropy>(cross_entropy);
  table.set<ops::CrossEntropyGrad>(cross_entropy_grad);
}

}  // namespace sinter::backend::reference
