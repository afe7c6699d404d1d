// SPDX-License-Identifier: MIT OR Apache-2.0
// Unfolding in blocks of positions that stay in the cache, then one product for each block.
#include "sinter/backend/portable/conv_unfold.hpp"

#include <cstring>

#include "sinter/backend/portable/nn_driver.hpp"

namespace sinter::backend::portable {
namespace {

using sinter::portable::Gemm;

constexpr std::int64_t block_budget = 128 * 1024;  // elements of an unfolded block
constexpr std::int64_t most_parts = 16;            // of the batch in a weight gradient

Shape spatial_of(const Shape& shape) {
  Shape spatial;
  for (int i = 2; i < shape.rank(); ++i) {
    spatial.push_back(shape[i]);
  }
  return spatial;
}

template <class T>
std::size_t gemm_scratch(std::int64_t m, std::int64_t n, std::int64_t k) {
  if constexpr (std::is_same_v<T, float>) {
    return kernels().gemm_f32_scratch_bytes(m, n, k);
  } else {
    return kernels().gemm_f64_scratch_bytes(m, n, k);
  }
}
template <class T>
void gemm(const Gemm<T>& g, void* scratch) {
  if constexpr (std::is_same_v<T, float>) {
    kernels().gemm_f32(g, scratch);
  } else {
    kernels().gemm_f64(g, scratch);
  }
}

// Calls f(column, flat input position of the run's line or -1 in the padding, first x, count) for
// the output rows that positions [begin, end) touch, as kernel element `tap` sees them.
template <class F>
void for_each_run(const Unfolding& u, const Dims& tap, std::int64_t begin, std::int64_t end,
                  F&& f) {
  const int last = u.output.rank() - 1;
  const std::int64_t width = u.output[last];
  for (std::int64_t p = begin; p < end;) {
    const std::int64_t ox = p % width;
    const std::int64_t count = std::min(width - ox, end - p);
    std::int64_t rest = p / width;
    std::int64_t line = 0;
    std::int64_t step = u.input[last];
    for (int i = last - 1; i >= 0; --i) {
      const std::int64_t at = rest % u.output[i] * u.window.stride[i] - u.window.padding_before[i] +
                              tap[i] * u.window.dilation[i];
      rest /= u.output[i];
      if (at < 0 || at >= u.input[i]) {
        line = -1;
        break;
      }
      line += at * step;
      step *= u.input[i];
    }
    f(p - begin, line,
      ox * u.window.stride[last] - u.window.padding_before[last] +
          tap[last] * u.window.dilation[last],
      count);
    p += count;
  }
}

// Calls f(row of the unfolded matrix, channel, tap).
template <class F>
void for_each_tap(const Unfolding& u, F&& f) {
  std::int64_t row = 0;
  for (std::int64_t c = 0; c < u.in_channels; ++c) {
    Dims tap = Dims::filled(u.kernel.rank(), 0);
    for (std::int64_t k = 0; k < u.kernel_size; ++k) {
      f(row++, c, static_cast<const Dims&>(tap));
      for (int i = u.kernel.rank() - 1; i >= 0 && ++tap[i] == u.kernel[i]; --i) {
        tap[i] = 0;
      }
    }
  }
}

// Positions [begin, end) of one sample's group, unfolded to columns [taps, end - begin].
template <class T>
void unfold(const Unfolding& u, const T* x, std::int64_t begin, std::int64_t end, T* columns) {
  const int last = u.input.rank() - 1;
  const std::int64_t step = u.window.stride[last];
  const std::int64_t width = u.input[last];
  for_each_tap(u, [&](std::int64_t row, std::int64_t channel, const Dims& tap) {
    T* to = columns + row * (end - begin);
    const T* plane = x + channel * u.in_size;
    for_each_run(u, tap, begin, end,
                 [&](std::int64_t column, std::int64_t line, std::int64_t at, std::int64_t count) {
                   for (std::int64_t i = 0; i < count; ++i, at += step) {
                     to[column + i] = line >= 0 && at >= 0 && at < width ? plane[line + at] : T(0);
                   }
                 });
  });
}

// Adds columns to the positions that they were unfolded from.
template <class T>
void fold(const Unfolding& u, const T* columns, std::int64_t begin, std::int64_t end, T* x) {
  const int last = u.input.rank() - 1;
  const std::int64_t step = u.window.stride[last];
  const std::int64_t width = u.input[last];
  for_each_tap(u, [&](std::int64_t row, std::int64_t channel, const Dims& tap) {
    const T* from = columns + row * (end - begin);
    T* plane = x + channel * u.in_size;
    for_each_run(u, tap, begin, end,
                 [&](std::int64_t column, std::int64_t line, std::int64_t at, std::int64_t count) {
                   for (std::int64_t i = 0; i < count && line >= 0; ++i, at += step) {
                     if (at >= 0 && at < width) {
                       plane[line + at] += from[column + i];
                     }
                   }
                 });
  });
}

}  // namespace

Unfolding::Unfolding(const ops::ConvWindow& resolved, const Shape& x, const Shape& weight,
                     const Shape& y)
    : window(resolved),
      input(spatial_of(x)),
      kernel(spatial_of(weight)),
      output(spatial_of(y)),
      batch(x[0]),
      groups(resolved.groups),
      in_channels(weight[1]),
      out_channels(weight[0] / resolved.groups),
      in_size(num_elements(input)),
      kernel_size(num_elements(kernel)),
      positions(num_elements(output)),
      taps(in_channels * kernel_size),
      block(std::clamp<std::int64_t>(block_budget / taps, 16,
                                     std::max<std::int64_t>(positions, 16))) {
  block = std::min(block, positions);
}

template <class T>
void unfold_forward(const Unfolding& u, const T* x, const T* weight, const T* bias, T* y) {
  const std::int64_t blocks = (u.positions + u.block - 1) / u.block;
  parallel_for(u.batch * u.groups * blocks, 1, [&](std::int64_t first, std::int64_t last) {
    const Scratch columns(static_cast<std::size_t>(u.taps * u.block) * sizeof(T));
    const Scratch scratch(gemm_scratch<T>(u.out_channels, u.block, u.taps));
    for (std::int64_t task = first; task < last; ++task) {
      const std::int64_t group = task / blocks % u.groups;
      const std::int64_t begin = task % blocks * u.block;
      const std::int64_t end = std::min(begin + u.block, u.positions);
      unfold(u, x + task / blocks * u.in_channels * u.in_size, begin, end, columns.as<T>());
      Gemm<T> g;
      g.m = u.out_channels;
      g.n = end - begin;
      g.k = u.taps;
      g.a = weight + group * u.out_channels * u.taps;
      g.a_row = u.taps;
      g.b = columns.as<T>();
      g.b_row = end - begin;
      g.c = y + task / blocks * u.out_channels * u.positions + begin;
      g.c_row = u.positions;
      g.row_bias = bias ? bias + group * u.out_channels : nullptr;
      gemm(g, scratch.data());
    }
  });
}

template <class T>
void unfold_input_grad(const Unfolding& u, const T* g, const T* weight, T* dx) {
  parallel_for(u.batch * u.groups, 1, [&](std::int64_t first, std::int64_t last) {
    const Scratch columns(static_cast<std::size_t>(u.taps * u.block) * sizeof(T));
    const Scratch scratch(gemm_scratch<T>(u.taps, u.block, u.out_channels));
    for (std::int64_t task = first; task < last; ++task) {
      T* plane = dx + task * u.in_channels * u.in_size;
      std::fill(plane, plane + u.in_channels * u.in_size, T(0));
      for (std::int64_t begin = 0; begin < u.positions; begin += u.block) {
        const std::int64_t end = std::min(begin + u.block, u.positions);
        Gemm<T> p;
        p.m = u.taps;
        p.n = end - begin;
        p.k = u.out_channels;
        p.a = weight + task % u.groups * u.out_channels * u.taps;
        p.a_row = 1;
        p.a_col = u.taps;
        p.b = g + task * u.out_channels * u.positions + begin;
        p.b_row = u.positions;
        p.c = columns.as<T>();
        p.c_row = end - begin;
        gemm(p, scratch.data());
        fold(u, columns.as<T>(), begin, end, plane);
      }
    }
  });
}

// The batch is cut into a fixed number of parts, so that sums do not depend on the threads.
template <class T>
void unfold_weight_grad(const Unfolding& u, const T* x, const T* g, T* dweight) {
  const std::int64_t parts = std::min(u.batch, most_parts);
  const std::int64_t matrix = u.out_channels * u.taps;
  const Scratch partial(static_cast<std::size_t>(parts * u.groups * matrix) * sizeof(T));
  parallel_for(parts * u.groups, 1, [&](std::int64_t first, std::int64_t last) {
    const Scratch columns(static_cast<std::size_t>(u.taps * u.block) * sizeof(T));
    const Scratch scratch(gemm_scratch<T>(u.out_channels, u.taps, u.block));
    for (std::int64_t task = first; task < last; ++task) {
      const std::int64_t group = task % u.groups;
      const std::int64_t part = task / u.groups;
      bool accumulate = false;
      for (std::int64_t n = u.batch * part / parts; n < u.batch * (part + 1) / parts; ++n) {
        for (std::int64_t begin = 0; begin < u.positions; begin += u.block) {
          const std::int64_t end = std::min(begin + u.block, u.positions);
          unfold(u, x + (n * u.groups + group) * u.in_channels * u.in_size, begin, end,
                 columns.as<T>());
          Gemm<T> p;
          p.m = u.out_channels;
          p.n = u.taps;
          p.k = end - begin;
          p.a = g + (n * u.groups + group) * u.out_channels * u.positions + begin;
          p.a_row = u.positions;
          p.b = columns.as<T>();
          p.b_row = 1;
          p.b_col = end - begin;
          p.c = partial.as<T>() + task * matrix;
          p.c_row = u.taps;
          p.accumulate = accumulate;
          gemm(p, scratch.data());
          accumulate = true;
        }
      }
    }
  });
  const std::int64_t total = u.groups * matrix;
  parallel_for(total, parallel_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      T sum = 0;
      for (std::int64_t part = 0; part < parts; ++part) {
        sum += partial.as<T>()[part * total + i];
      }
      dweight[i] = sum;
    }
  });
}

#define SINTER_UNFOLD(T)                                                            \
  template void unfold_forward(const Unfolding&, const T*, const T*, const T*, T*); \
  template void unfold_input_grad(const Unfolding&, const T*, const T*, T*);        \
  template void unfold_weight_grad(const Unfolding&, const T*, const T*, T*);
SINTER_UNFOLD(float)
SINTER_UNFOLD(double)
#undef SINTER_UNFOLD

}  // namespace sinter::backend::portable
