// SPDX-License-Identifier: MIT OR Apache-2.0
// Class numbers of a loss, read and checked.
#pragma once

#include <cstdint>
#include <vector>

#include "sinter/graph/value.hpp"

namespace sinter::backend {

/// Classes of logits [N, C, ...] or [C].
std::int64_t class_count(const Value& logits);

/// The targets in row-major order, with -1 for ignored ones. IndexError names the first one outside
/// [0, classes) that is not `ignore_index`.
std::vector<std::int64_t> read_class_targets(const Value& targets, std::int64_t classes,
                                             std::int64_t ignore_index);

}  // namespace sinter::backend
