// SPDX-License-Identifier: MIT OR Apache-2.0
// What formulas with blocks need: a variable, and whether any lane holds true.
#pragma once

#include "sinter/kernel/dsl/control.hpp"

namespace sinter::ir::math {

/// A variable of whatever type its first value has.
class Cell {
 public:
  explicit Cell(dsl::Val first)
      : type_(first.type()),
        memory_(dsl::Recorder::current().local(first.type().dtype, first.type().lanes)) {
    set(first);
  }
  void set(dsl::Val next) const {
    dsl::Recorder::current().statement(Op::store, {zero(), next.as(type_)}, memory_);
  }
  [[nodiscard]] dsl::Val get() const {
    return dsl::Val(dsl::Recorder::current().value(Op::load, {zero()}, memory_, type_));
  }

  /// One lane, by an index that is known when the kernel runs.
  void set_lane(dsl::Index lane, dsl::Val next) const {
    dsl::Recorder::current().statement(Op::store, {lane.node(), next.node()}, memory_);
  }
  [[nodiscard]] dsl::Val get_lane(dsl::Index lane) const {
    return dsl::Val(
        dsl::Recorder::current().value(Op::load, {lane.node()}, memory_, {type_.dtype, 1}));
  }

 private:
  static dsl::NodeId zero() { return dsl::Recorder::current().constant(index_type, 0); }

  Type type_;
  std::uint64_t memory_;
};

/// Lane `i` of a value.
inline dsl::Val lane_of(dsl::Val x, int i) {
  return x.type().lanes == 1 ? x
                             : dsl::Val(dsl::Recorder::current().value(
                                   Op::extract, {x.node()}, static_cast<std::uint64_t>(i)));
}

/// Whether `mask` is true in any lane.
inline dsl::Expr<bool> any_lane(dsl::Val mask) {
  dsl::Val any = lane_of(mask, 0);
  for (int i = 1; i < mask.type().lanes; ++i) {
    any = any | lane_of(mask, i);
  }
  return dsl::Expr<bool>(any);
}

}  // namespace sinter::ir::math
