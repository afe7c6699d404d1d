// SPDX-License-Identifier: MIT OR Apache-2.0
// Padding, repeating and diagonals.
#include <fmt/format.h>

#include <algorithm>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/index/index.hpp"
#include "sinter/ops/join/join.hpp"

namespace sinter::ops {

void Pad::infer(const OpCall& call, Specs& outputs) {
  const Pad& op = call.as<Pad>();
  const Value& x = call.inputs[0];
  Shape shape = x.shape();
  if (op.before.rank() != x.rank() || op.after.rank() != x.rank()) {
    throw ShapeError(
        fmt::format("pad: before {} and after {} must give one amount for each dim of {}",
                    op.before.str(), op.after.str(), shape.str()));
  }
  for (int i = 0; i < shape.rank(); ++i) {
    if (op.before[i] < 0 || op.after[i] < 0) {
      throw ArgumentError(
          fmt::format("pad: amounts must not be negative, got before {} and after {}; "
                      "slice instead",
                      op.before.str(), op.after.str()));
    }
    shape[i] += op.before[i] + op.after[i];
  }
  (void)num_elements(shape);
  outputs.push_back({shape, x.dtype()});
}
void Pad::backward(GradCall& call) {
  const Dims& starts = call.op<Pad>().before;
  call.set(0, slice(call.grad(), starts, call.input_shape(0), Dims::filled(starts.rank(), 1)));
}
void Pad::samples(SampleSink& sink) {
  sink.add(Pad{{1, 0}, {2, 3}, 1.5}, {value_sample({3, 4})});
  sink.add(Pad{{0, 2, 1}, {0, 0, 1}, 0}, {value_sample({2, 3, 2})});
}

namespace {

// Which element of a dim of size n stands at `i`, which may lie outside [0, n).
std::int64_t mirror(std::int64_t i, std::int64_t n, PadMode mode) {
  if (mode == PadMode::replicate) {
    return std::clamp<std::int64_t>(i, 0, n - 1);
  }
  const std::int64_t period = mode == PadMode::circular    ? n
                              : mode == PadMode::symmetric ? 2 * n
                                                           : std::max<std::int64_t>(2 * n - 2, 1);
  const std::int64_t j = ((i % period) + period) % period;
  if (j < n) {
    return j;
  }
  return mode == PadMode::symmetric ? period - 1 - j : period - j;
}

Value pad_by_index(const Value& x, int dim, std::int64_t before, std::int64_t after, PadMode mode,
                   SourceLoc where) {
  const std::int64_t n = x.size(dim);
  if (n == 0) {
    throw ShapeError(
        fmt::format("pad: dim {} of {} is empty, and has nothing to fill a border with; use "
                    "constant padding",
                    dim, x.shape().str()));
  }
  HostData data(Shape{n + before + after}, DType::i64);
  std::int64_t i = -before;
  for (std::int64_t& source : data.as<std::int64_t>()) {
    source = mirror(i++, n, mode);
  }
  return index_select(x, dim, x.backend().from_data(data), where);
}

Value pad_constant(const Value& x, Dims before, Dims after, Scalar value, SourceLoc where) {
  Dims starts = Dims::filled(x.rank(), 0);
  Dims lengths = x.shape();
  bool cut = false;
  bool grow = false;
  for (int i = 0; i < x.rank(); ++i) {
    const std::int64_t front = std::min<std::int64_t>(before[i], 0);
    const std::int64_t back = std::min<std::int64_t>(after[i], 0);
    if (x.size(i) + before[i] + after[i] < 0 || x.size(i) + front + back < 0) {
      throw ShapeError(fmt::format("pad: {} and {} cut off more of dim {} than the size {} it has",
                                   before[i], after[i], i, x.size(i)));
    }
    starts[i] = -front;
    lengths[i] += front + back;
    before[i] -= front;
    after[i] -= back;
    cut = cut || front < 0 || back < 0;
    grow = grow || before[i] > 0 || after[i] > 0;
  }
  const Value inner = cut ? slice(x, starts, lengths, Dims::filled(x.rank(), 1)) : x;
  return grow ? apply(Pad{before, after, value}, {inner}, where) : inner;
}

Value keep_triangle(const Value& x, std::int64_t k, OpCode compare, std::string_view op) {
  if (x.rank() < 2) {
    throw ShapeError(fmt::format("{}: expected at least 2 dims, got {}", op, x.shape().str()));
  }
  const Value rows = arange(x.backend(), k, 1, x.size(-2), DType::i64);
  const Value columns = arange(x.backend(), 0, 1, x.size(-1), DType::i64);
  const Value kept = call(compare, {columns, unsqueeze(rows, 1)});
  return where(kept, x, scalar_like(x, 0));
}

}  // namespace

Value pad(const Value& x, const Dims& before, const Dims& after, PadMode mode, Scalar value,
          SourceLoc where) {
  if (before.rank() != after.rank() || before.rank() > x.rank()) {
    throw ShapeError(
        fmt::format("pad: before {} and after {} must give one amount each for some of the "
                    "last dims of {}",
                    before.str(), after.str(), x.shape().str()));
  }
  Dims front = Dims::filled(x.rank(), 0);
  Dims back = front;
  const int lead = x.rank() - before.rank();
  for (int i = 0; i < before.rank(); ++i) {
    front[lead + i] = before[i];
    back[lead + i] = after[i];
    std::int64_t sum = 0;
    if (__builtin_add_overflow(before[i], after[i], &sum) ||
        __builtin_add_overflow(sum, x.size(lead + i), &sum)) {
      throw ShapeError(fmt::format("pad: {} and {} around dim {} of {} exceed 2^63 - 1", before[i],
                                   after[i], lead + i, x.shape().str()));
    }
  }
  if (mode == PadMode::constant) {
    return pad_constant(x, front, back, value, where);
  }
  Value result = x;
  for (int i = 0; i < x.rank(); ++i) {
    if (front[i] < 0 || back[i] < 0) {
      throw ArgumentError(fmt::format("pad: only constant padding cuts off, got {} and {}",
                                      before.str(), after.str()));
    }
    if (front[i] != 0 || back[i] != 0) {
      result = pad_by_index(result, i, front[i], back[i], mode, where);
    }
  }
  return result;
}

// One dim at a time, the last first: each step is a copy with the repeats as an expanded dim.
Value repeat(const Value& x, const Dims& times) {
  if (times.rank() < x.rank()) {
    throw ShapeError(fmt::format("repeat: expected at least {} factors for {}, got {}", x.rank(),
                                 x.shape().str(), times.str()));
  }
  Shape shape = x.shape();
  while (shape.rank() < times.rank()) {
    shape.insert(0, 1);
  }
  Shape target = shape;
  for (int i = 0; i < shape.rank(); ++i) {
    if (times[i] < 0) {
      throw ArgumentError(fmt::format("repeat: factors must not be negative, got {}", times.str()));
    }
    target[i] = num_elements(Shape{shape[i], times[i]});
  }
  if (num_elements(target) == 0) {
    // Through the op, so that the gradient still reaches x.
    Shape empty = target;
    for (int i = 0; i < empty.rank(); ++i) {
      empty[i] = std::min(shape[i], target[i]);
    }
    const Dims zeros = Dims::filled(shape.rank(), 0);
    const Value cut = slice(reshape(x, shape), zeros, empty, Dims::filled(shape.rank(), 1));
    return reshape(cut, target);
  }
  Value result = reshape(x, shape);
  std::int64_t inner = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    inner *= shape[i];
    if (times[i] != 1) {
      const Value rows = reshape(result, {-1, 1, inner});
      result = reshape(expand(rows, {rows.size(0), times[i], inner}), {-1});
      inner *= times[i];
    }
  }
  return reshape(result, target);
}

