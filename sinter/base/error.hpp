// SPDX-License-Identifier: MIT OR Apache-2.0
// The exceptions that Sinter throws, and the checks that throw them.
#pragma once

#include <stdexcept>
#include <string>

namespace sinter {

/// Root of every exception thrown by Sinter. `what()` is one readable sentence:
/// the operation, what was expected, what came, and a way out.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something that can't be done as asked.
class UserError : public Error {
 public:
  using Error::Error;
};
class ShapeError : public UserError {
 public:
  using UserError::UserError;
};
class DTypeError : public UserError {
 public:
  using UserError::UserError;
};
class IndexError : public UserError {
 public:
  using UserError::UserError;
};
class ArgumentError : public UserError {
 public:
  using UserError::UserError;
};
/// Operands live on different devices, or the device can't do what was asked.
class DeviceMismatchError : public UserError {
 public:
  using UserError::UserError;
};
/// A file or buffer doesn't hold what its format promises.
class FormatError : public UserError {
 public:
  using UserError::UserError;
};
/// An operation that has no gradient was used where one is needed.
class GradientError : public UserError {
 public:
  using UserError::UserError;
};

/// The world failed: a device, a file, memory.
class RuntimeError : public Error {
 public:
  using Error::Error;
};
class DeviceError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};
class IoError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};
class OutOfMemoryError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};
/// The backend has neither the operation nor its decomposition.
class UnsupportedError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

/// A broken promise inside Sinter itself.
class InternalError : public Error {
 public:
  using Error::Error;
};

namespace detail {
[[noreturn]] void raise_internal(const char* condition, const char* file, int line);
}

/// Throws InternalError naming the condition and place when `condition` is false.
#define SINTER_ASSERT(condition) \
  ((condition) ? void(0) : ::sinter::detail::raise_internal(#condition, __FILE__, __LINE__))

}  // namespace sinter
