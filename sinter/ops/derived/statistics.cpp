// SPDX-License-Identifier: MIT OR Apache-2.0
// Statistics, norms and closeness.
#include "sinter/ops/derived/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/types/layout.hpp"

namespace sinter::ops {
namespace {

bool is_narrow(DType dtype) { return is_floating(dtype) && size_of(dtype) < 4; }

// Narrow floats as f32: sums of their squares overflow or stall.
Value widened(const Value& x) { return is_narrow(x.dtype()) ? cast(x, DType::f32) : x; }

void check_floating(const char* op, const Value& x) {
  if (!is_floating(x.dtype())) {
    throw DTypeError(fmt::format("{}: expected a floating tensor, got {}; call to_float() first",
                                 op, name_of(x.dtype())));
  }
}

std::int64_t count_along(const Value& x, const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    count *= x.size(static_cast<int>(dim));
  }
  return count;
}

double largest(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return std::numeric_limits<double>::max();
    case DType::f16:
      return 65504;
    case DType::bf16:
      return 0x1.FEp127;
    default:
      return std::numeric_limits<float>::max();
  }
}

Shape without(const Shape& shape, const Dims& dims) {
  Shape kept;
  for (int i = 0; i < shape.rank(); ++i) {
    if (std::find(dims.begin(), dims.end(), i) == dims.end()) {
      kept.push_back(shape[i]);
    }
  }
  return kept;
}

// 0 where `squares` is 0: the root's own gradient is infinite there.
Value safe_root(const Value& squares) {
  const Value zero = scalar_like(squares, 0);
  const Value is_zero = equal(squares, zero);
  return where(is_zero, zero, sqrt(where(is_zero, scalar_like(squares, 1), squares)));
}

// Variance and mean for `op`, which errors name.
Outputs moments(const char* op, const Value& x, const Dims& dims, double correction, bool keep_dim,
                SourceLoc where) {
  check_floating(op, x);
  const Dims along = normalize_dims(dims, x.rank(), op);
  const Value wide = widened(x);
  const Value center = mean(wide, along, true, where);
  const double divisor = std::max(0.0, static_cast<double>(count_along(x, along)) - correction);
  Value spread = sum(square(sub(wide, center)), along, true, where);
  spread = cast(div(spread, scalar_like(spread, divisor)), x.dtype());
  Value average = cast(center, x.dtype());
  if (!keep_dim) {
    const Shape shape = without(x.shape(), along);
    spread = reshape(spread, shape);
    average = reshape(average, shape);
  }
  Outputs result;
  result.push_back(std::move(spread));
  result.push_back(std::move(average));
  return result;
}

}  // namespace

Outputs variance_mean(const Value& x, const Dims& dims, double correction, bool keep_dim,
                      SourceLoc where) {
  return moments("var_mean", x, dims, correction, keep_dim, where);
}
Value variance(const Value& x, const Dims& dims, double correction, bool keep_dim,
               SourceLoc where) {
  return moments("var", x, dims, correction, keep_dim, where)[0];
}
Value standard_deviation(const Value& x, const Dims& dims, double correction, bool keep_dim,
                         SourceLoc where) {
  return safe_root(moments("std", x, dims, correction, keep_dim, where)[0]);
}

Value covariance(const Value& x, int dim, double correction, SourceLoc where) {
  check_floating("cov", x);
  const int d = normalize_dim(dim, x.rank(), "cov");
  if (x.rank() < 2 || d < x.rank() - 2) {
    throw ArgumentError(
        fmt::format("cov: dim {} of shape {}; the observations must run along one of the "
                    "last two dims",
                    dim, x.shape().str()));
  }
  const Value wide = widened(x);
  const Value centered = sub(wide, mean(wide, {d}, true, where));
  const Value rows = d == x.rank() - 1 ? centered : transpose(centered);
  const double divisor = std::max(0.0, static_cast<double>(x.size(d)) - correction);
  const Value products = matmul(rows, transpose(rows));
  return cast(div(products, scalar_like(products, divisor)), x.dtype());
}

Value norm(const Value& x, double p, const Dims& dims, bool keep_dim, SourceLoc where) {
  check_floating("norm", x);
  const Dims along = normalize_dims(dims, x.rank(), "norm");
  if (p == std::numeric_limits<double>::infinity()) {
    return max(abs(x), along, keep_dim, where);
  }
  if (p == -std::numeric_limits<double>::infinity()) {
    return min(abs(x), along, keep_dim, where);
  }
  const Value wide = widened(x);
  Value result;
  if (p == 0) {
    result = sum(cast(not_equal(wide, scalar_like(wide, 0)), wide.dtype()), along, keep_dim, where);
  } else if (p == 1) {
    result = sum(abs(wide), along, keep_dim, where);
  } else if (p == 2) {
    result = safe_root(sum(square(wide), along, keep_dim, where));
  } else {
    const Value powers = sum(pow(abs(wide), scalar_like(wide, p)), along, keep_dim, where);
    result = pow(powers, scalar_like(powers, 1 / p));
  }
  return cast(result, x.dtype());
}

Value cosine_similarity(const Value& a, const Value& b, int dim, double eps, SourceLoc where) {
  const Value pairs = mul(a, b, where);
  const Value products =
      sum(pairs, {normalize_dim(dim, pairs.rank(), "cosine_similarity")}, false, where);
  const Value floor = scalar_like(products, eps);
  return div(products, mul(maximum(norm(a, 2, {dim}), floor), maximum(norm(b, 2, {dim}), floor)));
}

Value is_close(const Value& a, const Value& b, double rtol, double atol, bool nan_equal,
               SourceLoc where) {
  const DType dtype = is_floating(a.dtype()) || is_floating(b.dtype())
                          ? promote(DType::f32, promote(a.dtype(), b.dtype()))
                          : DType::f64;
  const Value x = cast(a, dtype);
  const Value y = cast(b, dtype);
  const Value bound = add(mul(abs(y), scalar_like(y, rtol)), scalar_like(y, atol));
  Value close = logical_and(less_equal(abs(sub(x, y, where)), bound), is_finite(y));
  close = logical_or(close, equal(x, y));
  return nan_equal ? logical_or(close, logical_and(is_nan(x), is_nan(y))) : close;
}

Value contains_nan(const Value& x, SourceLoc where) {
  return any(is_nan(x, where), {}, false, where);
}

Value nan_to_num(const Value& x, double nan, const double* positive, const double* negative,
                 SourceLoc where) {
  check_floating("nan_to_num", x);
  const double limit = largest(x.dtype());
  const Value infinity = scalar_like(x, std::numeric_limits<double>::infinity());
  const Value low = scalar_like(x, -std::numeric_limits<double>::infinity());
  Value y = ops::where(is_nan(x, where), scalar_like(x, nan), x);
  y = ops::where(equal(x, infinity), scalar_like(x, positive ? *positive : limit), y);
  return ops::where(equal(x, low), scalar_like(x, negative ? *negative : -limit), y);
}

Value difference(const Value& x, int n, int dim, SourceLoc where) {
  const int d = normalize_dim(dim, x.rank(), "diff");
  Value y = x;
  for (int i = 0; i < n; ++i) {
    const std::int64_t steps = std::max<std::int64_t>(0, y.size(d) - 1);
    y = sub(narrow(y, d, y.size(d) - steps, steps), narrow(y, d, 0, steps), where);
  }
  return y;
}

}  // namespace sinter::ops
