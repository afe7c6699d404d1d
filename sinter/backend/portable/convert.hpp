// SPDX-License-Identifier: MIT OR Apache-2.0
// Whole tensors converted or laid out densely, over all threads.
#pragma once

#include "sinter/backend/host/tensor.hpp"

namespace sinter::backend::portable {

/// The same values in `dtype`, dense. Always a new tensor.
Value converted(const Value& value, DType dtype);

/// `value` is so large and lies so that copying it by tiles is worth its time before reading it in
/// order.
bool transposed(const Value& value);

/// Copies the elements of `from` (which starts at `layout`'s offset 0 of `data`) in row-major order
/// to dense `to`; transposed ones by tiles.
void copy_dense(const std::byte* data, const Layout& layout, std::size_t size, std::byte* to);

/// `value` itself where it is dense, else a dense copy.
Value densely(const Value& value);

}  // namespace sinter::backend::portable
