// SPDX-License-Identifier: MIT OR Apache-2.0
// The IDX format of MNIST and its kin, plain or gzipped.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "sinter/types/host_data.hpp"

namespace sinter::data {

/// Reads an IDX file of u8, i8, i16, i32, f32 or f64, also when gzipped (told by its content, not
/// its name). The file is taken as hostile: no more memory is used than its header promises and its
/// size can hold. Throws IoError, or FormatError for a wrong magic number, sizes that overflow, and
/// too few or too many bytes.
[[nodiscard]] HostData read_idx(const std::string& path);

/// As above from memory; `origin` stands for the file's name in messages.
[[nodiscard]] HostData parse_idx(std::span<const std::byte> file, std::string_view origin);

}  // namespace sinter::data
