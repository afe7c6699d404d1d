// SPDX-License-Identifier: MIT OR Apache-2.0
// Shape arithmetic: broadcasting, counting and normalising dimensions.
#include "sinter/types/shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sinter/base/error.hpp"

namespace sinter {
namespace {

[[noreturn]] void raise_rank(std::size_t rank) {
  throw ShapeError(fmt::format(
      "a tensor has at most {} dimensions, got {}; merge some with reshape", max_rank, rank));
}

}  // namespace

Dims::Dims(std::span<const std::int64_t> values) {
  if (values.size() > max_rank) {
    raise_rank(values.size());
  }
  std::copy(values.begin(), values.end(), values_);
  rank_ = static_cast<int>(values.size());
}

Dims Dims::filled(int rank, std::int64_t value) {
  Dims dims;
  for (int i = 0; i < rank; ++i) {
    dims.push_back(value);
  }
  return dims;
}

void Dims::push_back(std::int64_t value) {
  if (rank_ == max_rank) {
    raise_rank(static_cast<std::size_t>(rank_) + 1);
  }
  values_[rank_++] = value;
}

void Dims::insert(int position, std::int64_t value) {
  push_back(value);
  std::rotate(begin() + position, end() - 1, end());
}

void Dims::erase(int position) {
  std::copy(begin() + position + 1, end(), begin() + position);
  --rank_;
}

std::string Dims::str() const { return fmt::format("[{}]", fmt::join(begin(), end(), ", ")); }

void detail::raise_too_large(const Shape& shape) {
  throw ShapeError(fmt::format("shape {} has more than 2^63 - 1 elements", shape.str()));
}

Shape broadcast(const Shape& a, const Shape& b, std::string_view op) {
  if (a == b) {
    return a;
  }
  Shape out = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  const int lead = out.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    const std::int64_t x = out[lead + i];
    const std::int64_t y = shorter[i];
    if (x != y && x != 1 && y != 1) {
      throw ShapeError(fmt::format(
          "{}: shapes {} and {} don't broadcast: sizes {} and {} at dim {} differ and neither is 1",
          op, a.str(), b.str(), a.rank() >= b.rank() ? x : y, a.rank() >= b.rank() ? y : x,
          lead + i - out.rank()));
    }
    out[lead + i] = x == 1 ? y : x;
  }
  return out;
}

int normalize_dim(std::int64_t dim, int rank, std::string_view op) {
  if (rank == 0) {
    throw IndexError(
        fmt::format("{}: dim {} is out of range: a tensor of rank 0 has no dims; "
                    "unsqueeze it first",
                    op, dim));
  }
  if (dim < -rank || dim >= rank) {
    throw IndexError(fmt::format("{}: dim {} is out of range for a tensor of rank {}; use {} to {}",
                                 op, dim, rank, -rank, rank - 1));
  }
  return static_cast<int>(dim < 0 ? dim + rank : dim);
}

Dims normalize_dims(const Dims& dims, int rank, std::string_view op) {
  Dims out;
  if (dims.empty()) {
    for (int i = 0; i < rank; ++i) {
      out.push_back(i);
    }
    return out;
  }
  for (const std::int64_t dim : dims) {
    out.push_back(normalize_dim(dim, rank, op));
  }
  Dims sorted = out;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw ShapeError(fmt::format("{}: dims {} name one dimension twice", op, dims.str()));
  }
  return sorted;
}

Dims contiguous_strides(const Shape& shape) {
  Dims strides = shape;
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    // Only a shape without elements can overflow, and nothing is reached by its strides.
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(shape[i], 1), &step)) {
      step = 0;
    }
  }
  return strides;
}

}  // namespace sinter
