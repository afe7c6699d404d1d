// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions of several tensors.
#include "sinter/tensor/combine.hpp"

#include "sinter/ops/derived/linalg.hpp"
#include "sinter/ops/derived/shapes.hpp"

namespace sinter::detail {

Value einsum(std::string_view equation, const std::vector<Value>& operands, SourceLoc where) {
  return ops::einsum(equation, operands, where);
}
std::vector<Value> meshgrid(const std::vector<Value>& vectors) { return ops::meshgrid(vectors); }
Value cartesian_grid(const Shape& shape, const Device& device) {
  return ops::cartesian_grid(device.backend(), shape);
}
Value triangle_mask(const Shape& shape, int triangle, std::int64_t k, const Device& device) {
  return ops::triangle_mask(device.backend(), shape, static_cast<ops::Triangle>(triangle), k);
}

}  // namespace sinter::detail
