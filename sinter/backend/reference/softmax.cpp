// SPDX-License-Identifier: MIT OR Apache-2.0
// Softmax and its relatives by plain loops.
#include "sinter/ops/softmax/softmax.hpp"

#include <cmath>

#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

// Calls f(first index, step) for every line of `shape` along `dim`.
template <class F>
void for_each_line(const Shape& shape, std::int64_t dim, F&& f) {
  const int d = normalize_dim(dim, shape.rank(), "softmax");
  std::size_t inner = 1;
  for (int i = d + 1; i < shape.rank(); ++i) {
    inner *= static_cast<std::size_t>(shape[i]);
  }
  const auto length = static_cast<std::size_t>(shape[d]);
  const auto total = static_cast<std::size_t>(num_elements(shape));
  for (std::size_t outer = 0; outer < total; outer += length * inner) {
    for (std::size_t i = 0; i < inner; ++i) {
      f(outer + i, inner, length);
    }
  }
}

void forward(Backend& backend, const OpCall& call, Outputs& outputs, std::int64_t dim,
             bool logarithm) {
  std::vector<double> x = read_as<double>(call.inputs[0]);
  for_each_line(
      call.inputs[0].shape(), dim, [&](std::size_t first, std::size_t step, std::size_t n) {
        double top = -INFINITY;
        for (std::size_t i = 0; i < n; ++i) {
          top = std::fmax(top, x[first + i * step]);
        }
        double total = 0;
        for (std::size_t i = 0; i < n; ++i) {
          total += std::exp(x[first + i * step] - top);
        }
        for (std::size_t i = 0; i < n; ++i) {
          double& element = x[first + i * step];
          element = logarithm ? element - top - std::log(total) : std::exp(element - top) / total;
        }
      });
  outputs.push_back(write_as(backend, call.outputs[0], x));
}
void softmax(Backend& backend, const OpCall& call, Outputs& outputs) {
  forward(backend, call, outputs, call.as<ops::Softmax>().dim, false);
}
void log_softmax(Backend& backend, const OpCall& call, Outputs& outputs) {
  forward(backend, call, outputs, call.as<ops::LogSoftmax>().dim, true);
}

void gradient(Backend& backend, const OpCall& call, Outputs& outputs, std::int64_t dim,
              bool logarithm) {
  const std::vector<double> y = read_as<double>(call.inputs[0]);
  std::vector<double> g = read_as<double>(call.inputs[1]);
  for_each_line(call.inputs[0].shape(), dim,
                [&](std::size_t first, std::size_t step, std::size_t n) {
                  double total = 0;
                  for (std::size_t i = first; i < first + n * step; i += step) {
                    total += logarithm ? g[i] : y[i] * g[i];
                  }
                  for (std::size_t i = first; i < first + n * step; i += step) {
                    g[i] = logarithm ? g[i] - std::exp(y[i]) * total : y[i] * (g[i] - total);
                  }
                });
  outputs.push_back(write_as(backend, call.outputs[0], g));
}
void softmax_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  gradient(backend, call, outputs, call.as<ops::SoftmaxGrad>().dim, false);
}
void log_softmax_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  gradient(backend, call, outputs, call.as<ops::LogSoftmaxGrad>().dim, true);
}

}  // namespace

void set_softmax(KernelTable& table) {
  table.set<ops::Softmax>(softmax);
  table.set<ops::LogSoftmax>(log_softmax);
  table.set<ops::SoftmaxGrad>(softmax_grad);
  table.set<ops::LogSoftmaxGrad>(log_softmax_grad);
}

}  // namespace sinter::backend::reference
