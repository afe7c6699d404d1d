// SPDX-License-Identifier: MIT OR Apache-2.0
// Softmax and cross entropy: rows, or columns side by side, over threads.
#include "sinter/ops/softmax/softmax.hpp"

#include <vector>

#include "sinter/backend/host/class_targets.hpp"
#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/backend/portable/nn_driver.hpp"
#include "sinter/ops/loss/loss.hpp"

namespace sinter::backend::portable {
namespace {

using sinter::portable::max_columns;

// A dense tensor as [outer, n, inner] with lines of n.
struct Lines {
  std::int64_t outer = 1, n = 1, inner = 1;
  Lines(const Shape& shape, int dim) {
    for (int i = 0; i < shape.rank(); ++i) {
      (i < dim ? outer : i == dim ? n : inner) *= shape[i];
    }
  }
};

// Calls row(first line, lines) for dense lines, else columns(outer, first column, columns).
template <class R, class C>
void for_each_line(const Lines& s, R&& row, C&& columns) {
  if (s.n == 0 || s.outer == 0 || s.inner == 0) {
    return;
  }
  if (s.inner == 1) {
    parallel_for(s.outer, grain_of(s.n),
                 [&](std::int64_t begin, std::int64_t end) { row(begin, end - begin); });
    return;
  }
  constexpr std::int64_t width = max_columns;
  const std::int64_t pieces = (s.inner + width - 1) / width;
  parallel_for(s.outer * pieces, grain_of(s.n * std::min(s.inner, width)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t task = begin; task < end; ++task) {
                   const std::int64_t first = task % pieces * width;
                   columns(task / pieces, first, std::min(width, s.inner - first));
                 }
               });
}

Lines lines_of(const OpCall& call, std::int64_t dim) {
  const Shape& shape = call.inputs[0].shape();
  return Lines(shape, normalize_dim(dim, shape.rank(), call.def->name));
}

void forward(Backend& backend, const OpCall& call, Outputs& outputs, std::int64_t dim,
             bool logarithm) {
  const Lines s = lines_of(call, dim);
  const Value y = allocate(backend, call.outputs[0]);
  with_float(y.dtype(), [&]<class T>() {
    const Value input = dense_as<T>(call.inputs[0]);
    const T* x = data_of<T>(input);
    T* out = data_of<T>(y);
    for_each_line(
        s,
        [&](std::int64_t first, std::int64_t count) {
          nn<T>().softmax.rows(x + first * s.n, out + first * s.n, count, s.n, logarithm);
        },
        [&](std::int64_t outer, std::int64_t first, std::int64_t count) {
          const std::int64_t at = outer * s.n * s.inner + first;
          nn<T>().softmax.columns(x + at, out + at, s.n, s.inner, count, logarithm);
        });
  });
  outputs.push_back(y);
}
void softmax(Backend& backend, const OpCall& call, Outputs& outputs) {
  forward(backend, call, outputs, call.as<ops::Softmax>().dim, false);
}
void log_softmax(Backend& backend, const OpCall& call, Outputs& outputs) {
  forward(backend, call, outputs, call.as<ops::LogSoftmax>().dim, true);
}

void gradient(Backend& backend, const OpCall& call, Outputs& outputs, std::int64_t dim,
              bool logarithm) {
  const Lines s = lines_of(call, dim);
  const Value dx = allocate(backend, call.outputs[0]);
  with_float(dx.dtype(), [&]<class T>() {
    const Value result = dense_as<T>(call.inputs[0]);
    const Value grad = dense_as<T>(call.inputs[1]);
    const T* y = data_of<T>(result);
    const T* g = data_of<T>(grad);
    T* out = data_of<T>(dx);
    for_each_line(
        s,
        [&](std::int64_t first, std::int64_t count) {
          const std::int64_t at = first * s.n;
          nn<T>().softmax.rows_grad(y + at, g + at, out + at, count, s.n, logarithm);
        },
        [&](std::int64_t outer, std::int64_t first, std::int64_t count) {
          const std::int64_t at = outer * s.n * s.inner + first;
          nn<T>().softmax.columns_grad(y + at, g + at, out + at, s.n, s.inner, count, logarithm);
        });
  });
  outputs.push_back(dx);
}
void softmax_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  gradient(backend, call, outputs, call.as<ops::SoftmaxGrad>().dim, false);
}
void log_softmax_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  gradient(backend, call, outputs, call.as<ops::LogSoftmaxGrad>().dim, true);
}

