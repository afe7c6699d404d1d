// SPDX-License-Identifier: MIT OR Apache-2.0
// Formulas over views and creation: moved and merged dims, ranges, grids, masks of triangles.
#pragma once

#include <span>
#include <vector>

#include "sinter/graph/op_call.hpp"
#include "sinter/types/scalar.hpp"

namespace sinter::ops {

/// Dim `from[i]` becomes dim `to[i]`; the others keep their order.
Value movedim(const Value& x, const Dims& from, const Dims& to);
/// Without these dims, which have size 1 (ShapeError); an empty list means all dims of size 1.
Value squeeze_dims(const Value& x, const Dims& dims);
/// Dims `first` ... `last` merged into one; a scalar becomes a vector of one element.
Value flatten(const Value& x, int first, int last);

/// `count` numbers from `start` to `end`, both included; one number is `start`.
Value linspace(Backend& backend, double start, double end, std::int64_t count, DType dtype);
/// base to the power of linspace.
Value logspace(Backend& backend, double start, double end, std::int64_t count, double base,
               DType dtype);
/// start, start + step, … before `end`: ceil((end - start) / step) numbers.
Value arange_to(Backend& backend, Scalar start, Scalar end, Scalar step, DType dtype);

/// Vectors of sizes n, m, … -> tensors [n, m, …] that repeat them along the other dims.
std::vector<Value> meshgrid(std::span<const Value> vectors);
/// All positions in `shape`, row-major: i64 [.., rank].
Value cartesian_grid(Backend& backend, const Shape& shape);

enum class Triangle : std::uint8_t { upper, lower, diagonal };
/// [.., m, n] of bool, true on and above (upper), on and below (lower), or on diagonal `k`.
Value triangle_mask(Backend& backend, const Shape& shape, Triangle triangle, std::int64_t k = 0);

}  // namespace sinter::ops
