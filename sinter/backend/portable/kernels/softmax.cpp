// SPDX-License-Identifier: MIT OR Apache-2.0
// Softmax over rows and over columns, gradients, and the passes of cross entropy.
#include "sinter/backend/portable/kernels/row_loops.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

template <class T>
SINTER_FORCE_INLINE T log_scalar(T x) {
  return log(lanes_of<T>(x))[0];
}

// A NaN may be lost here: it comes back by the sum of exponentials.
template <class T>
T row_max(const T* x, int64_t n) {
  return hmax(join_chunks<T>(
      n, -__builtin_inff(), [&](auto c) { return c.load(x); },
      [](auto a, auto b) { return max(a, b); }));
}
template <class T>
T row_exp_sum(const T* x, int64_t n, T top) {
  return sum_chunks<T>(n, [&](auto c) { return exp(c.load(x) - lanes_of<T>(top)); });
}

template <class T>
void rows(const T* x, T* y, int64_t rows, int64_t n, bool logarithm) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T top = row_max(x, n);
    if (logarithm) {
      const lanes_of<T> rest = log_scalar(row_exp_sum(x, n, top));
      for_chunks<T>(n, [&](auto c) { c.store(c.load(x) - lanes_of<T>(top) - rest, y); });
      continue;
    }
    const T sum = sum_chunks<T>(n, [&](auto c) {
      const lanes_of<T> e = exp(c.load(x) - lanes_of<T>(top));
      c.store(e, y);
      return e;
    });
    const lanes_of<T> factor = T(1) / sum;
    for_chunks<T>(n, [&](auto c) { c.store(c.load(y) * factor, y); });
  }
}

template <class T>
void rows_grad(const T* y, const T* g, T* dx, int64_t rows, int64_t n, bool logarithm) {
  for (int64_t r = 0; r < rows; ++r, y += n, g += n, dx += n) {
    if (logarithm) {
      const lanes_of<T> sum = sum_chunks<T>(n, [&](auto c) { return c.load(g); });
      for_chunks<T>(n, [&](auto c) { c.store(c.load(g) - exp(c.load(y)) * sum, dx); });
    } else {
      const lanes_of<T> sum = sum_chunks<T>(n, [&](auto c) { return c.load(y) * c.load(g); });
      for_chunks<T>(n, [&](auto c) { c.store(c.load(y) * (c.load(g) - sum), dx); });
    }
  }
}

template <class T>
void rows_logsumexp(const T* x, T* out, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n) {
    const T top = row_max(x, n);
    out[r] = top + log_scalar(row_exp_sum(x, n, top));
  }
}

template <class T>
void row_probability(const T* x, T* dx, int64_t n, T lse, T scale, T offset, const T* weights) {
  if (weights) {
    for_chunks<T>(n, [&](auto c) {
      c.store(exp(c.load(x) - lanes_of<T>(lse)) * lanes_of<T>(scale) -
                  c.load(weights) * lanes_of<T>(offset),
              dx);
    });
  } else {
    for_chunks<T>(n, [&](auto c) {
      c.store(exp(c.load(x) - lanes_of<T>(lse)) * lanes_of<T>(scale) - lanes_of<T>(offset), dx);
    });
  }
}

// ---- columns: each vector holds neighbouring columns ----

// The maximum of each column and the sum of exponentials below it, in one pass: `block` rows at a
// time, the sum so far is brought to the new maximum.
template <class T>
void column_sums(const T* x, int64_t n, int64_t inner, int64_t count, T* top, T* sum) {
  using V = lanes_of<T>;
  constexpr int64_t block = 8;
  const V lowest(T(-__builtin_inff()));
  for_chunks<T>(count, [&](auto c) {
    c.store(lowest, top);
    c.store(V(T(0)), sum);
  });
  for (int64_t i = 0; i < n; i += block, x += block * inner) {
    const int64_t rows = n - i < block ? n - i : block;
    for_chunks<T>(count, [&](auto c) {
      const V before = c.load(top);
      V now = before;
      for (int64_t r = 0; r < rows; ++r) {
        now = max(now, c.load(x + r * inner));
      }
      const V base = select(now == lowest, V(T(0)), now);  // -inf - -inf would be NaN
      V total = c.load(sum) * exp(select(before == now, V(T(0)), before - now));
      for (int64_t r = 0; r < rows; ++r) {
        total += exp(c.load(x + r * inner) - base);
      }
      c.store(now, top);
      c.store(total, sum);
    });
  }
}

