// SPDX-License-Identifier: MIT OR Apache-2.0
// Views: the layouts that share a buffer's elements.
#include "sinter/types/layout.hpp"

namespace sinter {

bool Layout::is_contiguous() const {
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 0) {
      return true;
    }
    if (shape[i] != 1 && strides[i] != step) {
      return false;
    }
    step *= shape[i];
  }
  return true;
}

bool Layout::is_injective() const {
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] > 1 && strides[i] == 0) {
      return false;
    }
  }
  return true;
}

Layout Layout::permute(const Dims& order) const {
  Layout out = *this;
  for (int i = 0; i < order.rank(); ++i) {
    out.shape[i] = shape[static_cast<int>(order[i])];
    out.strides[i] = strides[static_cast<int>(order[i])];
  }
  return out;
}

Layout Layout::expand(const Shape& target) const {
  Layout out(target, Dims::filled(target.rank(), 0), offset);
  const int lead = target.rank() - shape.rank();
  for (int i = 0; i < shape.rank(); ++i) {
    out.strides[lead + i] = shape[i] == 1 && target[lead + i] != 1 ? 0 : strides[i];
  }
  return out;
}

bool Layout::reshape(const Shape& target, Layout& out) const {
  out = Layout(target);
  out.offset = offset;
  if (num_elements(shape) <= 1 || is_contiguous()) {
    return true;
  }
  // Runs of old dims that lie evenly in memory are matched with runs of new dims of equal product.
  int old_dim = 0;
  int new_dim = 0;
  while (new_dim < target.rank() || old_dim < shape.rank()) {
    while (old_dim < shape.rank() && shape[old_dim] == 1) {
      ++old_dim;
    }
    if (old_dim == shape.rank()) {
      for (; new_dim < target.rank(); ++new_dim) {
        out.strides[new_dim] = 1;
      }
      return true;
    }
    std::int64_t old_product = shape[old_dim];
    int old_end = old_dim + 1;
    std::int64_t new_product = 1;
    int new_end = new_dim;
    while (old_product != new_product || new_end == new_dim) {
      if (new_product < old_product || new_end == new_dim) {
        new_product *= target[new_end++];
      } else {
        // Merging dim `old_end` needs it to continue where the run ends.
        if (shape[old_end] != 1) {
          int previous = old_end - 1;
          while (shape[previous] == 1) {
            --previous;
          }
          if (strides[previous] != shape[old_end] * strides[old_end]) {
            return false;
          }
        }
        old_product *= shape[old_end++];
      }
    }
    int last = old_end - 1;
    while (shape[last] == 1) {
      --last;
    }
    std::int64_t step = strides[last];
    for (int i = new_end - 1; i >= new_dim; --i) {
      out.strides[i] = step;
      step *= target[i];
    }
    old_dim = old_end;
    new_dim = new_end;
  }
  return true;
}

Layout Layout::slice(int dim, std::int64_t start, std::int64_t length, std::int64_t step) const {
  Layout out = *this;
  out.offset += length > 0 ? start * strides[dim] : 0;
  out.shape[dim] = length;
  out.strides[dim] = strides[dim] * step;
  return out;
}

}  // namespace sinter
