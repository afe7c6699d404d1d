// SPDX-License-Identifier: MIT OR Apache-2.0
// Normalisation of rows and of channels: statistics in two passes or about a shift, never by a
// difference of large squares.
#include "sinter/backend/portable/kernels/row_loops.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

template <class T>
SINTER_FORCE_INLINE T rsqrt_of(T x) {
  return T(1) / (sizeof(T) == 4 ? T(__builtin_sqrtf(float(x))) : T(__builtin_sqrt(double(x))));
}

template <class T>
void rows(const T* x, const T* weight, const T* bias, T* y, T* mean, T* rstd, int64_t rows,
          int64_t n, double eps, bool centred) {
  using V = lanes_of<T>;
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T m = centred ? sum_chunks<T>(n, [&](auto c) { return c.load(x); }) / T(n) : T(0);
    const T square = sum_chunks<T>(n, [&](auto c) {
      const V d = c.load(x) - V(m);
      return d * d;
    });
    const T factor = rsqrt_of(square / T(n) + T(eps));
    if (weight && bias) {
      for_chunks<T>(n, [&](auto c) {
        c.store(fma((c.load(x) - V(m)) * V(factor), c.load(weight), c.load(bias)), y);
      });
    } else if (weight) {
      for_chunks<T>(n,
                    [&](auto c) { c.store((c.load(x) - V(m)) * V(factor) * c.load(weight), y); });
    } else {
      for_chunks<T>(n, [&](auto c) { c.store((c.load(x) - V(m)) * V(factor), y); });
    }
    if (mean) {
      mean[r] = m;
    }
    rstd[r] = factor;
  }
}

template <class T>
void rows_grad(const T* g, const T* x, const T* weight, const T* mean, const T* rstd, T* dx,
               T* dweight, T* dbias, int64_t rows, int64_t n) {
  using V = lanes_of<T>;
  for (int64_t r = 0; r < rows; ++r, g += n, x += n, dx += n) {
    const V m = mean ? mean[r] : T(0);
    const V factor = rstd[r];
    const auto h = [&](auto c) { return weight ? c.load(g) * c.load(weight) : c.load(g); };
    const V sum = mean ? sum_chunks<T>(n, h) / T(n) : T(0);
    const V along =
        sum_chunks<T>(n, [&](auto c) { return h(c) * (c.load(x) - m) * factor; }) / T(n);
    for_chunks<T>(n, [&](auto c) {
      const V xhat = (c.load(x) - m) * factor;
      c.store((h(c) - sum - xhat * along) * factor, dx);
      if (dweight) {
        c.store(fma(c.load(g), xhat, c.load(dweight)), dweight);
      }
      if (dbias) {
        c.store(c.load(dbias) + c.load(g), dbias);
      }
    });
  }
}

// ---- channels of several runs ----

constexpr int64_t block = 4096;  // elements summed in T before their sum goes to a double

// Calls f(position, length) for pieces of at most `block` elements of all runs.
template <class F>
SINTER_FORCE_INLINE void for_pieces(int64_t runs, int64_t run, int64_t stride, F f) {
  for (int64_t r = 0; r < runs; ++r) {
    for (int64_t i = 0; i < run; i += block) {
      f(r * stride + i, run - i < block ? run - i : block);
    }
  }
}

// Sums about the mean of the first piece, which is close enough to the whole's. One that is not
// finite would make NaN of the mean of a channel that holds infinity.
template <class T>
void channel_statistics(const T* x, int64_t runs, int64_t run, int64_t stride, T* mean,
                        T* variance) {
  using V = lanes_of<T>;
  const int64_t head = run < block ? run : block;
  const T first = sum_chunks<T>(head, [&](auto c) { return c.load(x); }) / T(head);
  const T shift = first - first == T(0) ? first : T(0);
  double sum = 0;
  double square = 0;
  for_pieces(runs, run, stride, [&](int64_t at, int64_t n) {
    const T* p = x + at;
    V total[2] = {V(T(0)), V(T(0))};
    V squares[2] = {V(T(0)), V(T(0))};
    constexpr int W = native_lanes<T>;
    int64_t i = 0;
    for (; i + 2 * W <= n; i += 2 * W) {
#pragma GCC unroll 2
      for (int k = 0; k < 2; ++k) {
        const V d = V::load(p + i + k * W) - V(shift);
        total[k] += d;
        squares[k] = fma(d, d, squares[k]);
      }
    }
    for_chunks<T>(n - i, [&](auto c) {
      const V d = c.keep(c.load(p + i) - V(shift), T(0));
      total[0] += d;
      squares[0] = fma(d, d, squares[0]);
    });
    sum += double(hsum(total[0] + total[1]));
    square += double(hsum(squares[0] + squares[1]));
  });
  const double count = double(runs) * double(run);
  const double offset = sum / count;
  const double v = square / count - offset * offset;
  *mean = T(double(shift) + offset);
  *variance = T(v < 0 ? 0 : v);
}

