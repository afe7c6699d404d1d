// SPDX-License-Identifier: MIT OR Apache-2.0
// Test help: both backends, the same elements in many layouts, and comparison.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "sinter/backend/host/tensor.hpp"
#include "sinter/backend/registry.hpp"
#include "sinter/graph/backend.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::backend::testing {

inline Backend& portable() {
  static const std::unique_ptr<Backend> backend = find("portable").create(0);
  return *backend;
}
inline Backend& reference() {
  static const std::unique_ptr<Backend> backend = find("reference").create(0);
  return *backend;
}

/// Around the widths of vectors and blocks.
inline const std::vector<std::int64_t> sizes = {0,  1,  2,  3,  7,  8,   9,   15,  16,  17,
                                                31, 33, 63, 64, 65, 127, 129, 511, 513, 1000};

/// Repeatable numbers in [low, high), rounded to `dtype`.
inline HostData numbers(const Shape& shape, DType dtype, double low = -3, double high = 3,
                        std::uint64_t seed = 1) {
  std::vector<double> values(static_cast<std::size_t>(num_elements(shape)));
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = low + (high - low) * static_cast<double>(state >> 11) * 0x1p-53;
    if (!is_floating(dtype)) {
      value = std::floor(value);
    }
  }
  return HostData(shape, std::span<const double>(values)).cast(dtype);
}

enum class Lay { dense, transposed, offset, stepped, flipped, odd_strides };
inline constexpr Lay all_layouts[] = {Lay::dense,   Lay::transposed, Lay::offset,
                                      Lay::stepped, Lay::flipped,    Lay::odd_strides};

/// `data` on `backend`, its elements lying as `lay` says.
inline Value laid_out(Backend& backend, const HostData& data, Lay lay) {
  const Value x = backend.from_data(data);
  const Shape& shape = data.shape();
  Dims reversed;
  Dims ones = Dims::filled(shape.rank(), 1);
  Dims starts = ones;
  Dims steps = ones;
  Shape larger = shape;
  for (int i = 0; i < shape.rank(); ++i) {
    reversed.push_back(shape.rank() - 1 - i);
    larger[i] = lay == Lay::stepped ? 3 * shape[i] + 2 : shape[i] + 3;
    steps[i] = lay == Lay::stepped ? 3 : 1;
  }
  switch (lay) {
    case Lay::transposed:
      return ops::permute(ops::contiguous(ops::permute(x, reversed)), reversed);
    case Lay::offset:
    case Lay::stepped: {
      // What surrounds the elements is NaN (or true): reading it would show.
      const Value around = ops::full(
          backend, larger, is_floating(data.dtype()) ? Scalar(NAN) : Scalar(1), data.dtype());
      return ops::slice(ops::slice_assign(around, x, starts, shape, steps), starts, shape, steps);
    }
    case Lay::flipped: {
      Dims all;
      for (int i = 0; i < shape.rank(); ++i) {
        all.push_back(i);
      }
      return shape.rank() == 0 ? x : ops::flip(ops::contiguous(ops::flip(x, all)), all);
    }
    case Lay::odd_strides: {
      // Dims of size 1 whose stride means nothing.
      Layout layout(shape);
      for (int i = 0; i < shape.rank(); ++i) {
        layout.strides[i] = shape[i] == 1 ? 12345 : layout.strides[i];
      }
      return view_of(x, layout);
    }
    case Lay::dense:
      break;
  }
  return x;
}

/// Relative (below 1: absolute) difference allowed when results of `dtype` are rounded once.
inline double rounding(DType dtype) {
  return dtype == DType::f64   ? 1e-12
         : dtype == DType::f32 ? 3e-6
         : dtype == DType::f16 ? 2e-3
                               : 1.6e-2;
}

/// Same shape, dtype and values: equal, or within `tolerance` for floats; NaN equals NaN.
inline void expect_same(const HostData& got, const HostData& want, double tolerance = 0) {
  ASSERT_EQ(got.shape(), want.shape());
  ASSERT_EQ(got.dtype(), want.dtype());
  for (std::int64_t i = 0; i < want.num_elements(); ++i) {
    if (!is_floating(want.dtype())) {
      ASSERT_EQ(got.int_at(i), want.int_at(i)) << "element " << i;
      continue;
    }
    const double a = got.at(i);
    const double b = want.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) {
      continue;
    }
    ASSERT_LE(std::fabs(a - b), tolerance * std::fmax(1, std::fabs(b)))
        << "element " << i << ": " << a << ", expected " << b;
  }
}

inline HostData read(const Value& value) { return value.backend().read(value); }

}  // namespace sinter::backend::testing
