// SPDX-License-Identifier: MIT OR Apache-2.0
// The error of a kernel that could not be compiled.
#pragma once

#include "sinter/base/error.hpp"

namespace sinter {

/// A kernel could not be compiled: the message names it, the line that recorded the culprit where
/// that is known, and what the compiler said.
class CompileError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

}  // namespace sinter
