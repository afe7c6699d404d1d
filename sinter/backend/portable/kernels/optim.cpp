// SPDX-License-Identifier: MIT OR Apache-2.0
// Optimizer steps on dense runs.
#include "sinter/backend/portable/kernels/row_loops.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

template <class T>
SINTER_FORCE_INLINE lanes_of<T> sqrt_lanes(lanes_of<T> x) {
  return sqrt(x);
}

template <class T>
void sgd(const SgdArgs<T>& a, const T* p_in, const T* g, const T* buffer_in, T* p_out,
         T* buffer_out, int64_t n) {
  using V = lanes_of<T>;
  const SgdArgs<T> k = a;
  for_chunks<T>(n, [&](auto c) {
    const V p = c.load(p_in);
    V d = k.weight_decay != T(0) ? fma(V(k.weight_decay), p, c.load(g)) : c.load(g);
    if (k.use_momentum) {
      const V buffer = k.first ? d : fma(V(k.momentum), c.load(buffer_in), V(k.keep) * d);
      c.store(buffer, buffer_out);
      d = k.nesterov ? fma(V(k.momentum), buffer, d) : buffer;
    }
    c.store(p - V(k.lr) * d, p_out);
  });
}

template <class T>
void adam(const AdamArgs<T>& a, const T* p_in, const T* g, const T* m_in, const T* v_in,
          const T* most_in, T* p_out, T* m_out, T* v_out, T* most_out, int64_t n) {
  using V = lanes_of<T>;
  const AdamArgs<T> k = a;
  for_chunks<T>(n, [&](auto c) {
    V p = c.load(p_in);
    V d = c.load(g);
    if (k.decoupled) {
      p = p - V(k.lr * k.weight_decay) * p;
    } else if (k.weight_decay != T(0)) {
      d = fma(V(k.weight_decay), p, d);
    }
    const V m = fma(V(k.beta1), c.load(m_in), V(k.keep1) * d);
    const V v = fma(V(k.beta2), c.load(v_in), V(k.keep2) * d * d);
    c.store(m, m_out);
    c.store(v, v_out);
    V divisor = v;
    if (most_in) {
      divisor = max(c.load(most_in), v);
      c.store(divisor, most_out);
    }
    const V denominator = sqrt_lanes<T>(divisor) / V(k.root_second) + V(k.eps);
    c.store(p - V(k.step_size) * (m / denominator), p_out);
  });
}

template <class T>
double sum_squares(const T* x, int64_t n) {
  constexpr int64_t piece = 1024;
  double total = 0;
  for (int64_t i = 0; i < n; i += piece) {
    const T* p = x + i;
    const auto square = [&](auto c) {
      const auto v = c.load(p);
      return v * v;
    };
    total += double(sum_chunks<T>(n - i < piece ? n - i : piece, square));
  }
  return total;
}

template <class T>
void scale(T factor, const T* x, T* y, int64_t n) {
  for_chunks<T>(n, [&](auto c) { c.store(c.load(x) * lanes_of<T>(factor), y); });
}

}  // namespace

template <class T>
OptimKernels<T> optim_kernels() {
  return {.sgd = sgd<T>, .adam = adam<T>, .sum_squares = sum_squares<T>, .scale = scale<T>};
}
template OptimKernels<float> optim_kernels();
template OptimKernels<double> optim_kernels();

}  // namespace sinter::portable::SINTER_ISA
