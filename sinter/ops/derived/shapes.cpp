// SPDX-License-Identifier: MIT OR Apache-2.0
// Formulas over views and creation.
#include "sinter/ops/derived/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/join/join.hpp"
#include "sinter/types/layout.hpp"

namespace sinter::ops {

Value movedim(const Value& x, const Dims& from, const Dims& to) {
  if (from.size() != to.size()) {
    throw ArgumentError(
        fmt::format("movedim: {} dims to {} places; give as many", from.size(), to.size()));
  }
  if (from.empty()) {
    return x;
  }
  // Checks for repeated dims; it also sorts, so the pairs are made below.
  (void)normalize_dims(from, x.rank(), "movedim");
  (void)normalize_dims(to, x.rank(), "movedim");
  Dims source, order = Dims::filled(x.rank(), -1);
  for (int i = 0; i < from.size(); ++i) {
    source.push_back(normalize_dim(from[i], x.rank(), "movedim"));
    order[normalize_dim(to[i], x.rank(), "movedim")] = source[i];
  }
  std::int64_t next = 0;
  for (std::int64_t& place : order) {
    if (place < 0) {
      while (std::find(source.begin(), source.end(), next) != source.end()) {
        ++next;
      }
      place = next++;
    }
  }
  return permute(x, order);
}

Value squeeze_dims(const Value& x, const Dims& dims) {
  const bool all = dims.empty();
  const Dims named = normalize_dims(dims, x.rank(), "squeeze");
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    const bool asked = std::find(named.begin(), named.end(), i) != named.end();
    if (asked && !all && x.size(i) != 1) {
      throw ShapeError(
          fmt::format("squeeze: dim {} of {} has size {}, not 1", i, x.shape().str(), x.size(i)));
    }
    if (!asked || x.size(i) != 1) {
      shape.push_back(x.size(i));
    }
  }
  return reshape(x, shape);
}

Value flatten(const Value& x, int first, int last) {
  if (x.rank() == 0) {
    return reshape(x, {1});
  }
  const int from = normalize_dim(first, x.rank(), "flatten");
  const int to = normalize_dim(last, x.rank(), "flatten");
  if (from > to) {
    throw ArgumentError(fmt::format("flatten: dim {} comes after dim {}", first, last));
  }
  Shape shape;
  std::int64_t merged = 1;
  for (int i = 0; i < x.rank(); ++i) {
    if (i < from || i > to) {
      shape.push_back(x.size(i));
    } else {
      merged *= x.size(i);
      if (i == to) {
        shape.push_back(merged);
      }
    }
  }
  return reshape(x, shape);
}

Value linspace(Backend& backend, double start, double end, std::int64_t count, DType dtype) {
  if (count < 0) {
    throw ArgumentError(fmt::format("linspace: {} numbers; give 0 or more", count));
  }
  const double step = count > 1 ? (end - start) / static_cast<double>(count - 1) : 0;
  return arange(backend, start, step, count, dtype);
}

Value logspace(Backend& backend, double start, double end, std::int64_t count, double base,
               DType dtype) {
  const Value exponents = linspace(backend, start, end, count, DType::f64);
  return cast(pow(scalar_like(exponents, base), exponents), dtype);
}

Value arange_to(Backend& backend, Scalar start, Scalar end, Scalar step, DType dtype) {
  if (step.as_double() == 0 || !std::isfinite(step.as_double())) {
    throw ArgumentError(
        fmt::format("arange: step {}; it must be finite and not 0", step.as_double()));
  }
  if (!std::isfinite(start.as_double()) || !std::isfinite(end.as_double())) {
    throw ArgumentError(fmt::format("arange: from {} to {}; both must be finite", start.as_double(),
                                    end.as_double()));
  }
  double count = 0;
  if (start.kind != Kind::floating && end.kind != Kind::floating && step.kind != Kind::floating) {
    if ((start.integer < end.integer) != (step.integer > 0) || start.integer == end.integer) {
      return arange(backend, start, step, 0, dtype);
    }
    // Without sign, since distances may need 64 bits.
    const auto from = static_cast<std::uint64_t>(start.integer);
    const auto to = static_cast<std::uint64_t>(end.integer);
    const auto by = static_cast<std::uint64_t>(step.integer);
    const std::uint64_t distance = step.integer > 0 ? to - from : from - to;
    const std::uint64_t whole = (distance - 1) / (step.integer > 0 ? by : 0 - by) + 1;
    if (whole <= static_cast<std::uint64_t>(INT64_MAX)) {
      return arange(backend, start, step, static_cast<std::int64_t>(whole), dtype);
    }
    count = static_cast<double>(whole);
  } else {
    count = std::ceil((end.as_double() - start.as_double()) / step.as_double());
  }
  if (count >= 0x1p63) {
    throw ArgumentError(fmt::format(
        "arange: {} elements are more than a tensor can have; use a larger step", count));
  }
  return arange(backend, start, step, static_cast<std::int64_t>(std::max(count, 0.0)), dtype);
}

std::vector<Value> meshgrid(std::span<const Value> vectors) {
  Shape shape;
  for (const Value& vector : vectors) {
    shape.push_back(vector.num_elements());
  }
  std::vector<Value> grids;
  for (int i = 0; i < shape.rank(); ++i) {
    Shape one = Shape::filled(shape.rank(), 1);
    one[i] = shape[i];
    grids.push_back(expand(reshape(vectors[static_cast<std::size_t>(i)], one), shape));
  }
  return grids;
}

Value cartesian_grid(Backend& backend, const Shape& shape) {
  std::vector<Value> ranges;
  for (const std::int64_t size : shape) {
    ranges.push_back(arange(backend, 0, 1, size, DType::i64));
  }
  if (ranges.empty()) {
    return full(backend, {0}, 0, DType::i64);
  }
  return stack(meshgrid(ranges), shape.rank());
}

Value triangle_mask(Backend& backend, const Shape& shape, Triangle triangle, std::int64_t k) {
  if (shape.rank() < 2) {
    throw ShapeError(fmt::format("triangle mask: shape {} has no last two dims", shape.str()));
  }
  const std::int64_t m = shape[shape.rank() - 2], n = shape[shape.rank() - 1];
  const Value rows = reshape(arange(backend, k, 1, m, DType::i64), {m, 1});
  const Value columns = reshape(arange(backend, 0, 1, n, DType::i64), {1, n});
  const Value mask = triangle == Triangle::upper   ? greater_equal(columns, rows)
                     : triangle == Triangle::lower ? less_equal(columns, rows)
                                                   : equal(columns, rows);
  return expand(mask, shape);
}

}  // namespace sinter::ops
