// SPDX-License-Identifier: MIT OR Apache-2.0
// Products of vectors and matrices.
#include "sinter/ops/derived/linalg.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/join/join.hpp"

namespace sinter::ops {
namespace {

void check_rank(const char* op, const Value& x, int rank) {
  if (x.rank() != rank) {
    throw ShapeError(fmt::format("{}: expected a tensor of rank {}, got shape {}; reshape it first",
                                 op, rank, x.shape().str()));
  }
}

Value scaled(const Value& x, double factor) {
  return factor == 1 ? x : mul(x, scalar_like(x, factor));
}

}  // namespace

Value dot(const Value& a, const Value& b, SourceLoc where) {
  check_rank("dot", a, 1);
  check_rank("dot", b, 1);
  if (a.size(0) != b.size(0)) {
    throw ShapeError(fmt::format("dot: vectors of {} and {} elements; they must be as long",
                                 a.size(0), b.size(0)));
  }
  return sum(mul(a, b, where), {}, false, where);
}

Value outer(const Value& a, const Value& b, SourceLoc where) {
  check_rank("outer", a, 1);
  check_rank("outer", b, 1);
  return mul(reshape(a, {a.size(0), 1}), reshape(b, {1, b.size(0)}), where);
}

Value matvec(const Value& a, const Value& x, SourceLoc where) {
  check_rank("matvec", x, 1);
  return squeeze(call(OpCode::matmul, {a, unsqueeze(x, 1)}, where), -1);
}

Value trace(const Value& x, SourceLoc where) {
  if (x.rank() < 2) {
    throw ShapeError(
        fmt::format("trace: expected a matrix or a batch of them, got shape {}", x.shape().str()));
  }
  return sum(diag(x), {-1}, false, where);
}

Value addmm(const Value& c, const Value& a, const Value& b, double beta, double alpha,
            SourceLoc where) {
  const Value product = scaled(call(OpCode::matmul, {a, b}, where), alpha);
  return beta == 0 ? product : add(scaled(c, beta), product, where);
}

Value kron(const Value& a, const Value& b, SourceLoc where) {
  check_rank("kron", a, 2);
  check_rank("kron", b, 2);
  const std::int64_t m = a.size(0), n = a.size(1), p = b.size(0), q = b.size(1);
  return reshape(mul(reshape(a, {m, 1, n, 1}), reshape(b, {1, p, 1, q}), where), {m * p, n * q});
}

Value tensordot(const Value& a, const Value& b, int dims, SourceLoc where) {
  if (dims < 0 || dims > a.rank() || dims > b.rank()) {
    throw ArgumentError(
        fmt::format("tensordot: {} dims of shapes {} and {}; there must be as many in both", dims,
                    a.shape().str(), b.shape().str()));
  }
  Shape result;
  std::int64_t rows = 1, inner = 1, columns = 1;
  for (int i = 0; i < a.rank() - dims; ++i) {
    result.push_back(a.size(i));
    rows *= a.size(i);
  }
  for (int i = 0; i < b.rank(); ++i) {
    if (i >= dims) {
      result.push_back(b.size(i));
      columns *= b.size(i);
    } else if (b.size(i) != a.size(a.rank() - dims + i)) {
      throw ShapeError(fmt::format("tensordot: the last {} dims of {} differ from the first of {}",
                                   dims, a.shape().str(), b.shape().str()));
    } else {
      inner *= b.size(i);
    }
  }
  const Value product =
      call(OpCode::matmul, {reshape(a, {rows, inner}), reshape(b, {inner, columns})}, where);
  return reshape(product, result);
}

}  // namespace sinter::ops
