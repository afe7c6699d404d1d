// SPDX-License-Identifier: MIT OR Apache-2.0
// Normalisation and its gradients by plain loops: every group of elements is normalised on its own.
#include "sinter/ops/norm/norm.hpp"

#include <cmath>

#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

struct Statistics {
  double mean = 0;
  double variance = 0;
};

// Statistics of x[index(0)], ..., x[index(n - 1)]; about 0 unless `centred`.
template <class I>
Statistics statistics(const std::vector<double>& x, std::size_t n, I&& index, bool centred = true) {
  Statistics s;
  for (std::size_t i = 0; i < n && centred; ++i) {
    s.mean += x[index(i)];
  }
  s.mean /= static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double d = x[index(i)] - s.mean;
    s.variance += d * d;
  }
  s.variance /= static_cast<double>(n);
  return s;
}

// The gradient of n elements that were normalised together. `h(i)` is the gradient of the
// normalised element; `centred`: the mean was subtracted.
template <class I, class H>
void group_gradient(const std::vector<double>& x, std::vector<double>& dx, std::size_t n,
                    double mean, double factor, bool centred, I&& index, H&& h) {
  double sum = 0;
  double along = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += h(i);
    along += h(i) * (x[index(i)] - mean) * factor;
  }
  sum = centred ? sum / static_cast<double>(n) : 0;
  along /= static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    dx[index(i)] = factor * (h(i) - sum - (x[index(i)] - mean) * factor * along);
  }
}

struct Rows {
  std::size_t count, size;
  Rows(const Shape& shape, int dims) : count(1), size(1) {
    for (int i = 0; i < shape.rank(); ++i) {
      (i < shape.rank() - dims ? count : size) *= static_cast<std::size_t>(shape[i]);
    }
  }
};

template <bool centred>
void row_norm(Backend& backend, const OpCall& call, Outputs& outputs, const ops::RowNorm& op) {
  std::vector<double> x = read_as<double>(call.inputs[0]);
  const Rows rows(call.inputs[0].shape(), op.dims);
  const bool has_weight = call.inputs.size() > 1;
  const bool has_bias = call.inputs.size() > 2;
  const std::vector<double> weight =
      has_weight ? read_as<double>(call.inputs[1]) : std::vector<double>();
  const std::vector<double> bias =
      has_bias ? read_as<double>(call.inputs[2]) : std::vector<double>();
  std::vector<double> means(rows.count);
  std::vector<double> factors(rows.count);
  for (std::size_t r = 0; r < rows.count; ++r) {
    const auto index = [&](std::size_t i) { return r * rows.size + i; };
    const Statistics s = statistics(x, rows.size, index, centred);
    means[r] = s.mean;
    factors[r] = 1 / std::sqrt(s.variance + op.eps);
    for (std::size_t i = 0; i < rows.size; ++i) {
      double& element = x[index(i)];
      element = (element - means[r]) * factors[r] * (has_weight ? weight[i] : 1) +
                (has_bias ? bias[i] : 0);
    }
  }
  outputs.push_back(write_as(backend, call.outputs[0], x));
  if (centred) {
    outputs.push_back(write_as(backend, call.outputs[1], means));
  }
  outputs.push_back(write_as(backend, call.outputs[centred ? 2 : 1], factors));
}
void layer_norm(Backend& backend, const OpCall& call, Outputs& outputs) {
  row_norm<true>(backend, call, outputs, call.as<ops::LayerNorm>());
}
void rms_norm(Backend& backend, const OpCall& call, Outputs& outputs) {
  row_norm<false>(backend, call, outputs, call.as<ops::RmsNorm>());
}

