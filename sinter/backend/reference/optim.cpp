// SPDX-License-Identifier: MIT OR Apache-2.0
// Optimizer steps by plain loops.
#include "sinter/ops/optim/optim.hpp"

#include <algorithm>
#include <cmath>

#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

// Inputs in lists of n tensors as elements; list 1 are the gradients.
class Lists {
 public:
  Lists(const OpCall& call, std::size_t lists) : call_(call), n_(call.inputs.size() / lists) {
    for (const Value& input : call.inputs) {
      elements_.push_back(read_as<double>(input));
    }
  }
  std::size_t size() const { return n_; }
  std::vector<double>& at(std::size_t list, std::size_t i) { return elements_[list * n_ + i]; }
  void write(Backend& backend, Outputs& outputs) const {
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      if (i < n_ || i >= 2 * n_) {
        outputs.push_back(write_as(backend, call_.outputs[i < n_ ? i : i - n_], elements_[i]));
      }
    }
  }

 private:
  const OpCall& call_;
  std::size_t n_;
  std::vector<std::vector<double>> elements_;
};

void sgd_step(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::SgdStep>();
  Lists lists(call, op.momentum != 0 ? 3 : 2);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    std::vector<double>& p = lists.at(0, i);
    for (std::size_t k = 0; k < p.size(); ++k) {
      double g = lists.at(1, i)[k] + op.weight_decay * p[k];
      if (op.momentum != 0) {
        double& buffer = lists.at(2, i)[k];
        buffer = op.first ? g : op.momentum * buffer + (1 - op.dampening) * g;
        g = op.nesterov ? g + op.momentum * buffer : buffer;
      }
      p[k] -= op.lr * g;
    }
  }
  lists.write(backend, outputs);
}

void adam_step(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::AdamStep>();
  Lists lists(call, op.amsgrad ? 5 : 4);
  const double first = 1 - std::pow(op.beta1, static_cast<double>(op.step));
  const double second = 1 - std::pow(op.beta2, static_cast<double>(op.step));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    std::vector<double>& p = lists.at(0, i);
    for (std::size_t k = 0; k < p.size(); ++k) {
      double g = lists.at(1, i)[k];
      if (op.decoupled) {
        p[k] -= op.lr * op.weight_decay * p[k];
      } else {
        g += op.weight_decay * p[k];
      }
      double& m = lists.at(2, i)[k];
      double& v = lists.at(3, i)[k];
      m = op.beta1 * m + (1 - op.beta1) * g;
      v = op.beta2 * v + (1 - op.beta2) * g * g;
      double divisor = v;
      if (op.amsgrad) {
        double& most = lists.at(4, i)[k];
        most = std::max(most, v);
        divisor = most;
      }
      p[k] -= op.lr * (m / first) / (std::sqrt(divisor / second) + op.eps);
    }
  }
  lists.write(backend, outputs);
}

void sum_squares(Backend& backend, const OpCall& call, Outputs& outputs) {
  double total = 0;
  for (const Value& input : call.inputs) {
    for (const double x : read_as<double>(input)) {
      total += x * x;
    }
  }
  outputs.push_back(write_as(backend, call.outputs[0], std::vector<double>{total}));
}

void scale_all(Backend& backend, const OpCall& call, Outputs& outputs) {
  const double factor = read_as<double>(call.inputs[0])[0];
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    std::vector<double> x = read_as<double>(call.inputs[i]);
    for (double& element : x) {
      element *= factor;
    }
    outputs.push_back(write_as(backend, call.outputs[i - 1], x));
  }
}

}  // namespace

void set_optim(KernelTable& table) {
  table.set<ops::SgdStep>(sgd_step);
  table.set<ops::AdamStep>(adam_step);
  table.set<ops::SumSquares>(sum_squares);
  table.set<ops::ScaleAll>(scale_all);
}

}  // namespace sinter::backend::reference
