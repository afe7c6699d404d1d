// SPDX-License-Identifier: MIT OR Apache-2.0
// Pooling and its gradients by plain loops.
#include "sinter/ops/pool/pool.hpp"

#include <limits>

#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

// The last `dims` sizes, and the product of the others.
Shape last_of(const Shape& shape, int dims) {
  Shape last;
  for (int i = shape.rank() - dims; i < shape.rank(); ++i) {
    last.push_back(shape[i]);
  }
  return last;
}
std::int64_t planes_of(const Shape& shape, int dims) {
  std::int64_t planes = 1;
  for (int i = 0; i < shape.rank() - dims; ++i) {
    planes *= shape[i];
  }
  return planes;
}

void max_pool(Backend& backend, const OpCall& call, Outputs& outputs) {
  const ops::PoolWindow window = call.as<ops::MaxPool>().resolved("max_pool");
  const int dims = window.kernel.rank();
  const std::vector<double> x = read_as<double>(call.inputs[0]);
  const Shape input = last_of(call.inputs[0].shape(), dims);
  const Shape output = last_of(call.outputs[0].shape, dims);
  const std::int64_t plane = num_elements(input);
  std::vector<double> best;
  std::vector<std::int64_t> positions;
  for (std::int64_t p = 0; p < planes_of(call.inputs[0].shape(), dims); ++p) {
    for_each_index(output, [&](const Dims& o) {
      double value = -std::numeric_limits<double>::infinity();
      std::int64_t position = -1;
      for_each_index(window.kernel, [&](const Dims& k) {
        std::int64_t flat = 0;
        for (int i = 0; i < dims; ++i) {
          const std::int64_t at =
              o[i] * window.stride[i] - window.padding_before[i] + k[i] * window.dilation[i];
          if (at < 0 || at >= input[i]) {
            return;
          }
          flat = flat * input[i] + at;
        }
        const double candidate = x[static_cast<std::size_t>(p * plane + flat)];
        if (position < 0 || candidate > value || (candidate != candidate && value == value)) {
          value = candidate;
          position = flat;
        }
      });
      best.push_back(value);
      positions.push_back(position);
    });
  }
  outputs.push_back(write_as(backend, call.outputs[0], best));
  outputs.push_back(write_as(backend, call.outputs[1], positions));
}

// Calls f(index in the pooled tensor, index in the unpooled one) for every valid position.
template <class F>
void for_each_position(const Value& positions, const Shape& unpooled, int dims, F&& f) {
  const std::vector<std::int64_t> at = read_as<std::int64_t>(positions);
  const std::int64_t plane = num_elements(last_of(unpooled, dims));
  const auto windows = static_cast<std::size_t>(num_elements(last_of(positions.shape(), dims)));
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] >= 0) {
      f(i, i / windows * static_cast<std::size_t>(plane) + static_cast<std::size_t>(at[i]));
    }
  }
}

void max_pool_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::MaxPoolGrad>();
  const std::vector<double> g = read_as<double>(call.inputs[0]);
  std::vector<double> dx(static_cast<std::size_t>(num_elements(op.shape)));
  for_each_position(call.inputs[1], op.shape, op.dims,
                    [&](std::size_t pooled, std::size_t at) { dx[at] += g[pooled]; });
  outputs.push_back(write_as(backend, call.outputs[0], dx));
}

void max_pool_take(Backend& backend, const OpCall& call, Outputs& outputs) {
  const std::vector<double> x = read_as<double>(call.inputs[0]);
  std::vector<double> y(static_cast<std::size_t>(num_elements(call.outputs[0].shape)));
  for_each_position(call.inputs[1], call.inputs[0].shape(), call.as<ops::MaxPoolTake>().dims,
                    [&](std::size_t pooled, std::size_t at) { y[pooled] = x[at]; });
  outputs.push_back(write_as(backend, call.outputs[0], y));
}

