// SPDX-License-Identifier: MIT OR Apache-2.0
// Recording what another kernel has.
#pragma once

#include <array>

#include "sinter/kernel/dsl/recorder.hpp"

namespace sinter::ir {

using NodeArgs = std::array<dsl::NodeId, 3>;

/// Records `inst` with other arguments and payload; its value, if it has one. A region's blocks are
/// the caller's to fill.
inline dsl::NodeId copy_value(dsl::Recorder& to, const Inst& inst, const NodeArgs& a,
                              std::uint64_t payload) {
  const OpTraits& op = traits_of(inst.op);
  const auto with = [&](std::initializer_list<dsl::NodeId> args) {
    if (!op.is(writes)) {
      return to.value(inst.op, args, payload, inst.type, inst.loc);
    }
    const Id placed = to.statement(inst.op, args, payload, inst.loc);
    return inst.type.is_nothing() ? dsl::no_node : to.node_of(placed);
  };
  switch (op.arguments) {
    case 0:
      return with({});
    case 1:
      return with({a[0]});
    case 2:
      return with({a[0], a[1]});
    default:
      return with({a[0], a[1], a[2]});
  }
}

/// Records the region `inst`; `block(which, value)` fills each of its blocks, `value` being the
/// index of a `for`.
template <class F>
void copy_region(dsl::Recorder& to, const Inst& inst, const NodeArgs& a, F&& block) {
  const Id region = inst.op == Op::for_  ? to.statement(Op::for_, {a[0], a[1], a[2]}, 0, inst.loc)
                    : inst.op == Op::if_ ? to.statement(Op::if_, {a[0]}, 0, inst.loc)
                                         : to.statement(Op::loop, {}, 0, inst.loc);
  const int blocks = inst.op == Op::if_ ? 2 : 1;
  for (int which = 0; which < blocks; ++which) {
    to.enter(region, which);
    block(which, inst.op == Op::for_ ? to.node_of(region) : dsl::no_node);
    to.leave();
  }
}

}  // namespace sinter::ir
