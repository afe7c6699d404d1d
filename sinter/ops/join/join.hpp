// SPDX-License-Identifier: MIT OR Apache-2.0
// Joining, splitting, repeating and padding.
#pragma once

#include <vector>

#include "sinter/ops/modes.hpp"
#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// The inputs one after another along `dim`; they agree in dtype and in all other dims.
struct Cat {
  static constexpr OpInfo info{
      .name = "cat", .domain = Domain::any, .cheap = false, .tolerance = 0};
  std::int64_t dim = 0;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("dim", self.dim);
  }
};

/// x within a border of `value`: before[i] elements in front of dim i and after[i] behind it.
struct Pad {
  static constexpr OpInfo info{
      .name = "pad", .domain = Domain::any, .cheap = false, .tolerance = 0};
  Dims before;
  Dims after;
  Scalar value = 0;
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("before", self.before);
    visit("after", self.after);
    visit("value", self.value);
  }
};

/// One value for each part. Inputs of different dtypes are promoted.
Value cat(std::span<const Value> parts, std::int64_t dim, SourceLoc where = SourceLoc::current());
inline Value cat(std::initializer_list<Value> parts, std::int64_t dim,
                 SourceLoc where = SourceLoc::current()) {
  return cat(std::span<const Value>(parts.begin(), parts.size()), dim, where);
}
/// Parts of equal shape along a new `dim`.
Value stack(std::span<const Value> parts, std::int64_t dim, SourceLoc where = SourceLoc::current());
inline Value stack(std::initializer_list<Value> parts, std::int64_t dim,
                   SourceLoc where = SourceLoc::current()) {
  return stack(std::span<const Value>(parts.begin(), parts.size()), dim, where);
}

/// Views of `size` elements of `dim` each; the last one may be smaller.
std::vector<Value> split(const Value& x, std::int64_t size, std::int64_t dim);
/// Views of these sizes, which must add up to the size of `dim`.
std::vector<Value> split(const Value& x, std::span<const std::int64_t> sizes, std::int64_t dim);
/// At most `count` views of ceil(size / count) elements each: chunk of 7 by 3 gives 3, 3, 1.
std::vector<Value> chunk(const Value& x, std::int64_t count, std::int64_t dim);
/// One view for each index of `dim`, without that dim.
std::vector<Value> unbind(const Value& x, std::int64_t dim);

/// x `times[i]` times along dim i; more times than dims add dims in front. 0 gives an empty tensor.
Value repeat(const Value& x, const Dims& times);
/// Each element of `dim` `times` times in a row.
Value repeat_interleave(const Value& x, std::int64_t times, std::int64_t dim);
/// Elements moved `shifts[i]` places up dim `dims[i]`; those pushed out come back in front.
Value roll(const Value& x, const Dims& shifts, const Dims& dims);

/// The elements on and above (below) diagonal `k` of the last two dims; 0 elsewhere.
Value triu(const Value& x, std::int64_t k = 0);
Value tril(const Value& x, std::int64_t k = 0);
/// [n] to a matrix with it on diagonal `k`; [.., m, n] to diagonal `k` of each matrix.
Value diag(const Value& x, std::int64_t k = 0);
/// Ones on the diagonal.
Value eye(Backend& backend, std::int64_t rows, std::int64_t columns, DType dtype);

/// x within a border; negative amounts cut off (with `constant` only). `before` and `after` hold
/// one amount for each of the last dims. A border needs elements to come from: only `constant` pads
/// an empty dim.
Value pad(const Value& x, const Dims& before, const Dims& after, PadMode mode = PadMode::constant,
          Scalar value = 0, SourceLoc where = SourceLoc::current());

/// Dims of size 1 at these places of the result. Equal places crowd on: towards the end, or towards
/// the front for negative ones.
Value unsqueeze_dims(const Value& x, std::span<const std::int64_t> dims);
inline Value unsqueeze_dims(const Value& x, std::initializer_list<std::int64_t> dims) {
  return unsqueeze_dims(x, std::span<const std::int64_t>(dims.begin(), dims.size()));
}

/// Vector product of the 3-element vectors along `dim`.
Value cross(const Value& a, const Value& b, std::int64_t dim = -1);

}  // namespace sinter::ops
