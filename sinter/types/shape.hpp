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
  Dims(std::initializer_list<std::int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
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

  bool operator==(const Dims& other) const;
  /// "[2, 3]"
  std::string str() const;

  Dims(const Dims& other) { assign(other); }
  Dims& operator=(const Dims& other) {
    assign(other);
    return *this;
  }

 private:
  // Copies only the values in use: shapes are copied on every operation.
  void assign(const Dims& other) {
    rank_ = other.rank_;
    for (int i = 0; i < rank_; ++i) {
      values_[i] = other.values_[i];
    }
  }
  std::int64_t values_[max_rank];
  int rank_ = 0;
};

/// Sizes of a tensor; an empty one is a scalar's.
using Shape = Dims;

/// Product of the sizes; 1 for a scalar. Throws ShapeError when it does not fit 63 bits.
[[nodiscard]] std::int64_t num_elements(const Shape& shape);

/// The shape two operands broadcast to (NumPy's rule: align at the end; 1 stretches, also to 0).
/// `op` names the operation in the ShapeError thrown when they don't fit.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b, std::string_view op);

/// `dim` counted from the end when negative; throws IndexError naming `op`, `dim` and `rank` when it
/// is outside [-rank, rank).
[[nodiscard]] int normalize_dim(std::int64_t dim, int rank, std::string_view op);

/// All of `dims` normalised; a repeated one is a ShapeError. An empty list means all dimensions.
[[nodiscard]] Dims normalize_dims(const Dims& dims, int rank, std::string_view op);

/// Row-major strides of a dense tensor, in elements.
[[nodiscard]] Dims contiguous_strides(const Shape& shape);

}  // namespace sinter
