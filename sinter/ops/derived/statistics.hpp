// SPDX-License-Identifier: MIT OR Apache-2.0
// Statistics, norms and closeness: formulas over other ops.
#pragma once

#include "sinter/graph/op_call.hpp"
#include "sinter/types/scalar.hpp"

namespace sinter::ops {

/// sum((x - mean)^2) / (n - correction) over `dims` (empty: all), in two passes and at least f32.
/// NaN where n is not above the correction.
Value variance(const Value& x, const Dims& dims = {}, double correction = 1, bool keep_dim = false,
               SourceLoc where = SourceLoc::current());
/// The square root of the variance.
Value standard_deviation(const Value& x, const Dims& dims = {}, double correction = 1,
                         bool keep_dim = false, SourceLoc where = SourceLoc::current());
/// Variance and mean.
Outputs variance_mean(const Value& x, const Dims& dims = {}, double correction = 1,
                      bool keep_dim = false, SourceLoc where = SourceLoc::current());
/// x [.., n, f] with `dim` -2 (or [.., f, n] with -1) -> covariances of the f variables over n
/// observations
/// [.., f, f]. `dim` is one of the last two.
Value covariance(const Value& x, int dim, double correction = 1,
                 SourceLoc where = SourceLoc::current());

/// (sum |x|^p)^(1/p) over `dims` (empty: all). p = 0 counts the elements that are not 0; infinity
/// and -infinity are the largest and the smallest |x|. The gradient of the norm of zeros is 0.
Value norm(const Value& x, double p = 2, const Dims& dims = {}, bool keep_dim = false,
           SourceLoc where = SourceLoc::current());
/// Sum of products over `dim` divided by the norms, each at least `eps`.
Value cosine_similarity(const Value& a, const Value& b, int dim = 1, double eps = 1e-8,
                        SourceLoc where = SourceLoc::current());

/// |a - b| <= atol + rtol * |b|, elementwise; equal infinities are close, NaN is close to nothing
/// unless `nan_equal`.
Value is_close(const Value& a, const Value& b, double rtol = 1e-5, double atol = 1e-8,
               bool nan_equal = false, SourceLoc where = SourceLoc::current());
/// Any element is NaN: rank 0, bool.
Value contains_nan(const Value& x, SourceLoc where = SourceLoc::current());
/// NaN, infinity and -infinity replaced; without a number, the dtype's largest finite one.
Value nan_to_num(const Value& x, double nan = 0, const double* positive = nullptr,
                 const double* negative = nullptr, SourceLoc where = SourceLoc::current());

/// x[i + 1] - x[i] along `dim`, `n` times.
Value difference(const Value& x, int n = 1, int dim = -1, SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