// ---- cross entropy ----

// Logits as [outer, classes, inner] with a target for each line.
template <class T>
struct Problem {
  Lines lines;
  Value logits_value, weights_value;
  const T* logits;
  const T* weights = nullptr;  // null: 1
  std::vector<std::int64_t> targets;
  double all_weights = 0;
  double total = 0;  // of the weights of targets that count

  Problem(const ops::CrossEntropyOptions& op, const Value& x, const Value& t, const Value* w)
      : lines(x.shape(), x.rank() == 1 ? 0 : 1),
        logits_value(dense_as<T>(x)),
        logits(data_of<T>(logits_value)),
        targets(read_class_targets(t, class_count(x), op.ignore_index)) {
    if (w) {
      weights_value = dense_as<T>(*w);
      weights = data_of<T>(weights_value);
    }
    for (std::int64_t c = 0; c < lines.n; ++c) {
      all_weights += weight(c);
    }
    for (const std::int64_t target : targets) {
      total += target < 0 ? 0 : weight(target);
    }
  }
  double weight(std::int64_t c) const { return weights ? static_cast<double>(weights[c]) : 1.0; }
  std::int64_t index(std::int64_t line, std::int64_t c) const {
    return (line / lines.inner * lines.n + c) * lines.inner + line % lines.inner;
  }
};

template <class T>
double line_loss(const Problem<T>& p, const ops::CrossEntropyOptions& op, std::int64_t line,
                 T lse) {
  const std::int64_t target = p.targets[static_cast<std::size_t>(line)];
  if (target < 0) {
    return 0;
  }
  const auto surprise = [&](std::int64_t c) {
    return p.weight(c) *
           (static_cast<double>(lse) - static_cast<double>(p.logits[p.index(line, c)]));
  };
  double loss = (1 - op.label_smoothing) * surprise(target);
  if (op.label_smoothing > 0) {
    double all = 0;
    for (std::int64_t c = 0; c < p.lines.n; ++c) {
      all += surprise(c);
    }
    loss += op.label_smoothing / static_cast<double>(p.lines.n) * all;
  }
  return loss;
}

template <class T>
void logsumexp_lines(const Problem<T>& p, T* out) {
  const Lines& s = p.lines;
  for_each_line(
      s,
      [&](std::int64_t first, std::int64_t count) {
        nn<T>().softmax.rows_logsumexp(p.logits + first * s.n, out + first, count, s.n);
      },
      [&](std::int64_t outer, std::int64_t first, std::int64_t count) {
        nn<T>().softmax.columns_logsumexp(p.logits + outer * s.n * s.inner + first,
                                          out + outer * s.inner + first, s.n, s.inner, count);
      });
}

void cross_entropy(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::CrossEntropy>();
  const Value loss = allocate(backend, call.outputs[0]);
  const Value lse = allocate(backend, call.outputs[1]);
  with_float(call.inputs[0].dtype(), [&]<class T>() {
    const Problem<T> p(op, call.inputs[0], call.inputs[1],
                       call.inputs.size() > 2 ? &call.inputs[2] : nullptr);
    const auto count = static_cast<std::int64_t>(p.targets.size());
    T* sums = data_of<T>(lse);
    if (op.normalized) {
      std::fill(sums, sums + count, T(0));
    } else {
      logsumexp_lines(p, sums);
    }
    double total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double each = line_loss(p, op, i, sums[i]);
      total += each;
      if (op.reduction == ops::Reduction::none) {
        data_of<T>(loss)[i] = static_cast<T>(each);
      }
    }
    if (op.reduction == ops::Reduction::mean) {
      total = p.total == 0 && op.zero_if_empty ? 0 : total / p.total;
    }
    if (op.reduction != ops::Reduction::none) {
      *data_of<T>(loss) = static_cast<T>(total);
    }
  });
  outputs.push_back(loss);
  outputs.push_back(lse);
}

