// SPDX-License-Identifier: MIT OR Apache-2.0
// Folds of dense rows and columns.
#include "sinter/backend/portable/kernels/reduce.hpp"

#include "sinter/backend/portable/kernels/simd.hpp"

namespace sinter::portable::SINTER_ISA {
namespace {

template <class T>
constexpr T lowest() {
  if constexpr (T(0.5) != T(0)) {
    return -T(__builtin_inf());
  } else {
    return T(-1) < T(0) ? T(uint64_t(1) << (8 * sizeof(T) - 1)) : T(0);
  }
}
template <class T>
constexpr T highest() {
  if constexpr (T(0.5) != T(0)) {
    return T(__builtin_inf());
  } else {
    return T(~lowest<T>());
  }
}

template <class T, Fold fold>
constexpr T neutral() {
  switch (fold) {
    case Fold::prod:
    case Fold::all:
      return T(1);
    case Fold::max:
      return lowest<T>();
    case Fold::min:
      return highest<T>();
    default:
      return T(0);
  }
}

// One step with an element; `V` is a vector.
template <Fold fold, class V>
SINTER_FORCE_INLINE V step(V acc, V x) {
  using T = typename V::value_type;
  if constexpr (fold == Fold::sum) {
    return acc + x;
  } else if constexpr (fold == Fold::prod) {
    return acc * x;
  } else if constexpr (fold == Fold::max) {
    return select((acc > x) | (acc != acc), acc, x);
  } else if constexpr (fold == Fold::min) {
    return select((acc < x) | (acc != acc), acc, x);
  } else if constexpr (fold == Fold::any) {
    return select(x != V(T(0)), V(T(1)), acc);
  } else {
    return select(x == V(T(0)), V(T(0)), acc);
  }
}

template <class T, Fold fold>
void fold_row(const void* input, size_t n, void* result) {
  constexpr int lanes = native_lanes<T>;
  using V = simd<T, lanes>;
  const T* x = static_cast<const T*>(input);
  const V start(neutral<T, fold>());
  V acc[4] = {start, start, start, start};
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    for (int k = 0; k < 4; ++k) {
      acc[k] = step<fold>(acc[k], V::load(x + i + size_t(k * lanes)));
    }
  }
  for (; i < n; i += lanes) {
    const size_t left = n - i;
    if (left >= size_t(lanes)) {
      acc[0] = step<fold>(acc[0], V::load(x + i));
    } else {
      const V last = load_partial<T, lanes>(x + i, int(left));
      acc[0] = step<fold>(acc[0], select(first_lanes<T, lanes>(int(left)), last, start));
    }
  }
  // Lanes of `any` and `all` are 0 and 1: a plain step folds them too.
  const V sum = step<fold>(step<fold>(acc[0], acc[1]), step<fold>(acc[2], acc[3]));
  *static_cast<T*>(result) =
      detail::fold<T, lanes, lanes / 2>(sum, [](auto a, auto b) { return step<fold>(a, b); })[0];
}

// Eight rows at a time, in pairs: one pass over `acc` for each eight, and the error of a sum stays
// small.
template <class T, Fold fold>
void fold_columns(const void* input, ptrdiff_t row_stride, size_t rows, size_t n, void* result) {
  constexpr int lanes = native_lanes<T>;
  using V = simd<T, lanes>;
  T* acc = static_cast<T*>(result);
  for (size_t r = 0; r < rows; r += 8) {
    const T* x = static_cast<const T*>(input) + ptrdiff_t(r) * row_stride;
    const size_t left = rows - r;
    size_t j = 0;
    if (left >= 8) {
      for (; j + lanes <= n; j += lanes) {
        V v[8];
        for (int k = 0; k < 8; ++k) {
          v[k] = V::load(x + k * row_stride + ptrdiff_t(j));
        }
        if constexpr (fold == Fold::any || fold == Fold::all) {
          V a = V::load(acc + j);
          for (int k = 0; k < 8; ++k) {
            a = step<fold>(a, v[k]);
          }
          a.store(acc + j);
        } else {
          const V a = step<fold>(step<fold>(v[0], v[1]), step<fold>(v[2], v[3]));
          const V b = step<fold>(step<fold>(v[4], v[5]), step<fold>(v[6], v[7]));
          step<fold>(V::load(acc + j), step<fold>(a, b)).store(acc + j);
        }
      }
    }
    const size_t block = left < 8 ? left : 8;
    for (; j < n; j += lanes) {
      const size_t width = n - j < size_t(lanes) ? n - j : size_t(lanes);
      V a = load_partial<T, lanes>(acc + j, int(width));
      for (size_t k = 0; k < block; ++k) {
        a = step<fold>(
            a, load_partial<T, lanes>(x + ptrdiff_t(k) * row_stride + ptrdiff_t(j), int(width)));
      }
      store_partial(a, acc + j, int(width));
    }
  }
}

template <class T, Fold fold>
void set(ReduceTable& table, Carried carried) {
  table.rows[int(carried)][int(fold)] = fold_row<T, fold>;
  table.columns[int(carried)][int(fold)] = fold_columns<T, fold>;
}

template <class T>
void set_all(ReduceTable& table, Carried carried) {
  set<T, Fold::sum>(table, carried);
  set<T, Fold::prod>(table, carried);
  set<T, Fold::max>(table, carried);
  set<T, Fold::min>(table, carried);
  set<T, Fold::any>(table, carried);
  set<T, Fold::all>(table, carried);
}

}  // namespace

void fill_reduce(ReduceTable& table) {
  set_all<float>(table, Carried::f32);
  set_all<double>(table, Carried::f64);
  set_all<int64_t>(table, Carried::i64);
  set_all<uint64_t>(table, Carried::u64);
}

}  // namespace sinter::portable::SINTER_ISA
