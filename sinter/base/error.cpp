// SPDX-License-Identifier: MIT OR Apache-2.0
// Out-of-line parts of the error checks.
#include "sinter/base/error.hpp"

namespace sinter::detail {

void raise_internal(const char* condition, const char* file, int line) {
  throw InternalError(std::string("internal error: `") + condition + "` is false at " + file + ":" +
                      std::to_string(line) + "; please report it");
}

}  // namespace sinter::detail
