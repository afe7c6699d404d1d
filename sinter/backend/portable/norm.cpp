// SPDX-License-Identifier: MIT OR Apache-2.0
// Normalisation: rows or channels over threads.
#include "sinter/ops/norm/norm.hpp"

#include <cmath>

#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/backend/portable/nn_driver.hpp"

namespace sinter::backend::portable {
namespace {

using sinter::portable::max_columns;

constexpr std::int64_t most_parts =
    32;  // partial sums of a row gradient; does not depend on threads

struct Rows {
  std::int64_t count = 1, n = 1;
  Rows(const Shape& shape, int dims) {
    for (int i = 0; i < shape.rank(); ++i) {
      (i < shape.rank() - dims ? count : n) *= shape[i];
    }
  }
};

void row_norm(Backend& backend, const OpCall& call, Outputs& outputs, const ops::RowNorm& op,
              bool centred) {
  const Rows rows(call.inputs[0].shape(), op.dims);
  for (const TensorSpec& spec : call.outputs) {
    outputs.push_back(allocate(backend, spec));
  }
  if (rows.n == 0) {
    outputs.clear();
    run_reference(backend, call, outputs);
    return;
  }
  with_float(outputs[0].dtype(), [&]<class T>() {
    const Value x = dense_as<T>(call.inputs[0]);
    const Value weight = call.inputs.size() > 1 ? dense_as<T>(call.inputs[1]) : Value();
    const Value bias = call.inputs.size() > 2 ? dense_as<T>(call.inputs[2]) : Value();
    T* mean = centred ? data_of<T>(outputs[1]) : nullptr;
    T* rstd = data_of<T>(outputs[centred ? 2 : 1]);
    parallel_for(rows.count, grain_of(rows.n), [&](std::int64_t begin, std::int64_t end) {
      nn<T>().norm.rows(data_of<T>(x) + begin * rows.n, weight ? data_of<T>(weight) : nullptr,
                        bias ? data_of<T>(bias) : nullptr, data_of<T>(outputs[0]) + begin * rows.n,
                        mean ? mean + begin : nullptr, rstd + begin, end - begin, rows.n, op.eps,
                        centred);
    });
  });
}
void layer_norm(Backend& backend, const OpCall& call, Outputs& outputs) {
  row_norm(backend, call, outputs, call.as<ops::LayerNorm>(), true);
}
void rms_norm(Backend& backend, const OpCall& call, Outputs& outputs) {
  row_norm(backend, call, outputs, call.as<ops::RmsNorm>(), false);
}

// Adds up `parts` partial rows of n.
template <class T>
void sum_parts(const T* partial, std::int64_t parts, std::int64_t step, std::int64_t n, T* out) {
  parallel_for(n, grain_of(parts), [&](std::int64_t begin, std::int64_t end) {
    std::fill(out + begin, out + end, T(0));
    for (std::int64_t p = 0; p < parts; ++p) {
      for (std::int64_t i = begin; i < end; ++i) {
        out[i] += partial[p * step + i];
      }
    }
  });
}

void row_norm_grad(Backend& backend, const OpCall& call, Outputs& outputs, const ops::RowNorm& op,
                   bool centred) {
  const std::size_t at_weight = centred ? 4 : 3;
  const Rows rows(call.inputs[1].shape(), op.dims);
  for (const TensorSpec& spec : call.outputs) {
    outputs.push_back(allocate(backend, spec));
  }
  with_float(outputs[0].dtype(), [&]<class T>() {
    const Value g = dense_as<T>(call.inputs[0]);
    const Value x = dense_as<T>(call.inputs[1]);
    const Value mean = centred ? dense_as<T>(call.inputs[2]) : Value();
    const Value rstd = dense_as<T>(call.inputs[at_weight - 1]);
    const bool weighted = call.inputs.size() > at_weight;
    const Value weight = weighted ? dense_as<T>(call.inputs[at_weight]) : Value();
    const std::int64_t parts =
        std::clamp<std::int64_t>(rows.count * rows.n / (2 * parallel_grain), 1, most_parts);
    const std::int64_t sums = weighted ? (centred ? 2 : 1) : 0;
    const std::int64_t step = sums * rows.n;
    const Scratch partial(static_cast<std::size_t>(parts * step) * sizeof(T));
    std::fill(partial.as<T>(), partial.as<T>() + parts * step, T(0));
    parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t part = first; part < last; ++part) {
        const std::int64_t begin = rows.count * part / parts;
        const std::int64_t end = rows.count * (part + 1) / parts;
        T* own = partial.as<T>() + part * step;
        nn<T>().norm.rows_grad(data_of<T>(g) + begin * rows.n, data_of<T>(x) + begin * rows.n,
                               weighted ? data_of<T>(weight) : nullptr,
                               mean ? data_of<T>(mean) + begin : nullptr, data_of<T>(rstd) + begin,
                               data_of<T>(outputs[0]) + begin * rows.n, sums > 0 ? own : nullptr,
                               sums > 1 ? own + rows.n : nullptr, end - begin, rows.n);
      }
    });
    for (std::int64_t k = 0; k < sums; ++k) {
      sum_parts(partial.as<T>() + k * rows.n, parts, step, rows.n,
                data_of<T>(outputs[static_cast<std::size_t>(k) + 1]));
    }
  });
}
void layer_norm_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  row_norm_grad(backend, call, outputs, call.as<ops::LayerNormGrad>(), true);
}
void rms_norm_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  row_norm_grad(backend, call, outputs, call.as<ops::RmsNormGrad>(), false);
}

