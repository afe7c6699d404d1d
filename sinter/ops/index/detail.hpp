// SPDX-License-Identifier: MIT OR Apache-2.0
// Shape rules shared by reading and writing by index.
#pragma once

#include <string_view>

#include "sinter/graph/value.hpp"

namespace sinter::ops::detail {

/// Throws DTypeError unless the index is of an integer dtype.
void check_index(std::string_view op, const Value& index);
/// The result's shape when `op` reads x of this shape by this index.
Shape select_shape(std::string_view op, const Shape& x, std::int64_t dim, const Value& index);
Shape gather_shape(std::string_view op, const Shape& x, std::int64_t dim, const Value& index);
Shape gather_nd_shape(std::string_view op, const Shape& x, const Value& index);

}  // namespace sinter::ops::detail
