// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors of any layout and dtype as blocks of dense carried elements: what the drivers feed
// kernels with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sinter/backend/host/tensor.hpp"
#include "sinter/backend/portable/kernels/kernel_set.hpp"
#include "sinter/types/dtype.hpp"

namespace sinter::backend::portable {

using sinter::portable::Carried;

/// The kernels of this process, chosen by the processor and the setting `isa` at the first use.
const sinter::portable::KernelSet& kernels();

/// Elements of a block: a few blocks of 8-byte elements fit the first-level cache.
inline constexpr std::int64_t block_elements = 512;
/// The least work worth a thread, in elements of a cheap formula.
inline constexpr std::int64_t parallel_grain = 16384;

constexpr Carried carried_of(DType dtype) {
  return dtype == DType::f64   ? Carried::f64
         : is_floating(dtype)  ? Carried::f32
         : dtype == DType::u64 ? Carried::u64
                               : Carried::i64;
}
constexpr DType dtype_of_carried(Carried carried) {
  constexpr DType dtypes[] = {DType::f32, DType::f64, DType::i64, DType::u64};
  return dtypes[static_cast<int>(carried)];
}
constexpr std::size_t size_of(Carried carried) { return carried == Carried::f32 ? 4 : 8; }

/// Room for one block of any carried type, and for a pattern that repeats within a block.
struct alignas(64) BlockBuffer {
  std::array<std::byte, static_cast<std::size_t>(2 * block_elements) * 8> bytes;
  std::byte* data() { return bytes.data(); }
};

/// Converts `n` (at most `block_elements`) dense elements to carried ones. Returns `from` itself
/// where nothing changes, else `to`.
const void* load_block(DType dtype, const void* from, Carried carried, std::int64_t n,
                       BlockBuffer& to);
/// Converts `n` carried elements to dense ones of `dtype`.
void store_block(Carried carried, const void* from, DType dtype, void* to, std::int64_t n);

/// Copies `n` elements of `size` bytes that lie `stride` elements apart to dense `to`.
void gather_run(const std::byte* from, std::int64_t stride, std::size_t size, std::int64_t n,
                void* to);

/// The inverse: dense `from` to elements that lie `stride` apart.
void scatter_run(const std::byte* from, std::byte* to, std::int64_t stride, std::size_t size,
                 std::int64_t n);

/// The axes of a layout without those that carry on from the next inner one, walked in row-major
/// order.
struct Walk {
  int rank = 0;
  std::int64_t sizes[max_rank];
  std::int64_t strides[max_rank];

  Walk() = default;
  /// Missing leading strides, and those of dims that `sizes_of` has as 1, are 0.
  Walk(const Shape& shape, const Shape& sizes_of, const Dims& strides_of);

  bool dense() const { return rank == 0 || (rank == 1 && strides[0] == 1); }
  /// Calls `run(offset, stride, count)` for the runs that make up positions [begin, begin + n).
  template <class F>
  void for_runs(std::int64_t begin, std::int64_t n, F&& run) const;
};

/// An input as it lies along the row-major order of the shape that it is broadcast to.
class Operand {
 public:
  /// `shape` is a broadcast of the value's shape.
  Operand(const Value& value, const Shape& shape, Carried carried);
  Operand() = default;

  /// All its elements lie in order in the carried type: they may be read in place.
  const std::byte* dense_data() const { return dense_ && same_type_ ? data_ : nullptr; }
  /// Called once for each buffer before `fetch` of up to `n` elements: fills it with what repeats.
  void prepare(BlockBuffer& buffer, std::int64_t n) const;
  /// `n` (at most `block_elements`) carried elements from row-major position `begin` on; they lie
  /// in the tensor itself or in `buffer`.
  const void* fetch(std::int64_t begin, std::int64_t n, BlockBuffer& buffer) const;

 private:
  void gather(std::int64_t begin, std::int64_t n, std::byte* to) const;

  const std::byte* data_ = nullptr;
  DType dtype_ = DType::f32;
  Carried carried_ = Carried::f32;
  bool same_type_ = true;
  bool dense_ = true;
  std::int64_t period_ = 0;  // elements that repeat within a block; 0: none do
  Walk walk_;
};

template <class F>
void Walk::for_runs(std::int64_t begin, std::int64_t n, F&& run) const {
  if (rank == 0) {
    return run(std::int64_t{0}, std::int64_t{1}, n);
  }
  std::int64_t index[max_rank];
  std::int64_t offset = 0;
  for (int d = rank - 1; d >= 0; --d) {
    index[d] = begin % sizes[d];
    begin /= sizes[d];
    offset += index[d] * strides[d];
  }
  const int inner = rank - 1;
  while (n > 0) {
    const std::int64_t left = sizes[inner] - index[inner];
    const std::int64_t count = n < left ? n : left;
    run(offset, strides[inner], count);
    n -= count;
    offset += (count - 1) * strides[inner];
    index[inner] += count - 1;
    for (int d = inner; d >= 0; --d) {
      offset += strides[d];
      if (++index[d] < sizes[d]) {
        break;
      }
      offset -= sizes[d] * strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace sinter::backend::portable
