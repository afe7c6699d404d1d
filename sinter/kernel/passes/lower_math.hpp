// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementary functions for devices that lack them, or that have them but not exactly enough.
#pragma once

#include <bitset>
#include <initializer_list>
#include <optional>
#include <span>

#include "sinter/kernel/dsl/val.hpp"
#include "sinter/kernel/ir/ir.hpp"

namespace sinter::ir {

/// Which instructions a device computes by itself, within the bounds of docs/ir.md.
class MathTarget {
 public:
  /// `op` on f32, f16 and bf16 (which are computed as f32).
  [[nodiscard]] bool has(Op op) const { return native_[static_cast<std::size_t>(op)]; }
  /// `op` on f64.
  [[nodiscard]] bool has_on_f64(Op op) const { return native_f64_[static_cast<std::size_t>(op)]; }
  /// mul_high is the only instruction on integers that some devices lack.
  [[nodiscard]] bool has(Op op, DType dtype) const {
    return dtype == DType::f64 ? has_on_f64(op) : has(op);
  }

  MathTarget& add(std::initializer_list<Op> ops);
  MathTarget& add_on_f64(std::initializer_list<Op> ops);
  MathTarget& remove(std::initializer_list<Op> ops);

  /// A processor: square roots, rounding, and libm for f64.
  static MathTarget cpu();
  /// SPIR-V: the elementary functions of GLSL.std.450 may be thousands of ulp off, so that none of
  /// them counts.
  static MathTarget spirv();

 private:
  std::bitset<128> native_;
  std::bitset<128> native_f64_;
};

/// What stands in for `op` on `args` in the kernel that is being recorded; nothing if there is no
/// formula for it. Over all arguments functions are within 2 ulp on f32 and 4 ulp on f64, with the
/// special values of C99; f16 and bf16 are computed in f32 and rounded once.
[[nodiscard]] std::optional<dsl::Val> formula_of(Op op, std::span<const dsl::Val> args);

/// Replaces what `target` lacks by formulas.
void lower_math(Kernel& kernel, const MathTarget& target);

}  // namespace sinter::ir
