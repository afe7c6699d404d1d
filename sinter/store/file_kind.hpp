// SPDX-License-Identifier: MIT OR Apache-2.0
// Tells what kind of file some bytes begin.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sinter::store {

/// A readable name of the file type that `head` starts ("a PyTorch file (zip)", "a GGUF file" …),
/// or an empty view when it is none of the known ones. A few hundred bytes are enough.
[[nodiscard]] std::string_view file_kind(std::span<const std::byte> head);

}  // namespace sinter::store
