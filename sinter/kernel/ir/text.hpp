// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels as text, and back.
#pragma once

#include <string>
#include <string_view>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::ir {

struct PrintOptions {
  bool places = false;  ///< say after each statement which line recorded it
};

/// The kernel as text. Values are numbered in the order of the text, so that equal kernels print
/// alike however they came about.
[[nodiscard]] std::string print(const Kernel& kernel, PrintOptions options = {});

/// The kernel that `text` describes; print(parse(print(k))) is print(k). Throws FormatError naming
/// line and problem. The result is not verified.
[[nodiscard]] Kernel parse(std::string_view text);

}  // namespace sinter::ir
