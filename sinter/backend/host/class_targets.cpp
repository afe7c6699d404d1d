// SPDX-License-Identifier: MIT OR Apache-2.0
// Class numbers of a loss, read and checked.
#include "sinter/backend/host/class_targets.hpp"

#include <fmt/format.h>

#include "sinter/backend/host/host_backend.hpp"
#include "sinter/base/error.hpp"

namespace sinter::backend {

std::int64_t class_count(const Value& logits) { return logits.size(logits.rank() == 1 ? 0 : 1); }

std::vector<std::int64_t> read_class_targets(const Value& targets, std::int64_t classes,
                                             std::int64_t ignore_index) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(targets.num_elements()));
  if (out.empty()) {
    return out;
  }
  const Value flat = dense(targets);
  convert_elements(host(flat).data(), targets.dtype(), out.data(), DType::i64,
                   targets.num_elements());
  for (std::int64_t& target : out) {
    if (target == ignore_index) {
      target = -1;
    } else if (target < 0 || target >= classes) {
      throw IndexError(
          fmt::format("cross_entropy: target {} is outside the {} classes and is not the "
                      "ignore_index {}",
                      target, classes, ignore_index));
    }
  }
  return out;
}

}  // namespace sinter::backend
