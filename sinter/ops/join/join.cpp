// SPDX-License-Identifier: MIT OR Apache-2.0
// Joining and splitting.
#include "sinter/ops/join/join.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::ops {
namespace {

// One call takes this many inputs: which of them need a gradient is a 64-bit mask.
constexpr std::size_t max_parts = 64;

void require_set(std::span<const Value> parts, std::string_view op) {
  for (const Value& part : parts) {
    if (!part) {
      sinter::detail::raise_unset(op);
    }
  }
}

}  // namespace

void Cat::infer(const OpCall& call, Specs& outputs) {
  const Value& first = call.inputs[0];
  const int dim = normalize_dim(call.as<Cat>().dim, first.rank(), "cat");
  Shape shape = first.shape();
  shape[dim] = 0;
  for (const Value& part : call.inputs) {
    if (part.dtype() != first.dtype()) {
      throw DTypeError(fmt::format("cat: all parts must have one dtype, got {} and {}; cast one",
                                   name_of(first.dtype()), name_of(part.dtype())));
    }
    Shape expected = first.shape();
    if (part.rank() == first.rank()) {
      expected[dim] = part.size(dim);
    }
    if (!(part.shape() == expected)) {
      throw ShapeError(fmt::format("cat: parts must agree in all dims but {}, got {} and {}", dim,
                                   first.shape().str(), part.shape().str()));
    }
    if (__builtin_add_overflow(shape[dim], part.size(dim), &shape[dim])) {
      throw ShapeError(fmt::format("cat: dim {} of the parts together exceeds 2^63 - 1", dim));
    }
  }
  (void)num_elements(shape);
  outputs.push_back({shape, first.dtype()});
}
void Cat::backward(GradCall& call) {
  const Value& g = call.grad();
  const int dim = normalize_dim(call.op<Cat>().dim, g.rank(), "cat");
  std::int64_t start = 0;
  for (int i = 0; i < static_cast<int>(call.num_inputs()); ++i) {
    const std::int64_t length = call.input_shape(i)[dim];
    if (call.needs(i)) {
      call.set(i, narrow(g, dim, start, length));
    }
    start += length;
  }
}
void Cat::samples(SampleSink& sink) {
  sink.add(Cat{0}, {value_sample({2, 3}), value_sample({4, 3})});
  sink.add(Cat{1}, {value_sample({2, 3, 2}), value_sample({2, 1, 2}), value_sample({2, 4, 2})});
  sink.add(Cat{-1}, {value_sample({3, 2}), value_sample({3, 0}), value_sample({3, 1})});
  sink.add(Cat{0}, {value_sample({3})});
}

Value cat(std::span<const Value> parts, std::int64_t dim, SourceLoc where) {
  if (parts.empty()) {
    throw ArgumentError("cat: expected at least one tensor, got none");
  }
  require_set(parts, "cat");
  if (parts.size() > max_parts) {
    std::vector<Value> joined;
    for (std::size_t i = 0; i < parts.size(); i += max_parts) {
      joined.push_back(cat(parts.subspan(i, std::min(max_parts, parts.size() - i)), dim, where));
    }
    return cat(joined, dim, where);
  }
  if (parts.size() == 1) {
    (void)normalize_dim(dim, parts[0].rank(), "cat");
    return parts[0];
  }
  bool same = true;
  for (const Value& part : parts) {
    same = same && part.dtype() == parts[0].dtype();
  }
  if (same) {
    return apply(Cat{dim}, parts, 0, where)[0];
  }
  DType common = parts[0].dtype();
  for (const Value& part : parts) {
    common = promote(common, part.dtype());
  }
  std::vector<Value> converted;
  for (const Value& part : parts) {
    converted.push_back(cast(part, common));
  }
  return apply(Cat{dim}, converted, 0, where)[0];
}