// [N, C, inner]
struct Channels {
  std::int64_t batch, count, inner = 1;
  explicit Channels(const Shape& shape) : batch(shape[0]), count(shape[1]) {
    for (int i = 2; i < shape.rank(); ++i) {
      inner *= shape[i];
    }
  }
  std::int64_t stride() const { return count * inner; }
  std::int64_t each() const { return batch * inner; }
};

// Calls channel(c) for every channel, or columns(first, count) when channels lie side by side.
template <class F, class C>
void for_each_channel(const Channels& s, F&& channel, C&& columns) {
  if (s.inner > 1) {
    parallel_for(s.count, grain_of(s.each()), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        channel(c);
      }
    });
    return;
  }
  constexpr std::int64_t piece = 64;
  static_assert(piece <= max_columns);
  parallel_for((s.count + piece - 1) / piece, grain_of(piece * s.batch),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t p = begin; p < end; ++p) {
                   columns(p * piece, std::min(piece, s.count - p * piece));
                 }
               });
}

void batch_norm(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Channels s(call.inputs[0].shape());
  for (const TensorSpec& spec : call.outputs) {
    outputs.push_back(allocate(backend, spec));
  }
  const double eps = call.as<ops::BatchNorm>().eps;
  with_float(outputs[0].dtype(), [&]<class T>() {
    const Value x_value = dense_as<T>(call.inputs[0]);
    const Value w_value = dense_as<T>(call.inputs[1]);
    const Value b_value = dense_as<T>(call.inputs[2]);
    const T* x = data_of<T>(x_value);
    const T* weight = data_of<T>(w_value);
    const T* bias = data_of<T>(b_value);
    T* y = data_of<T>(outputs[0]);
    T* mean = data_of<T>(outputs[1]);
    T* variance = data_of<T>(outputs[2]);
    const auto scale_of = [&](std::int64_t c) {
      return static_cast<T>(static_cast<double>(weight[c]) /
                            std::sqrt(static_cast<double>(variance[c]) + eps));
    };
    const auto& k = nn<T>().norm;
    for_each_channel(
        s,
        [&](std::int64_t c) {
          const std::int64_t at = c * s.inner;
          k.channel_statistics(x + at, s.batch, s.inner, s.stride(), mean + c, variance + c);
          k.channel_affine(x + at, y + at, s.batch, s.inner, s.stride(), mean[c], scale_of(c),
                           bias[c]);
        },
        [&](std::int64_t first, std::int64_t count) {
          T scale[max_columns];
          k.columns_statistics(x + first, s.batch, s.stride(), count, mean + first,
                               variance + first);
          for (std::int64_t i = 0; i < count; ++i) {
            scale[i] = scale_of(first + i);
          }
          k.columns_affine(x + first, y + first, s.batch, s.stride(), count, mean + first, scale,
                           bias + first);
        });
  });
}