Value repeat_interleave(const Value& x, std::int64_t times, std::int64_t dim) {
  const int d = normalize_dim(dim, x.rank(), "repeat_interleave");
  if (times < 0) {
    throw ArgumentError(
        fmt::format("repeat_interleave: the factor must not be negative, got {}", times));
  }
  std::int64_t outer = 1;
  for (int i = 0; i <= d; ++i) {
    outer *= x.size(i);
  }
  std::int64_t inner = 1;
  for (int i = d + 1; i < x.rank(); ++i) {
    inner *= x.size(i);
  }
  Shape target = x.shape();
  target[d] *= times;
  return reshape(expand(reshape(x, {outer, 1, inner}), {outer, times, inner}), target);
}

Value triu(const Value& x, std::int64_t k) {
  return keep_triangle(x, k, OpCode::greater_equal, "triu");
}
Value tril(const Value& x, std::int64_t k) {
  return keep_triangle(x, k, OpCode::less_equal, "tril");
}

Value diag(const Value& x, std::int64_t k) {
  const std::int64_t shift = k < 0 ? -k : k;
  if (x.rank() == 1) {
    const std::int64_t n = x.size(0) + shift;
    const Value zeros = full(x.backend(), {n * n}, 0, x.dtype());
    const std::int64_t start = k >= 0 ? k : shift * n;
    return reshape(slice_assign(zeros, x, {start}, {x.size(0)}, {n + 1}), {n, n});
  }
  if (x.rank() < 2) {
    throw ShapeError(fmt::format("diag: expected at least 1 dim, got {}", x.shape().str()));
  }
  const std::int64_t rows = x.size(-2);
  const std::int64_t columns = x.size(-1);
  const std::int64_t length =
      std::max<std::int64_t>(0, k >= 0 ? std::min(rows, columns - k) : std::min(rows + k, columns));
  Shape shape = x.shape();
  shape.erase(shape.rank() - 1);
  shape[shape.rank() - 1] = rows * columns;
  const Value flat = reshape(x, shape);
  Dims starts = Dims::filled(shape.rank(), 0);
  Dims steps = Dims::filled(shape.rank(), 1);
  starts[shape.rank() - 1] = length == 0 ? 0 : k >= 0 ? k : shift * columns;
  steps[shape.rank() - 1] = columns + 1;
  shape[shape.rank() - 1] = length;
  return slice(flat, starts, shape, steps);
}

Value eye(Backend& backend, std::int64_t rows, std::int64_t columns, DType dtype) {
  const Value i = arange(backend, 0, 1, rows, DType::i64);
  const Value j = arange(backend, 0, 1, columns, DType::i64);
  return cast(equal(unsqueeze(i, 1), j), dtype);
}

Value unsqueeze_dims(const Value& x, std::span<const std::int64_t> dims) {
  const int rank = x.rank() + static_cast<int>(dims.size());
  if (rank > max_rank) {
    throw ShapeError(fmt::format("unsqueeze_dims: {} and {} dims more exceed the limit of {} dims",
                                 x.shape().str(), dims.size(), max_rank));
  }
  bool fresh[max_rank] = {};
  for (const std::int64_t dim : dims) {
    int place = normalize_dim(dim, rank, "unsqueeze_dims");
    const int step = dim < 0 ? -1 : 1;
    while (fresh[place]) {
      place = (place + step + rank) % rank;
    }
    fresh[place] = true;
  }
  Shape shape;
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    shape.push_back(fresh[i] ? 1 : x.size(next++));
  }
  return reshape(x, shape);
}

}  // namespace sinter::ops
