// SPDX-License-Identifier: MIT OR Apache-2.0
// Conversion and copies of whole tensors.
#include "sinter/backend/portable/convert.hpp"

#include <algorithm>

#include "sinter/backend/portable/blocks.hpp"
#include "sinter/base/thread_pool.hpp"

namespace sinter::backend::portable {
namespace {

// What is transposed at a time: rows that fill whole lines of the result, each long enough for the
// processor to read ahead.
constexpr std::int64_t tile_rows = 16;
constexpr std::int64_t tile_columns = 512;
constexpr std::int64_t stream_bytes = std::int64_t{8} << 20;

// Copies by tiles of the innermost axis and the axis `near`, whose elements are neighbours in the
// input.
void copy_transposed(const std::byte* data, const Walk& walk, int near, std::size_t size,
                     std::byte* to) {
  const int inner = walk.rank - 1;
  std::int64_t out_strides[max_rank];
  std::int64_t step = 1;
  std::int64_t outer_count = 1;
  for (int d = inner; d >= 0; --d) {
    out_strides[d] = step;
    step *= walk.sizes[d];
    outer_count *= d == inner || d == near ? 1 : walk.sizes[d];
  }
  const std::int64_t rows = walk.sizes[inner];
  const std::int64_t columns = walk.sizes[near];
  const std::int64_t row_tiles = (rows + tile_rows - 1) / tile_rows;
  const std::int64_t column_tiles = (columns + tile_columns - 1) / tile_columns;
  const auto bytes = static_cast<std::int64_t>(size);
  const auto& table = kernels().copy();
  const auto& row = step * bytes >= stream_bytes ? table.transpose_past_cache : table.transpose;
  const auto kernel = row[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
  const std::int64_t grain = std::max<std::int64_t>(1, parallel_grain / (tile_rows * tile_columns));
  parallel_for(
      outer_count * row_tiles * column_tiles, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t r = task % row_tiles * tile_rows;
          const std::int64_t c = task / row_tiles % column_tiles * tile_columns;
          std::int64_t outer = task / row_tiles / column_tiles;
          std::int64_t from = r * walk.strides[inner] + c * walk.strides[near];
          std::int64_t target = r + c * out_strides[near];
          for (int d = inner - 1; d >= 0; --d) {
            if (d != near) {
              from += outer % walk.sizes[d] * walk.strides[d];
              target += outer % walk.sizes[d] * out_strides[d];
              outer /= walk.sizes[d];
            }
          }
          kernel(data + from * bytes, walk.strides[inner], to + target * bytes, out_strides[near],
                 static_cast<std::size_t>(std::min(tile_rows, rows - r)),
                 static_cast<std::size_t>(std::min(tile_columns, columns - c)));
        }
      });
}

// The axis whose elements are neighbours, if copying by tiles pays; -1 if not.
int transposed_axis(const Walk& walk) {
  const int inner = walk.rank - 1;
  if (walk.rank < 2 || walk.strides[inner] == 1 || walk.strides[inner] == 0 ||
      walk.sizes[inner] < 4) {
    return -1;
  }
  for (int d = 0; d < inner; ++d) {
    if (walk.strides[d] == 1 && walk.sizes[d] >= 4) {
      return d;
    }
  }
  return -1;
}

}  // namespace

void copy_dense(const std::byte* data, const Layout& layout, std::size_t size, std::byte* to) {
  const std::int64_t n = num_elements(layout.shape);
  if (n == 0) {
    return;
  }
  const Walk walk(layout.shape, layout.shape, layout.strides);
  if (const int near = transposed_axis(walk); near >= 0) {
    return copy_transposed(data, walk, near, size, to);
  }
  parallel_for(n, parallel_grain, [&](std::int64_t begin, std::int64_t end) {
    std::byte* target = to + static_cast<std::size_t>(begin) * size;
    walk.for_runs(
        begin, end - begin, [&](std::int64_t offset, std::int64_t stride, std::int64_t count) {
          gather_run(data + offset * static_cast<std::int64_t>(size), stride, size, count, target);
          target += static_cast<std::size_t>(count) * size;
        });
  });
}

bool transposed(const Value& value) {
  const HostTensor& x = host(value);
  return !x.is_contiguous() && value.num_elements() >= 4096 &&
         transposed_axis(Walk(value.shape(), value.shape(), x.strides())) >= 0;
}

Value densely(const Value& value) {
  const HostTensor& x = host(value);
  if (x.is_contiguous()) {
    return value;
  }
  Value copy = allocate(value.backend(), value.shape(), value.dtype());
  copy_dense(x.data(), x.layout(), size_of(value.dtype()), host(copy).data());
  return copy;
}

Value converted(const Value& value, DType dtype) {
  // Conversion by blocks reads transposed elements one by one; lay those out first.
  const Value source = transposed(value) ? densely(value) : value;
  Value result = allocate(value.backend(), value.shape(), dtype);
  std::byte* to = host(result).data();
  const std::size_t size = size_of(dtype);
  const Carried carried = carried_of(value.dtype());
  const Operand operand(source, value.shape(), carried);
  parallel_for(value.num_elements(), parallel_grain, [&](std::int64_t begin, std::int64_t end) {
    BlockBuffer buffer;
    operand.prepare(buffer, end - begin);
    for (std::int64_t at = begin; at < end; at += block_elements) {
      const std::int64_t n = std::min(block_elements, end - at);
      store_block(carried, operand.fetch(at, n, buffer), dtype,
                  to + static_cast<std::size_t>(at) * size, n);
    }
  });
  return result;
}

}  // namespace sinter::backend::portable
