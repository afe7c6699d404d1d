// SPDX-License-Identifier: MIT OR Apache-2.0
// The safetensors format: a JSON header that lists tensors, then their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/types/dtype.hpp"
#include "sinter/types/shape.hpp"

namespace sinter::store {

/// Free text of a file: its `__metadata__`.
using Metadata = std::map<std::string, std::string>;

/// Headers above this size are refused, as the format's own library does.
inline constexpr std::uint64_t max_header_bytes = 100'000'000;

/// One tensor of a file. `offset` counts from the start of the data, not of the file.
struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// What the head of a safetensors file says. `tensors` keeps the order of the header.
struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;
  Metadata metadata;
  /// Where the data starts in the file.
  std::uint64_t data_start = 0;
};

/// Reads and checks the header of a whole file held in memory (or mapped). The file is taken as
/// hostile: every length, offset, shape and name is checked against the file's size and against
/// the others, so the offsets that come back may be used without more checks. `origin` is the
/// file's name in messages. Throws FormatError; another known file type is named as what it is.
[[nodiscard]] SafetensorsHeader parse_safetensors(std::span<const std::byte> file,
                                                  std::string_view origin);

/// One tensor to write; views that must outlive the call.
struct TensorView {
  std::string_view name;
  DType dtype = DType::f32;
  Shape shape;
  std::span<const std::byte> bytes;
};

/// A file laid out but not yet joined: the length and header, then one span per tensor in the
/// order of the data (wider elements first, so that each tensor is aligned to its element).
struct SafetensorsLayout {
  std::string head;
  std::vector<std::span<const std::byte>> pieces;
};

/// Lays out a file; the same input always gives the same bytes, and the data starts at a multiple
/// of 8. Throws ArgumentError for a repeated or reserved name or text that is no UTF-8.
[[nodiscard]] SafetensorsLayout layout_safetensors(std::span<const TensorView> tensors,
                                                   const Metadata& metadata);

/// Writes a layout under a temporary name and renames it: readers see the old file or the new one,
/// also after a crash. Throws IoError.
void write_layout(const std::string& path, const SafetensorsLayout& layout);

/// `layout_safetensors` and `write_layout` in one.
void write_safetensors(const std::string& path, std::span<const TensorView> tensors,
                       const Metadata& metadata = {});

/// The format's name of a dtype ("F32", "BF16", "BOOL" …).
[[nodiscard]] std::string_view safetensors_name(DType dtype);

}  // namespace sinter::store