// Calls f(index in the input, index in the output, divisor) for every element of every window.
// `span(i, out)` gives window `out` along window dim `i`.
template <class S, class F>
void for_each_averaged(const Shape& in_shape, const Shape& out_shape, int dims, S&& span, F&& f) {
  const Shape input = last_of(in_shape, dims);
  const Shape output = last_of(out_shape, dims);
  const std::int64_t plane = num_elements(input);
  std::size_t out = 0;
  for (std::int64_t p = 0; p < planes_of(in_shape, dims); ++p) {
    for_each_index(output, [&](const Dims& o) {
      Dims begin;
      Shape lengths;
      double count = 1;
      for (int i = 0; i < dims; ++i) {
        const ops::Span1 s = span(i, o[i]);
        begin.push_back(s.begin);
        lengths.push_back(s.end - s.begin);
        count *= static_cast<double>(s.count);
      }
      for_each_index(lengths, [&](const Dims& k) {
        Dims at = begin;
        for (int i = 0; i < dims; ++i) {
          at[i] += k[i];
        }
        f(static_cast<std::size_t>(p * plane) + flat_index(input, at), out, count);
      });
      ++out;
    });
  }
}

template <class S>
void average(Backend& backend, const OpCall& call, Outputs& outputs, int dims, S&& span) {
  const std::vector<double> x = read_as<double>(call.inputs[0]);
  std::vector<double> y(static_cast<std::size_t>(num_elements(call.outputs[0].shape)));
  for_each_averaged(call.inputs[0].shape(), call.outputs[0].shape, dims, span,
                    [&](std::size_t i, std::size_t o, double count) { y[o] += x[i] / count; });
  outputs.push_back(write_as(backend, call.outputs[0], y));
}
template <class S>
void spread(Backend& backend, const OpCall& call, Outputs& outputs, int dims, S&& span) {
  const std::vector<double> g = read_as<double>(call.inputs[0]);
  std::vector<double> dx(static_cast<std::size_t>(num_elements(call.outputs[0].shape)));
  for_each_averaged(call.outputs[0].shape, call.inputs[0].shape(), dims, span,
                    [&](std::size_t i, std::size_t o, double count) { dx[i] += g[o] / count; });
  outputs.push_back(write_as(backend, call.outputs[0], dx));
}

ops::AvgPool resolved(const ops::AvgPool& op) {
  ops::AvgPool full = op;
  static_cast<ops::PoolWindow&>(full) = op.resolved("avg_pool");
  return full;
}

void avg_pool(Backend& backend, const OpCall& call, Outputs& outputs) {
  const ops::AvgPool op = resolved(call.as<ops::AvgPool>());
  const Shape input = last_of(call.inputs[0].shape(), op.kernel.rank());
  average(backend, call, outputs, op.kernel.rank(),
          [&](int i, std::int64_t out) { return ops::average_span(op, i, input[i], out); });
}
void avg_pool_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const ops::AvgPool op = resolved(call.as<ops::AvgPoolGrad>());
  const Shape input = last_of(call.outputs[0].shape, op.kernel.rank());
  spread(backend, call, outputs, op.kernel.rank(),
         [&](int i, std::int64_t out) { return ops::average_span(op, i, input[i], out); });
}
void adaptive_avg_pool(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Dims& size = call.as<ops::AdaptiveAvgPool>().size;
  const Shape input = last_of(call.inputs[0].shape(), size.rank());
  average(backend, call, outputs, size.rank(),
          [&](int i, std::int64_t out) { return ops::adaptive_span(input[i], size[i], out); });
}
void adaptive_avg_pool_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Dims& size = call.as<ops::AdaptiveAvgPoolGrad>().size;
  const Shape input = last_of(call.outputs[0].shape, size.rank());
  spread(backend, call, outputs, size.rank(),
         [&](int i, std::int64_t out) { return ops::adaptive_span(input[i], size[i], out); });
}

}  // namespace

void set_pool(KernelTable& table) {
  table.set<ops::MaxPool>(max_pool);
  table.set<ops::MaxPoolGrad>(max_pool_grad);
  table.set<ops::MaxPoolTake>(max_pool_take);
  table.set<ops::AvgPool>(avg_pool);
  table.set<ops::AvgPoolGrad>(avg_pool_grad);
  table.set<ops::AdaptiveAvgPool>(adaptive_avg_pool);
  table.set<ops::AdaptiveAvgPoolGrad>(adaptive_avg_pool_grad);
}

}  // namespace sinter::backend::reference
