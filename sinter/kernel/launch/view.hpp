// SPDX-License-Identifier: MIT OR Apache-2.0
// What the engine does, as text files for the curious: the setting `view` (SINTER_VIEW).
#pragma once

#include <string>
#include <string_view>

#include "sinter/base/config.hpp"

namespace sinter::kernel {

/// Whether the setting `view` names a folder.
inline bool view_enabled() { return !config::text(config::Setting::view).empty(); }

/// Writes `content` to the file `<number>-<name>.<ending>` of that folder, numbers rising. Trouble
/// with the folder is logged as a warning and costs nothing else.
void view(std::string_view name, std::string_view ending, std::string_view content);

/// Appends a line to the file `name`.
void view_line(std::string_view name, std::string_view line);

}  // namespace sinter::kernel
