// SPDX-License-Identifier: MIT OR Apache-2.0
// The text that `sinter inspect` shows for a record file.
#pragma once

#include <string>

#include "sinter/store/record.hpp"

namespace sinter::store {

/// A table of a record's tensors, ties, metadata and totals, one line each, ending in a newline:
///
///     model.safetensors: 2 tensors, 330 elements, 1.5 KiB
///     name    dtype  shape       bytes
///     weight  f32    [10, 32]  1.3 KiB
///     bias    f32    [10]         40 B
///
/// Control characters in names and text show as `\xNN`; long texts are cut.
[[nodiscard]] std::string inspect_text(const std::string& path, const RecordSummary& summary);

/// Reads the head of `path` and formats it; throws as `summary` does.
[[nodiscard]] std::string inspect(const std::string& path);

}  // namespace sinter::store
