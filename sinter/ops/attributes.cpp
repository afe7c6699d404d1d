// SPDX-License-Identifier: MIT OR Apache-2.0
// Printing attributes.
#include "sinter/ops/attributes.hpp"

#include <fmt/format.h>

namespace sinter {

void AttributePrinter::operator()(std::string_view name, std::int64_t value) {
  out_ += fmt::format(", {}={}", name, value);
}
void AttributePrinter::operator()(std::string_view name, std::uint64_t value) {
  out_ += fmt::format(", {}={}", name, value);
}
void AttributePrinter::operator()(std::string_view name, bool value) {
  out_ += fmt::format(", {}={}", name, value);
}
void AttributePrinter::operator()(std::string_view name, double value) {
  out_ += fmt::format(", {}={}", name, value);
}
void AttributePrinter::operator()(std::string_view name, const Dims& value) {
  out_ += fmt::format(", {}={}", name, value.str());
}
void AttributePrinter::operator()(std::string_view name, DType value) {
  out_ += fmt::format(", {}={}", name, name_of(value));
}
void AttributePrinter::operator()(std::string_view name, Scalar value) {
  if (value.kind == Kind::floating) {
    (*this)(name, value.floating);
  } else {
    (*this)(name, value.integer);
  }
}

}  // namespace sinter
