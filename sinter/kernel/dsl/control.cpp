// SPDX-License-Identifier: MIT OR Apache-2.0
// Recorded blocks, topology and the recording itself.
#include "sinter/kernel/dsl/control.hpp"

namespace sinter::dsl {

namespace detail {

Passes::Passes(ir::Id region, int passes, const char* what, Loc loc)
    : region_(region), passes_(passes), what_(what), loc_(loc) {
  Recorder::current().enter(region, 0);
}

void Passes::next() {
  Recorder& recorder = Recorder::current();
  recorder.leave();
  if (++pass_ < passes_) {
    recorder.enter(region_, pass_);
  }
}

Passes::~Passes() {
  if (ended()) {
    return;
  }
  Recorder& recorder = Recorder::current();
  recorder.leave();
  recorder.fail(loc_, std::string("a native break, return or exception leaves a recorded ") +
                          what_ + "; use dsl::break_if, or select");
}

}  // namespace detail

forever::forever(Loc loc)
    : Passes(Recorder::current().statement(ir::Op::loop, {}, 0, loc), 1, "loop", loc) {}

Branches::Branches(Expr<bool> condition, Loc loc)
    : Passes(Recorder::current().statement(ir::Op::if_, {condition.node()}, 0, loc), 2, "if", loc) {
}

void break_if(Given<bool> condition) {
  Recorder::current().statement(ir::Op::break_if, {condition.value.node()}, 0, condition.loc);
}

namespace {
Index topology(ir::Op op, Axis axis) {
  return Index(
      Val(Recorder::current().value(op, {}, static_cast<std::uint64_t>(axis), ir::index_type)));
}
}  // namespace

Index unit_pos(Axis axis) {
  return cube_dim(axis) == 1 ? Index(0u) : topology(ir::Op::unit_pos, axis);
}
Index cube_pos(Axis axis) { return topology(ir::Op::cube_pos, axis); }
Index cube_count(Axis axis) { return topology(ir::Op::cube_count, axis); }
std::uint32_t cube_dim(Axis axis) {
  return Recorder::current().kernel().cube[static_cast<std::size_t>(axis)];
}
Index absolute_pos(Axis axis) { return cube_pos(axis) * cube_dim(axis) + unit_pos(axis); }
Index plane_dim() { return topology(ir::Op::plane_dim, Axis::x); }
Index plane_pos() { return topology(ir::Op::plane_pos, Axis::x); }

void sync_cube(Loc loc) { Recorder::current().statement(ir::Op::barrier, {}, 0, loc); }

ir::Kernel record(std::string name, KernelOptions options, const std::function<void()>& body) {
  Recorder recorder(std::move(name));
  recorder.kernel().cube = options.cube;
  const Recorder::Scope scope(recorder);
  body();
  return recorder.finish();
}

}  // namespace sinter::dsl