// What a channel's gradient needs: dx = a * g + b * (x - mean) + c.
struct ChannelTerms {
  double weight_gradient, a, b, c;
  ChannelTerms(double sum_g, double sum_gx, double weight, double variance, double eps, double n) {
    const double rstd = 1 / std::sqrt(variance + eps);
    weight_gradient = sum_gx * rstd;
    a = weight * rstd;
    b = -a * rstd * weight_gradient / n;
    c = -a * sum_g / n;
  }
};

void batch_norm_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Channels s(call.inputs[1].shape());
  for (const TensorSpec& spec : call.outputs) {
    outputs.push_back(allocate(backend, spec));
  }
  const double eps = call.as<ops::BatchNormGrad>().eps;
  const auto n = static_cast<double>(s.each());
  with_float(outputs[0].dtype(), [&]<class T>() {
    Value dense[5];
    for (std::size_t i = 0; i < 5; ++i) {
      dense[i] = dense_as<T>(call.inputs[i]);
    }
    const T* g = data_of<T>(dense[0]);
    const T* x = data_of<T>(dense[1]);
    const T* weight = data_of<T>(dense[2]);
    const T* mean = data_of<T>(dense[3]);
    const T* variance = data_of<T>(dense[4]);
    T* dx = data_of<T>(outputs[0]);
    const auto& k = nn<T>().norm;
    const auto finish = [&](std::int64_t c, double sum_g, double sum_gx) {
      const ChannelTerms t(sum_g, sum_gx, static_cast<double>(weight[c]),
                           static_cast<double>(variance[c]), eps, n);
      data_of<T>(outputs[1])[c] = static_cast<T>(t.weight_gradient);
      data_of<T>(outputs[2])[c] = static_cast<T>(sum_g);
      return t;
    };
    for_each_channel(
        s,
        [&](std::int64_t c) {
          const std::int64_t at = c * s.inner;
          double sum_g = 0;
          double sum_gx = 0;
          k.channel_sums(g + at, x + at, s.batch, s.inner, s.stride(), mean[c], &sum_g, &sum_gx);
          const ChannelTerms t = finish(c, sum_g, sum_gx);
          k.channel_grad(g + at, x + at, dx + at, s.batch, s.inner, s.stride(), mean[c],
                         static_cast<T>(t.a), static_cast<T>(t.b), static_cast<T>(t.c));
        },
        [&](std::int64_t first, std::int64_t count) {
          double sum_g[max_columns];
          double sum_gx[max_columns];
          T a[max_columns];
          T b[max_columns];
          T c[max_columns];
          k.columns_sums(g + first, x + first, s.batch, s.stride(), count, mean + first, sum_g,
                         sum_gx);
          for (std::int64_t i = 0; i < count; ++i) {
            const ChannelTerms t = finish(first + i, sum_g[i], sum_gx[i]);
            a[i] = static_cast<T>(t.a);
            b[i] = static_cast<T>(t.b);
            c[i] = static_cast<T>(t.c);
          }
          k.columns_grad(g + first, x + first, dx + first, s.batch, s.stride(), count, mean + first,
                         a, b, c);
        });
  });
}

}  // namespace

void set_norm(KernelTable& table) {
  table.set<ops::LayerNorm>(widened<layer_norm>);
  table.set<ops::LayerNormGrad>(widened<layer_norm_grad>);
  table.set<ops::RmsNorm>(widened<rms_norm>);
  table.set<ops::RmsNormGrad>(widened<rms_norm_grad>);
  table.set<ops::BatchNorm>(widened<batch_norm>);
  table.set<ops::BatchNormGrad>(widened<batch_norm_grad>);
}

}  // namespace sinter::backend::portable
