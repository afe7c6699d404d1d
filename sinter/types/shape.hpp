// SPDX-License-Identifier: MIT OR Apache-2.0
// Sizes of a tensor's dimensions, and the arithmetic of shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace sinter {

/// Tensors have at most this many dimensions.
inline constexpr int max_rank = 8;

/// A short list of numbers, one for each dimension; stored in place. Sizes, strides, permutations
/// and lists of dimensions are all `Dims`.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values)
      : Dims(std::span(values.begin(), values.size())) {}
  /// Throws ShapeError for more than `max_rank` values.
  explicit Dims(std::span<const std::int64_t> values);
  /// `rank` copies of `value`.
  static Dims filled(int rank, std::int64_t value);

  int rank() const { return rank_; }
  int size() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  std::int64_t operator[](int i) const { return values_[i]; }
  std::int64_t& operator[](int i) { return values_[i]; }
  const std::int64_t* begin() const { return values_; }
  const std::int64_t* end() const { return values_ + rank_; }
  std::int64_t* begin() { return values_; }
  std::int64_t* end() { return values_ + rank_; }
  std::int64_t back() const { return values_[rank_ - 1]; }
  /// Throws ShapeError past `max_rank` values.
  void push_back(std::int64_t value);
  void insert(int position, std::int64_t value);
  void erase(int position);

  bool operator==(const Dims& other) const {
    if (rank_ != other.rank_) {
      return false;
    }
    for (int i = 0; i < rank_; ++i) {
      if (values_[i] != other.values_[i]) {
        return false;
      }
    }
    return true;
  }
  /// "[2, 3]"
  std::string str() const;

 private:
  // Shapes are copied on every operation: all values at once is faster than counting them.
  std::int64_t values_[max_rank] = {};
  int rank_ = 0;
};

/// Sizes of a tensor; an empty one is a scalar's.
using Shape = Dims;

namespace detail {
[[noreturn]] void raise_too_large(const Shape& shape);
}  // namespace detail

/// Product of the sizes; 1 for a scalar. Throws ShapeError when it does not fit 63 bits.
[[nodiscard]] inline std::int64_t num_elements(const Shape& shape) {
  std::int64_t count = 1;
  bool overflow = false;
  for (const std::int64_t size : shape) {
    if (size == 0) {
      return 0;
    }
    std::int64_t product = 0;
    overflow |= __builtin_mul_overflow(count, size, &product);
    count = product;
  }
  if (overflow) {
    detail::raise_too_large(shape);
  }
  return count;
}

/// The shape two operands broadcast to (NumPy's rule: align at the end; 1 stretches, also to 0).
/// `op` names the operation in the ShapeError thrown when they don't fit.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b, std::string_view op);

/// `dim` counted from the end when negative; throws IndexError naming `op`, `dim` and `rank` when
/// it is outside [-rank, rank).
[[nodiscard]] int normalize_dim(std::int64_t dim, int rank, std::string_view op);

/// All of `dims` normalised; a repeated one is a ShapeError. An empty list means all dimensions.
[[nodiscard]] Dims normalize_dims(const Dims& dims, int rank, std::string_view op);

/// Row-major strides of a dense tensor, in elements.
[[nodiscard]] Dims contiguous_strides(const Shape& shape);

}  // namespace sinter
