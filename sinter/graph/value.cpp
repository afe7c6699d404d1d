// SPDX-License-Identifier: MIT OR Apache-2.0
// The error for handles that hold no tensor.
#include "sinter/graph/value.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"

namespace sinter::detail {
namespace {

// "softmax" of "sinter::Tensor<D, K> sinter::detail::OrderMethods<D, K>::softmax(int) const [..]".
std::string_view last_name(std::string_view signature) {
  const std::string_view head = signature.substr(0, signature.find('('));
  const std::size_t before = head.find_last_of(" :&*");
  return before == std::string_view::npos ? head : head.substr(before + 1);
}

}  // namespace

void raise_unset(std::string_view op) {
  throw ArgumentError(
      fmt::format("{}: the tensor is unset: it was moved from or never given a value; assign one "
                  "first, or ask is_set()",
                  last_name(op)));
}

}  // namespace sinter::detail