// The gradient's terms of one line: probability * scale - offset * weights, and `hard` less at the
// target.
struct Terms {
  double scale = 0, offset = 0, hard = 0;
};
template <class T>
Terms terms_of(const Problem<T>& p, const ops::CrossEntropyOptions& op, const T* g,
               std::int64_t line) {
  const std::int64_t target = p.targets[static_cast<std::size_t>(line)];
  if (target < 0) {
    return {};
  }
  double factor = static_cast<double>(op.reduction == ops::Reduction::none ? g[line] : g[0]);
  factor /= op.reduction == ops::Reduction::mean ? p.total : 1;
  const double share = op.label_smoothing / static_cast<double>(p.lines.n);
  Terms t;
  t.hard = factor * (1 - op.label_smoothing) * p.weight(target);
  t.offset = factor * share;
  t.scale = op.normalized ? 0 : t.hard + t.offset * p.all_weights;
  return t;
}

// Puts right what the formula does not say: the target's term, and lines that do not count.
template <class T>
void finish_line(const Problem<T>& p, const ops::CrossEntropyOptions& op, const Terms& t,
                 std::int64_t line, T* dx) {
  const std::int64_t target = p.targets[static_cast<std::size_t>(line)];
  if (target < 0 || op.normalized) {
    for (std::int64_t c = 0; c < p.lines.n; ++c) {
      dx[p.index(line, c)] = target < 0 ? T(0) : static_cast<T>(-t.offset * p.weight(c));
    }
  }
  if (target >= 0) {
    dx[p.index(line, target)] -= static_cast<T>(t.hard);
  }
}

template <class T>
void cross_entropy_gradient(const ops::CrossEntropyOptions& op, const OpCall& call, T* dx) {
  const Problem<T> p(op, call.inputs[1], call.inputs[2],
                     call.inputs.size() > 4 ? &call.inputs[4] : nullptr);
  const Lines& s = p.lines;
  const Value g_value = dense_as<T>(call.inputs[0]);
  const Value lse_value = dense_as<T>(call.inputs[3]);
  const T* g = data_of<T>(g_value);
  const T* lse = data_of<T>(lse_value);
  for_each_line(
      s,
      [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t line = first; line < first + count; ++line) {
          const Terms t = terms_of(p, op, g, line);
          nn<T>().softmax.row_probability(p.logits + line * s.n, dx + line * s.n, s.n, lse[line],
                                          static_cast<T>(t.scale), static_cast<T>(t.offset),
                                          p.weights);
          finish_line(p, op, t, line, dx);
        }
      },
      [&](std::int64_t outer, std::int64_t first, std::int64_t count) {
        T scale[max_columns];
        T offset[max_columns];
        const std::int64_t line = outer * s.inner + first;
        for (std::int64_t i = 0; i < count; ++i) {
          const Terms t = terms_of(p, op, g, line + i);
          scale[i] = static_cast<T>(t.scale);
          offset[i] = static_cast<T>(t.offset);
        }
        const std::int64_t at = outer * s.n * s.inner + first;
        nn<T>().softmax.columns_probability(p.logits + at, dx + at, s.n, s.inner, count, lse + line,
                                            scale, offset, p.weights);
        for (std::int64_t i = 0; i < count; ++i) {
          finish_line(p, op, terms_of(p, op, g, line + i), line + i, dx);
        }
      });
}
void cross_entropy_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Value dx = allocate(backend, call.outputs[0]);
  with_float(dx.dtype(), [&]<class T>() {
    cross_entropy_gradient<T>(call.as<ops::CrossEntropyGrad>(), call, data_of<T>(dx));
  });
  outputs.push_back(dx);
}

}  // namespace

void set_softmax(KernelTable& table) {
  table.set<ops::Softmax>(widened<softmax>);
  table.set<ops::LogSoftmax>(widened<log_softmax>);
  table.set<ops::SoftmaxGrad>(widened<softmax_grad>);
  table.set<ops::LogSoftmaxGrad>(widened<log_softmax_grad>);
  table.set<ops::CrossEntropy>(widened<cross_entropy>);
  table.set<ops::CrossEntropyGrad>(widened<cross_entropy_grad>);
}

}  // namespace sinter::backend::portable
