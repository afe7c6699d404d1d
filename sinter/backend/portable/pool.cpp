// SPDX-License-Identifier: MIT OR Apache-2.0
// Pooling and resizing: planes over threads.
#include "sinter/ops/pool/pool.hpp"

#include <vector>

#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/backend/portable/nn_driver.hpp"
#include "sinter/ops/interpolate/interpolate.hpp"

namespace sinter::backend::portable {
namespace {

using sinter::portable::AverageShape;
using sinter::portable::PoolShape;
using sinter::portable::ResizeShape;

constexpr int most_dims = 3;  // kernels know planes of up to three dims

// The window dims of a tensor: `planes` times `size` elements.
struct Planes {
  std::int64_t planes = 1, size = 1;
  Planes(const Shape& shape, int dims) {
    for (int i = 0; i < shape.rank(); ++i) {
      (i < shape.rank() - dims ? planes : size) *= shape[i];
    }
  }
};

// `values` as three numbers, missing ones first.
template <class I>
void fill(I (&to)[3], const Dims& values, std::int64_t standard) {
  for (int i = 0; i < 3; ++i) {
    const int at = i - (3 - values.rank());
    to[i] = at < 0 ? standard : values[at];
  }
}
Dims last_of(const Shape& shape, int dims) {
  Dims last;
  for (int i = shape.rank() - dims; i < shape.rank(); ++i) {
    last.push_back(shape[i]);
  }
  return last;
}

void max_pool(Backend& backend, const OpCall& call, Outputs& outputs) {
  const ops::PoolWindow window = call.as<ops::MaxPool>().resolved("max_pool");
  const int dims = window.kernel.rank();
  if (dims > most_dims) {
    run_reference(backend, call, outputs);
    return;
  }
  PoolShape s;
  fill(s.in, last_of(call.inputs[0].shape(), dims), 1);
  fill(s.out, last_of(call.outputs[0].shape, dims), 1);
  fill(s.kernel, window.kernel, 1);
  fill(s.stride, window.stride, 1);
  fill(s.padding, window.padding_before, 0);
  fill(s.dilation, window.dilation, 1);
  const Planes in(call.inputs[0].shape(), dims);
  const Planes out(call.outputs[0].shape, dims);
  const Value y = allocate(backend, call.outputs[0]);
  const Value at = allocate(backend, call.outputs[1]);
  with_float(y.dtype(), [&]<class T>() {
    const Value x = dense_as<T>(call.inputs[0]);
    parallel_for(
        in.planes, grain_of(in.size + out.size), [&](std::int64_t begin, std::int64_t end) {
          nn<T>().pool.max(s, data_of<T>(x) + begin * in.size, data_of<T>(y) + begin * out.size,
                           data_of<std::int32_t>(at) + begin * out.size, end - begin);
        });
  });
  outputs.push_back(y);
  outputs.push_back(at);
}

void max_pool_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::MaxPoolGrad>();
  const Planes in(op.shape, op.dims);
  const Planes windows(call.inputs[0].shape(), op.dims);
  const Value at = dense_as<std::int32_t>(call.inputs[1]);
  const Value dx = allocate(backend, call.outputs[0]);
  with_float(dx.dtype(), [&]<class T>() {
    const Value g = dense_as<T>(call.inputs[0]);
    parallel_for(in.planes, grain_of(in.size), [&](std::int64_t begin, std::int64_t end) {
      nn<T>().pool.scatter(data_of<T>(g) + begin * windows.size,
                           data_of<std::int32_t>(at) + begin * windows.size,
                           data_of<T>(dx) + begin * in.size, end - begin, windows.size, in.size);
    });
  });
  outputs.push_back(dx);
}

void max_pool_take(Backend& backend, const OpCall& call, Outputs& outputs) {
  const int dims = call.as<ops::MaxPoolTake>().dims;
  const Planes in(call.inputs[0].shape(), dims);
  const Planes windows(call.outputs[0].shape, dims);
  const Value at = dense_as<std::int32_t>(call.inputs[1]);
  const Value y = allocate(backend, call.outputs[0]);
  with_float(y.dtype(), [&]<class T>() {
    const Value x = dense_as<T>(call.inputs[0]);
    parallel_for(in.planes, grain_of(in.size), [&](std::int64_t begin, std::int64_t end) {
      nn<T>().pool.take(data_of<T>(x) + begin * in.size,
                        data_of<std::int32_t>(at) + begin * windows.size,
                        data_of<T>(y) + begin * windows.size, end - begin, windows.size, in.size);
    });
  });
  outputs.push_back(y);
}

// The windows of an average along each dim, in memory of their own.
class Averages {
 public:
  template <class S>
  Averages(const Dims& in, const Dims& out, S&& span) {
    fill(shape.in, in, 1);
    fill(shape.out, out, 1);
    for (int d = 0; d < 3; ++d) {
      const int i = d - (3 - in.rank());
      for (std::int64_t o = 0; o < shape.out[d]; ++o) {
        const ops::Span1 s = i < 0 ? ops::Span1{0, 1, 1} : span(i, o);
        begin_[d].push_back(static_cast<std::int32_t>(s.begin));
        end_[d].push_back(static_cast<std::int32_t>(s.end));
        count_[d].push_back(static_cast<std::int32_t>(s.count));
      }
      shape.begin[d] = begin_[d].data();
      shape.end[d] = end_[d].data();
      shape.count[d] = count_[d].data();
    }
  }
  Averages(const Averages&) = delete;
  AverageShape shape;