template <class T>
void channel_affine(const T* x, T* y, int64_t runs, int64_t run, int64_t stride, T mean, T scale,
                    T shift) {
  using V = lanes_of<T>;
  for (int64_t r = 0; r < runs; ++r, x += stride, y += stride) {
    for_chunks<T>(run, [&](auto c) { c.store(fma(c.load(x) - V(mean), V(scale), V(shift)), y); });
  }
}

template <class T>
void channel_sums(const T* g, const T* x, int64_t runs, int64_t run, int64_t stride, T mean,
                  double* sum_g, double* sum_gx) {
  using V = lanes_of<T>;
  *sum_g = 0;
  *sum_gx = 0;
  for_pieces(runs, run, stride, [&](int64_t at, int64_t n) {
    V total[2] = {V(T(0)), V(T(0))};
    V product[2] = {V(T(0)), V(T(0))};
    constexpr int W = native_lanes<T>;
    const T* pg = g + at;
    const T* px = x + at;
    int64_t i = 0;
    for (; i + 2 * W <= n; i += 2 * W) {
#pragma GCC unroll 2
      for (int k = 0; k < 2; ++k) {
        const V v = V::load(pg + i + k * W);
        total[k] += v;
        product[k] = fma(v, V::load(px + i + k * W) - V(mean), product[k]);
      }
    }
    for_chunks<T>(n - i, [&](auto c) {
      const V v = c.load(pg + i);
      total[0] += v;
      product[0] += c.keep(v * (c.load(px + i) - V(mean)), T(0));
    });
    *sum_g += double(hsum(total[0] + total[1]));
    *sum_gx += double(hsum(product[0] + product[1]));
  });
}

template <class T>
void channel_grad(const T* g, const T* x, T* dx, int64_t runs, int64_t run, int64_t stride, T mean,
                  T a, T b, T c) {
  using V = lanes_of<T>;
  for (int64_t r = 0; r < runs; ++r, g += stride, x += stride, dx += stride) {
    for_chunks<T>(run, [&](auto at) {
      at.store(fma(at.load(g), V(a), fma(at.load(x) - V(mean), V(b), V(c))), dx);
    });
  }
}

// ---- channels side by side ----

template <class T>
void columns_statistics(const T* x, int64_t rows, int64_t stride, int64_t count, T* mean,
                        T* variance) {
  for_chunks<T>(count, [&](auto c) {
    using V = lanes_of<T>;
    V sum(T(0));
    for (int64_t r = 0; r < rows; ++r) {
      sum += c.load(x + r * stride);
    }
    const V first = sum / V(T(rows));
    const V rough = select(first - first == V(T(0)), first, V(T(0)));
    V rest(T(0));
    V square(T(0));
    for (int64_t r = 0; r < rows; ++r) {
      const V d = c.load(x + r * stride) - rough;
      rest += d;
      square = fma(d, d, square);
    }
    const V offset = rest / V(T(rows));
    const V v = square / V(T(rows)) - offset * offset;
    c.store(rough + offset, mean);
    c.store(select(v < V(T(0)), V(T(0)), v), variance);
  });
}

template <class T>
void columns_affine(const T* x, T* y, int64_t rows, int64_t stride, int64_t count, const T* mean,
                    const T* scale, const T* shift) {
  for (int64_t r = 0; r < rows; ++r, x += stride, y += stride) {
    for_chunks<T>(count, [&](auto c) {
      c.store(fma(c.load(x) - c.load(mean), c.load(scale), c.load(shift)), y);
    });
  }
}

template <class T>
void columns_sums(const T* g, const T* x, int64_t rows, int64_t stride, int64_t count,
                  const T* mean, double* sum_g, double* sum_gx) {
  for (int64_t i = 0; i < count; ++i) {
    sum_g[i] = 0;
    sum_gx[i] = 0;
  }
  for (int64_t r = 0; r < rows; ++r, g += stride, x += stride) {
    for (int64_t i = 0; i < count; ++i) {
      sum_g[i] += double(g[i]);
      sum_gx[i] += double(g[i]) * double(x[i] - mean[i]);
    }
  }
}

template <class T>
void columns_grad(const T* g, const T* x, T* dx, int64_t rows, int64_t stride, int64_t count,
                  const T* mean, const T* a, const T* b, const T* c) {
  for (int64_t r = 0; r < rows; ++r, g += stride, x += stride, dx += stride) {
    for_chunks<T>(count, [&](auto at) {
      at.store(fma(at.load(g), at.load(a), fma(at.load(x) - at.load(mean), at.load(b), at.load(c))),
               dx);
    });
  }
}

}  // namespace

template <class T>
NormKernels<T> norm_kernels() {
  return {.rows = rows<T>,
          .rows_grad = rows_grad<T>,
          .channel_statistics = channel_statistics<T>,
          .channel_affine = channel_affine<T>,
          .channel_sums = channel_sums<T>,
          .channel_grad = channel_grad<T>,
          .columns_statistics = columns_statistics<T>,
          .columns_affine = columns_affine<T>,
          .columns_sums = columns_sums<T>,
          .columns_grad = columns_grad<T>};
}
template NormKernels<float> norm_kernels();
template NormKernels<double> norm_kernels();

}  // namespace sinter::portable::SINTER_ISA