template <bool centred>
void row_norm_grad(Backend& backend, const OpCall& call, Outputs& outputs, const ops::RowNorm& op) {
  constexpr std::size_t at_weight = centred ? 4 : 3;
  const std::vector<double> g = read_as<double>(call.inputs[0]);
  const std::vector<double> x = read_as<double>(call.inputs[1]);
  const Rows rows(call.inputs[1].shape(), op.dims);
  const std::vector<double> means =
      centred ? read_as<double>(call.inputs[2]) : std::vector<double>(rows.count);
  const std::vector<double> factors = read_as<double>(call.inputs[at_weight - 1]);
  const bool has_weight = call.inputs.size() > at_weight;
  const std::vector<double> weight =
      has_weight ? read_as<double>(call.inputs[at_weight]) : std::vector<double>(rows.size, 1.0);
  std::vector<double> dx(x.size());
  std::vector<double> dweight(rows.size);
  std::vector<double> dbias(rows.size);
  for (std::size_t r = 0; r < rows.count; ++r) {
    const auto index = [&](std::size_t i) { return r * rows.size + i; };
    group_gradient(x, dx, rows.size, means[r], factors[r], centred, index,
                   [&](std::size_t i) { return g[index(i)] * weight[i]; });
    for (std::size_t i = 0; i < rows.size; ++i) {
      dweight[i] += g[index(i)] * (x[index(i)] - means[r]) * factors[r];
      dbias[i] += g[index(i)];
    }
  }
  outputs.push_back(write_as(backend, call.outputs[0], dx));
  if (has_weight) {
    outputs.push_back(write_as(backend, call.outputs[1], dweight));
  }
  if (has_weight && centred) {
    outputs.push_back(write_as(backend, call.outputs[2], dbias));
  }
}
void layer_norm_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  row_norm_grad<true>(backend, call, outputs, call.as<ops::LayerNormGrad>());
}
void rms_norm_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  row_norm_grad<false>(backend, call, outputs, call.as<ops::RmsNormGrad>());
}

// [N, C, ...] seen as the elements of one channel.
struct Channels {
  std::size_t count, inner, size;
  explicit Channels(const Shape& shape) : count(static_cast<std::size_t>(shape[1])), inner(1) {
    for (int i = 2; i < shape.rank(); ++i) {
      inner *= static_cast<std::size_t>(shape[i]);
    }
    size = inner * static_cast<std::size_t>(shape[0]);
  }
  std::size_t index(std::size_t channel, std::size_t i) const {
    return (i / inner * count + channel) * inner + i % inner;
  }
};

void batch_norm(Backend& backend, const OpCall& call, Outputs& outputs) {
  std::vector<double> x = read_as<double>(call.inputs[0]);
  const std::vector<double> weight = read_as<double>(call.inputs[1]);
  const std::vector<double> bias = read_as<double>(call.inputs[2]);
  const Channels channels(call.inputs[0].shape());
  std::vector<double> means;
  std::vector<double> variances;
  for (std::size_t c = 0; c < channels.count; ++c) {
    const Statistics s =
        statistics(x, channels.size, [&](std::size_t i) { return channels.index(c, i); });
    const double factor = weight[c] / std::sqrt(s.variance + call.as<ops::BatchNorm>().eps);
    for (std::size_t i = 0; i < channels.size; ++i) {
      double& element = x[channels.index(c, i)];
      element = (element - s.mean) * factor + bias[c];
    }
    means.push_back(s.mean);
    variances.push_back(s.variance);
  }
  outputs.push_back(write_as(backend, call.outputs[0], x));
  outputs.push_back(write_as(backend, call.outputs[1], means));
  outputs.push_back(write_as(backend, call.outputs[2], variances));
}

void batch_norm_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const std::vector<double> g = read_as<double>(call.inputs[0]);
  const std::vector<double> x = read_as<double>(call.inputs[1]);
  const std::vector<double> weight = read_as<double>(call.inputs[2]);
  const std::vector<double> means = read_as<double>(call.inputs[3]);
  const std::vector<double> variances = read_as<double>(call.inputs[4]);
  const Channels channels(call.inputs[1].shape());
  std::vector<double> dx(x.size());
  std::vector<double> dweight(channels.count);
  std::vector<double> dbias(channels.count);
  for (std::size_t c = 0; c < channels.count; ++c) {
    const auto index = [&](std::size_t i) { return channels.index(c, i); };
    const double factor = 1 / std::sqrt(variances[c] + call.as<ops::BatchNormGrad>().eps);
    group_gradient(x, dx, channels.size, means[c], factor, true, index,
                   [&](std::size_t i) { return g[index(i)] * weight[c]; });
    for (std::size_t i = 0; i < channels.size; ++i) {
      dweight[c] += g[index(i)] * (x[index(i)] - means[c]) * factor;
      dbias[c] += g[index(i)];
    }
  }
  outputs.push_back(write_as(backend, call.outputs[0], dx));
  outputs.push_back(write_as(backend, call.outputs[1], dweight));
  outputs.push_back(write_as(backend, call.outputs[2], dbias));
}

}  // namespace

void set_norm(KernelTable& table) {
  table.set<ops::LayerNorm>(layer_norm);
  table.set<ops::LayerNormGrad>(layer_norm_grad);
  table.set<ops::RmsNorm>(rms_norm);
  table.set<ops::RmsNormGrad>(rms_norm_grad);
  table.set<ops::BatchNorm>(batch_norm);
  table.set<ops::BatchNormGrad>(batch_norm_grad);
}

}  // namespace sinter::backend::reference
