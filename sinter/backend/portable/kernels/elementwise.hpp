// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementwise kernels and conversions on dense blocks: their types and tables.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sinter/ops/opcode.hpp"

namespace sinter::portable {

/// The types that formulas compute in. Every dtype is brought to one of them without loss.
enum class Carried : uint8_t { f32, f64, i64, u64 };
inline constexpr int carried_count = 4;

/// Evaluates a formula on `n` elements: dense arrays of the carried type in, the same out, except
/// that a comparison writes bytes of 0 and 1. `output` may be one of `inputs`. Nothing past `n` is
/// touched.
using BlockKernel = void (*)(const void* attributes, const void* const* inputs, void* output,
                             size_t n);

/// Row [variant][op code] of each carried type; null where there is no such formula.
struct ElementwiseTable {
  BlockKernel rows[carried_count][3][op_count] = {};
};

/// Converts `n` dense elements.
using ConvertKernel = void (*)(const void* from, void* to, size_t n);

/// Element types as the kernels name them; in the order of `DType`, f8 types and all.
inline constexpr int element_types = 15;

/// Conversions between element types and carried types; null for f8 types, and where nothing
/// changes.
struct ConvertTable {
  /// Exactly, to the type's own carried type: f16, bf16 to f32; small integers and bool to i64.
  ConvertKernel load[element_types] = {};
  /// With one rounding; floats to integers truncate and saturate, NaN gives 0; to bool: x != 0.
  ConvertKernel store[carried_count][element_types] = {};
};

}  // namespace sinter::portable
