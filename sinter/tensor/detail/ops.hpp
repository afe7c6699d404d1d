// SPDX-License-Identifier: MIT OR Apache-2.0
// Declares the functions on values that tensors' methods call. Their own headers bring the op
// structs, which a user's program need not parse; the defaults of arguments are there.
#pragma once

#include <vector>

#include "sinter/ops/derived/activations.hpp"
#include "sinter/ops/derived/statistics.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/modes.hpp"
#include "sinter/types/distribution.hpp"

namespace sinter {

using ops::IndexUpdate;
using ops::InterpolateMode;
using ops::PadMode;

namespace ops {

// index/
Value index_select(const Value& x, std::int64_t dim, const Value& index, SourceLoc where);
Value gather(const Value& x, std::int64_t dim, const Value& index, SourceLoc where);
Value gather_nd(const Value& x, const Value& index, SourceLoc where);
Value one_hot(const Value& index, std::int64_t classes, DType dtype, SourceLoc where);
Value take(const Value& x, std::int64_t dim, const Value& index, SourceLoc where);
Value take_along_dim(const Value& x, std::int64_t dim, const Value& index, SourceLoc where);
Value nonzero(const Value& x, SourceLoc where);
Value mask_select(const Value& x, const Value& mask, SourceLoc where);

// random/
Value random_like(const Value& x, const Distribution& distribution, SourceLoc where);
Value randperm(Backend& backend, std::int64_t n, SourceLoc where);
Value categorical(const Value& logits, std::int64_t count, SourceLoc where);

// scan/, sort/
Value cumsum(const Value& x, std::int64_t dim, SourceLoc where);
Value cumprod(const Value& x, std::int64_t dim, SourceLoc where);
Outputs cummax(const Value& x, std::int64_t dim, SourceLoc where);
Outputs cummin(const Value& x, std::int64_t dim, SourceLoc where);
Outputs sort(const Value& x, std::int64_t dim, bool descending, SourceLoc where);
Value argsort(const Value& x, std::int64_t dim, bool descending, SourceLoc where);
Outputs topk(const Value& x, std::int64_t k, std::int64_t dim, bool largest, SourceLoc where);
Value argmax(const Value& x, std::int64_t dim, bool keep_dim, SourceLoc where);
Value argmin(const Value& x, std::int64_t dim, bool keep_dim, SourceLoc where);
Value argmax(const Value& x, SourceLoc where);
Value argmin(const Value& x, SourceLoc where);
Outputs median(const Value& x, std::int64_t dim, bool keep_dim, SourceLoc where);
Value median(const Value& x, SourceLoc where);

// join/
Value cat(std::span<const Value> parts, std::int64_t dim, SourceLoc where);
Value stack(std::span<const Value> parts, std::int64_t dim, SourceLoc where);
std::vector<Value> split(const Value& x, std::int64_t size, std::int64_t dim);
std::vector<Value> split(const Value& x, std::span<const std::int64_t> sizes, std::int64_t dim);
std::vector<Value> chunk(const Value& x, std::int64_t count, std::int64_t dim);
std::vector<Value> unbind(const Value& x, std::int64_t dim);
Value repeat(const Value& x, const Dims& times);
Value repeat_interleave(const Value& x, std::int64_t times, std::int64_t dim);
Value roll(const Value& x, const Dims& shifts, const Dims& dims);
Value triu(const Value& x, std::int64_t k);
Value tril(const Value& x, std::int64_t k);
Value diag(const Value& x, std::int64_t k);
Value pad(const Value& x, const Dims& before, const Dims& after, PadMode mode, Scalar value,
          SourceLoc where);
Value unsqueeze_dims(const Value& x, std::span<const std::int64_t> dims);
Value cross(const Value& a, const Value& b, std::int64_t dim);

// softmax/
Value softmax(const Value& x, int dim, SourceLoc where);
Value log_softmax(const Value& x, int dim, SourceLoc where);
Value logsumexp(const Value& x, const Dims& dims, bool keep_dim, SourceLoc where);
Value softmin(const Value& x, int dim, SourceLoc where);
Value quiet_softmax(const Value& x, int dim, SourceLoc where);
Value normalize(const Value& x, int dim, double eps, SourceLoc where);
Value glu(const Value& x, int dim, SourceLoc where);

// derived/
Value movedim(const Value& x, const Dims& from, const Dims& to);
Value squeeze_dims(const Value& x, const Dims& dims);
Value flatten(const Value& x, int first, int last);
Value dot(const Value& a, const Value& b, SourceLoc where);
Value outer(const Value& a, const Value& b, SourceLoc where);
Value matvec(const Value& a, const Value& x, SourceLoc where);
Value trace(const Value& x, SourceLoc where);
Value addmm(const Value& c, const Value& a, const Value& b, double beta, double alpha,
            SourceLoc where);
Value kron(const Value& a, const Value& b, SourceLoc where);
Value tensordot(const Value& a, const Value& b, int dims, SourceLoc where);

}  // namespace ops
}  // namespace sinter
