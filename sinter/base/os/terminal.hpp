// SPDX-License-Identifier: MIT OR Apache-2.0
// Whether output goes to a terminal, and how wide it is.
#pragma once

namespace sinter::os {

enum class Stream { standard_output, standard_error };

bool is_terminal(Stream stream) noexcept;

/// Columns of the terminal; `fallback` when the stream is none.
int terminal_width(Stream stream, int fallback = 80) noexcept;

}  // namespace sinter::os
