// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolution over any number of dims as matrix products with unfolded input.
#pragma once

#include "sinter/ops/conv/conv.hpp"

namespace sinter::backend::portable {

/// Sizes of a convolution: in each group, weights [out_channels, taps] times unfolded input
/// [taps, positions].
struct Unfolding {
  Unfolding(const ops::ConvWindow& resolved, const Shape& x, const Shape& weight, const Shape& y);

  ops::ConvWindow window;
  Shape input, kernel, output;  ///< spatial sizes
  std::int64_t batch, groups;
  std::int64_t in_channels, out_channels;  ///< of one group
  std::int64_t in_size, kernel_size, positions;
  std::int64_t taps;   ///< in_channels * kernel_size
  std::int64_t block;  ///< positions unfolded at a time
};

template <class T>
void unfold_forward(const Unfolding& u, const T* x, const T* weight, const T* bias, T* y);
template <class T>
void unfold_input_grad(const Unfolding& u, const T* g, const T* weight, T* dx);
template <class T>
void unfold_weight_grad(const Unfolding& u, const T* x, const T* g, T* dweight);

}  // namespace sinter::backend::portable