Value stack(std::span<const Value> parts, std::int64_t dim, SourceLoc where) {
  if (parts.empty()) {
    throw ArgumentError("stack: expected at least one tensor, got none");
  }
  require_set(parts, "stack");
  std::vector<Value> rows;
  for (const Value& part : parts) {
    if (!(part.shape() == parts[0].shape())) {
      throw ShapeError(fmt::format("stack: all parts must have one shape, got {} and {}",
                                   parts[0].shape().str(), part.shape().str()));
    }
    rows.push_back(unsqueeze(part, normalize_dim(dim, part.rank() + 1, "stack")));
  }
  return cat(rows, dim, where);
}

std::vector<Value> split(const Value& x, std::span<const std::int64_t> sizes, std::int64_t dim) {
  const int d = normalize_dim(dim, x.rank(), "split");
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0) {
      throw ArgumentError(fmt::format("split: sizes must not be negative, got {}", size));
    }
    total += size;
  }
  if (total != x.size(d)) {
    throw ShapeError(fmt::format("split: the sizes add up to {}, but dim {} of {} has {}", total, d,
                                 x.shape().str(), x.size(d)));
  }
  std::vector<Value> parts;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(narrow(x, d, start, size));
    start += size;
  }
  return parts;
}
std::vector<Value> split(const Value& x, std::int64_t size, std::int64_t dim) {
  const int d = normalize_dim(dim, x.rank(), "split");
  if (size < 1) {
    throw ArgumentError(fmt::format("split: the size must be at least 1, got {}", size));
  }
  std::vector<Value> parts;
  const std::int64_t n = x.size(d);
  for (std::int64_t start = 0; start < std::max<std::int64_t>(n, 1); start += size) {
    parts.push_back(narrow(x, d, start, std::min(size, n - start)));
  }
  return parts;
}
std::vector<Value> chunk(const Value& x, std::int64_t count, std::int64_t dim) {
  if (count < 1) {
    throw ArgumentError(fmt::format("chunk: the count must be at least 1, got {}", count));
  }
  const std::int64_t n = x.size(normalize_dim(dim, x.rank(), "chunk"));
  return split(x, std::max<std::int64_t>((n + count - 1) / count, 1), dim);
}
std::vector<Value> unbind(const Value& x, std::int64_t dim) {
  const int d = normalize_dim(dim, x.rank(), "unbind");
  std::vector<Value> parts;
  for (std::int64_t i = 0; i < x.size(d); ++i) {
    parts.push_back(squeeze(narrow(x, d, i, 1), d));
  }
  return parts;
}

Value roll(const Value& x, const Dims& shifts, const Dims& dims) {
  if (shifts.rank() != dims.rank()) {
    throw ArgumentError(fmt::format("roll: expected one shift for each dim, got {} and {}",
                                    shifts.str(), dims.str()));
  }
  Value result = x;
  for (int i = 0; i < dims.rank(); ++i) {
    const int dim = normalize_dim(dims[i], x.rank(), "roll");
    const std::int64_t n = x.size(dim);
    const std::int64_t shift = n == 0 ? 0 : ((shifts[i] % n) + n) % n;
    if (shift != 0) {
      result = cat({narrow(result, dim, n - shift, shift), narrow(result, dim, 0, n - shift)}, dim);
    }
  }
  return result;
}

Value cross(const Value& a, const Value& b, std::int64_t dim) {
  const Shape shape = broadcast(a.shape(), b.shape(), "cross");
  const int d = normalize_dim(dim, shape.rank(), "cross");
  if (shape[d] != 3) {
    throw ShapeError(fmt::format("cross: dim {} must have 3 elements, got {} and {}", d,
                                 a.shape().str(), b.shape().str()));
  }
  const Value left = expand(a, shape);
  const Value right = expand(b, shape);
  const auto next = [&](const Value& x, std::int64_t by) { return roll(x, Dims{-by}, Dims{d}); };
  return sub(mul(next(left, 1), next(right, 2)), mul(next(left, 2), next(right, 1)));
}

}  // namespace sinter::ops
