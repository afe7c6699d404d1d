// SPDX-License-Identifier: MIT OR Apache-2.0
// One pass over elements: any expression, inputs that repeat along dims or lie apart in rows.
#pragma once

#include "sinter/kernel/launch/runtime.hpp"
#include "sinter/kernel/library/expression.hpp"

namespace sinter::kernel {

/// How an input is walked. Dims are merged by the caller as far as all inputs allow.
struct Walk {
  bool along = true;  ///< consecutive along the innermost dim, else one value for the whole row
  bool rows = false;  ///< has a stride for each outer dim; else it is dense, or one value at all
};

struct ElementwiseProblem {
  Expression expression;
  std::vector<Walk> walks;  ///< of each input
  bool offsets = false;     ///< inputs begin somewhere in their buffers
  int outer = 0;            ///< dims around the innermost; the results are dense
};

/// Elements that one step of a kernel takes.
[[nodiscard]] int lanes_of(const Expression& expression, const Properties& properties);

/// A stride or an offset below zero is given modulo 2^32. The kernel takes the inputs' and the
/// results' buffers, then the scalars of ElementwiseLaunch. One unit a cube: cubes along x share a
/// row's elements, cubes along y the rows.
[[nodiscard]] ir::Kernel elementwise_kernel(const ElementwiseProblem& problem,
                                            const Properties& properties);

/// Sizes of a launch.
struct ElementwiseLaunch {
  std::uint32_t inner = 1;                          ///< elements of a row
  SmallVector<std::uint32_t, 4> outer;              ///< sizes, outermost first
  std::vector<SmallVector<std::uint32_t, 4>> rows;  ///< per input with `rows`: its strides
  std::vector<std::uint32_t> offsets;               ///< per input, for a problem with `offsets`

  [[nodiscard]] std::uint64_t row_count() const;
  [[nodiscard]] std::vector<std::uint64_t> scalars(std::uint32_t chunk) const;
};

}  // namespace sinter::kernel
