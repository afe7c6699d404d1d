// SPDX-License-Identifier: MIT OR Apache-2.0
// Example calls that an op gives of itself; the conformance suite is made of them.
#pragma once

#include <initializer_list>
#include <span>

#include "sinter/graph/op_call.hpp"

namespace sinter {

/// One input of an example call.
struct SampleInput {
  enum class Role : std::uint8_t {
    value,     ///< any dtype of the op's domain, drawn from [low, high)
    index,     ///< i64 drawn from [low, high)
    mask,      ///< bool
    distinct,  ///< like value, but no two elements are equal or close (for sorts and maxima)
  };
  Shape shape;
  Role role = Role::value;
  double low = -3;
  double high = 3;
  bool finite = false;  ///< never NaN or infinite: backends may multiply it with padding's zeros
};

inline SampleInput value_sample(const Shape& shape, double low = -3, double high = 3) {
  return {shape, SampleInput::Role::value, low, high};
}
inline SampleInput finite_sample(const Shape& shape) {
  return {shape, SampleInput::Role::value, -3, 3, true};
}
inline SampleInput distinct_sample(const Shape& shape) {
  return {shape, SampleInput::Role::distinct};
}
inline SampleInput index_sample(const Shape& shape, std::int64_t size) {
  return {shape, SampleInput::Role::index, 0, static_cast<double>(size)};
}
inline SampleInput mask_sample(const Shape& shape) { return {shape, SampleInput::Role::mask}; }

/// Receives the example calls of one op.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  virtual void add(const void* attributes, std::span<const SampleInput> inputs) = 0;
  template <class Op>
  void add(const Op& op, std::initializer_list<SampleInput> inputs) {
    add(static_cast<const void*>(&op), std::span<const SampleInput>(inputs.begin(), inputs.size()));
  }
};

}  // namespace sinter