template <class T>
void columns(const T* x, T* y, int64_t n, int64_t inner, int64_t count, bool logarithm) {
  alignas(64) T top[max_columns];
  alignas(64) T sum[max_columns];
  column_sums(x, n, inner, count, top, sum);
  if (logarithm) {
    for_chunks<T>(count, [&](auto c) { c.store(log(c.load(sum)), sum); });
    for (int64_t i = 0; i < n; ++i, x += inner, y += inner) {
      for_chunks<T>(count, [&](auto c) { c.store(c.load(x) - c.load(top) - c.load(sum), y); });
    }
    return;
  }
  for_chunks<T>(count, [&](auto c) { c.store(lanes_of<T>(T(1)) / c.load(sum), sum); });
  for (int64_t i = 0; i < n; ++i, x += inner, y += inner) {
    for_chunks<T>(count, [&](auto c) { c.store(exp(c.load(x) - c.load(top)) * c.load(sum), y); });
  }
}

template <class T>
void columns_grad(const T* y, const T* g, T* dx, int64_t n, int64_t inner, int64_t count,
                  bool logarithm) {
  alignas(64) T sum[max_columns];
  for_chunks<T>(count, [&](auto c) { c.store(lanes_of<T>(T(0)), sum); });
  for (int64_t i = 0; i < n; ++i) {
    const T* gi = g + i * inner;
    const T* yi = y + i * inner;
    for_chunks<T>(count, [&](auto c) {
      c.store(c.load(sum) + (logarithm ? c.load(gi) : c.load(gi) * c.load(yi)), sum);
    });
  }
  for (int64_t i = 0; i < n; ++i, y += inner, g += inner, dx += inner) {
    if (logarithm) {
      for_chunks<T>(count, [&](auto c) { c.store(c.load(g) - exp(c.load(y)) * c.load(sum), dx); });
    } else {
      for_chunks<T>(count, [&](auto c) { c.store(c.load(y) * (c.load(g) - c.load(sum)), dx); });
    }
  }
}

template <class T>
void columns_logsumexp(const T* x, T* out, int64_t n, int64_t inner, int64_t count) {
  alignas(64) T sum[max_columns];
  column_sums(x, n, inner, count, out, sum);
  for_chunks<T>(count, [&](auto c) { c.store(c.load(out) + log(c.load(sum)), out); });
}

template <class T>
void columns_probability(const T* x, T* dx, int64_t n, int64_t inner, int64_t count, const T* lse,
                         const T* scale, const T* offset, const T* weights) {
  for (int64_t i = 0; i < n; ++i, x += inner, dx += inner) {
    const lanes_of<T> weight = weights ? weights[i] : T(1);
    for_chunks<T>(count, [&](auto c) {
      c.store(exp(c.load(x) - c.load(lse)) * c.load(scale) - c.load(offset) * weight, dx);
    });
  }
}

}  // namespace

template <class T>
SoftmaxKernels<T> softmax_kernels() {
  return {.rows = rows<T>,
          .columns = columns<T>,
          .rows_grad = rows_grad<T>,
          .columns_grad = columns_grad<T>,
          .rows_logsumexp = rows_logsumexp<T>,
          .columns_logsumexp = columns_logsumexp<T>,
          .row_probability = row_probability<T>,
          .columns_probability = columns_probability<T>};
}
template SoftmaxKernels<float> softmax_kernels();
template SoftmaxKernels<double> softmax_kernels();

}  // namespace sinter::portable::SINTER_ISA
