// SPDX-License-Identifier: MIT OR Apache-2.0
// From an op's formula to its block kernel. Each elementwise_<group>.cpp expands the ops of its
// group.
#pragma once

#include "sinter/backend/portable/kernels/elementwise.hpp"
#include "sinter/backend/portable/kernels/simd_carrier.hpp"
#include "sinter/ops/formula.hpp"

namespace sinter::portable::SINTER_ISA {

/// Writes the lanes [0, n) of a mask as bytes of 0 and 1.
template <class T, int N>
SINTER_FORCE_INLINE void store_truth(simd_mask<T, N> mask, uint8_t* out, int n) {
  typedef int8_t Bytes __attribute__((vector_size(N)));
  const Bytes bytes = __builtin_convertvector(mask.v, Bytes) & 1;
  __builtin_memcpy(out, &bytes, static_cast<size_t>(n));
}

/// The formula on `count` (at most N) elements from `i` on.
template <class O, int side, class T, bool whole>
SINTER_FORCE_INLINE void block_step(const O& op, const void* const* inputs, void* output, size_t i,
                                    int count) {
  constexpr int arity = sinter::detail::formula_arity<O, side>;
  constexpr int lanes = native_lanes<T>;
  using V = simd<T, lanes>;
  V x[arity];
  for (int k = 0; k < arity; ++k) {
    const T* p = static_cast<const T*>(inputs[k]) + i;
    x[k] = whole || count == lanes ? V::load(p) : load_partial<T, lanes>(p, count);
  }
  const auto y = sinter::detail::formula<O, side>(op, x);
  if constexpr (sinter::detail::gives_bool<O> && side < 0) {
    if (whole || count == lanes) {
      store_truth(y, static_cast<uint8_t*>(output) + i, lanes);
    } else {
      store_truth(y, static_cast<uint8_t*>(output) + i, count);
    }
  } else {
    T* p = static_cast<T*>(output) + i;
    if (whole || count == lanes) {
      y.store(p);
    } else {
      store_partial(y, p, count);
    }
  }
}

/// `cheap` formulas get a loop of their own for the last elements; for the others one copy of the
/// formula serves both.
template <class O, int side, class T, bool cheap>
[[gnu::flatten]] void block(const void* attributes, const void* const* inputs, void* output,
                            size_t n) {
  const O op = sinter::detail::op_from<O>(attributes);
  constexpr size_t lanes = native_lanes<T>;
  size_t i = 0;
  if constexpr (cheap) {
    for (; i + lanes <= n; i += lanes) {
      block_step<O, side, T, true>(op, inputs, output, i, lanes);
    }
  }
  for (; i < n; i += lanes) {
    const size_t left = n - i;
    block_step<O, side, T, false>(op, inputs, output, i, int(left < lanes ? left : lanes));
  }
}

/// Compile-time equality of group names.
constexpr bool same_group(const char* a, const char* b) {
  while (*a != 0 && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

/// Sets the kernels of op `O`, if it is of the group wanted; those of other groups are incomplete
/// here.
template <class O, bool wanted, int code, bool cheap>
void fill_rows(ElementwiseTable& table) {
  if constexpr (wanted) {
    using sinter::detail::has_gradient_row;
    if constexpr (sinter::detail::takes_floats<O>) {
      table.rows[int(Carried::f32)][0][code] = block<O, -1, float, cheap>;
      table.rows[int(Carried::f64)][0][code] = block<O, -1, double, cheap>;
      if constexpr (has_gradient_row<O, 0>()) {
        table.rows[int(Carried::f32)][1][code] = block<O, 0, float, cheap>;
        table.rows[int(Carried::f64)][1][code] = block<O, 0, double, cheap>;
      }
      if constexpr (has_gradient_row<O, 1>()) {
        table.rows[int(Carried::f32)][2][code] = block<O, 1, float, cheap>;
        table.rows[int(Carried::f64)][2][code] = block<O, 1, double, cheap>;
      }
    }
    if constexpr (sinter::detail::takes_integers<O>) {
      table.rows[int(Carried::i64)][0][code] = block<O, -1, int64_t, cheap>;
      table.rows[int(Carried::u64)][0][code] = block<O, -1, uint64_t, cheap>;
    }
  }
}

}  // namespace sinter::portable::SINTER_ISA
