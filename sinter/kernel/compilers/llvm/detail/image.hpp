// SPDX-License-Identifier: MIT OR Apache-2.0
// From an object file to one piece of code that needs no loader.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sinter::llvm {

struct Image {
  std::vector<unsigned char> bytes;
  std::uint64_t entry = 0;
};

/// Lays out the sections of a relocatable ELF file of 64 bits and fills in what they refer to in
/// each other. Throws CompileError for a symbol that isn't defined in it, an address that depends
/// on where the image lies, and an unknown way of referring; each names the culprit.
Image make_image(std::span<const unsigned char> object, std::string_view entry);

/// The symbol that make_image() misses first; empty if it misses none.
std::string_view missing_symbol(std::span<const unsigned char> object);

}  // namespace sinter::llvm