 private:
  std::vector<std::int32_t> begin_[3], end_[3], count_[3];
};

// `pooled`: the input has the pooled shape and the output the other (a gradient).
template <class S>
void average(Backend& backend, const OpCall& call, Outputs& outputs, int dims, bool pooled,
             S&& span) {
  if (dims > most_dims) {
    run_reference(backend, call, outputs);
    return;
  }
  const Shape& from = call.inputs[0].shape();
  const Shape& to = call.outputs[0].shape;
  const Shape& whole = pooled ? to : from;
  const Dims in = last_of(whole, dims);
  const Averages averages(in, last_of(pooled ? from : to, dims), span);
  const Planes a(from, dims);
  const Planes b(to, dims);
  const Value y = allocate(backend, call.outputs[0]);
  with_float(y.dtype(), [&]<class T>() {
    const Value x = dense_as<T>(call.inputs[0]);
    const auto kernel = pooled ? nn<T>().pool.spread : nn<T>().pool.average;
    parallel_for(a.planes, grain_of(a.size + b.size), [&](std::int64_t begin, std::int64_t end) {
      const Scratch row(static_cast<std::size_t>(averages.shape.in[2]) * sizeof(T));
      kernel(averages.shape, data_of<T>(x) + begin * a.size, data_of<T>(y) + begin * b.size,
             row.as<T>(), end - begin);
    });
  });
  outputs.push_back(y);
}

ops::AvgPool resolved(const ops::AvgPool& op) {
  ops::AvgPool full = op;
  static_cast<ops::PoolWindow&>(full) = op.resolved("avg_pool");
  return full;
}
void avg_pool(Backend& backend, const OpCall& call, Outputs& outputs) {
  const ops::AvgPool op = resolved(call.as<ops::AvgPool>());
  const Dims in = last_of(call.inputs[0].shape(), op.kernel.rank());
  average(backend, call, outputs, op.kernel.rank(), false,
          [&](int i, std::int64_t o) { return ops::average_span(op, i, in[i], o); });
}
void avg_pool_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const ops::AvgPool op = resolved(call.as<ops::AvgPoolGrad>());
  const Dims in = last_of(call.outputs[0].shape, op.kernel.rank());
  average(backend, call, outputs, op.kernel.rank(), true,
          [&](int i, std::int64_t o) { return ops::average_span(op, i, in[i], o); });
}
void adaptive_avg_pool(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Dims& size = call.as<ops::AdaptiveAvgPool>().size;
  const Dims in = last_of(call.inputs[0].shape(), size.rank());
  average(backend, call, outputs, size.rank(), false,
          [&](int i, std::int64_t o) { return ops::adaptive_span(in[i], size[i], o); });
}
void adaptive_avg_pool_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Dims& size = call.as<ops::AdaptiveAvgPoolGrad>().size;
  const Dims in = last_of(call.outputs[0].shape, size.rank());
  average(backend, call, outputs, size.rank(), true,
          [&](int i, std::int64_t o) { return ops::adaptive_span(in[i], size[i], o); });
}

// Where the outputs of a resize lie along each dim, in memory of their own.
template <class T>
class Taps {
 public:
  Taps(const ops::Interpolate& op, const Dims& in) {
    fill(shape.in, in, 1);
    fill(shape.out, op.size, 1);
    for (int d = 0; d < 3; ++d) {
      const bool missing = d < 3 - in.rank();
      for (std::int64_t o = 0; o < shape.out[d]; ++o) {
        const ops::Tap tap =
            missing ? ops::Tap{} : ops::interpolation_tap(op, shape.in[d], shape.out[d], o);
        low_[d].push_back(static_cast<std::int32_t>(tap.low));
        high_[d].push_back(static_cast<std::int32_t>(tap.high));
        weight_[d].push_back(static_cast<T>(tap.weight));
      }
      shape.low[d] = low_[d].data();
      shape.high[d] = high_[d].data();
      shape.weight[d] = weight_[d].data();
    }
  }
  Taps(const Taps&) = delete;
  ResizeShape<T> shape;

 private:
  std::vector<std::int32_t> low_[3], high_[3];
  std::vector<T> weight_[3];
};

void resize(Backend& backend, const OpCall& call, Outputs& outputs, const ops::Interpolate& op,
            bool gradient) {
  const int dims = op.size.rank();
  if (dims > most_dims) {
    run_reference(backend, call, outputs);
    return;
  }
  const Planes a(call.inputs[0].shape(), dims);
  const Planes b(call.outputs[0].shape, dims);
  const Value y = allocate(backend, call.outputs[0]);
  with_float(y.dtype(), [&]<class T>() {
    const Taps<T> taps(op, last_of(gradient ? y.shape() : call.inputs[0].shape(), dims));
    const Value x = dense_as<T>(call.inputs[0]);
    const auto kernel = gradient ? nn<T>().pool.resize_grad : nn<T>().pool.resize;
    parallel_for(a.planes, grain_of(a.size + b.size), [&](std::int64_t begin, std::int64_t end) {
      const Scratch row(static_cast<std::size_t>(taps.shape.in[2]) * sizeof(T));
      kernel(taps.shape, data_of<T>(x) + begin * a.size, data_of<T>(y) + begin * b.size,
             row.as<T>(), end - begin);
    });
  });
  outputs.push_back(y);
}
void interpolate(Backend& backend, const OpCall& call, Outputs& outputs) {
  resize(backend, call, outputs, call.as<ops::Interpolate>(), false);
}
void interpolate_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  resize(backend, call, outputs, call.as<ops::InterpolateGrad>(), true);
}

}  // namespace

void set_pool(KernelTable& table) {
  table.set<ops::MaxPool>(widened<max_pool>);
  table.set<ops::MaxPoolGrad>(widened<max_pool_grad>);
  table.set<ops::MaxPoolTake>(widened<max_pool_take>);
  table.set<ops::AvgPool>(widened<avg_pool>);
  table.set<ops::AvgPoolGrad>(widened<avg_pool_grad>);
  table.set<ops::AdaptiveAvgPool>(widened<adaptive_avg_pool>);
  table.set<ops::AdaptiveAvgPoolGrad>(widened<adaptive_avg_pool_grad>);
  table.set<ops::Interpolate>(widened<interpolate>);
  table.set<ops::InterpolateGrad>(widened<interpolate_grad>);
}

}  // namespace sinter::backend::portable
