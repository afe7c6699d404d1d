// SPDX-License-Identifier: MIT OR Apache-2.0
// Copying a kernel, statement by statement.
#include "sinter/kernel/passes/rebuild.hpp"

#include "sinter/kernel/passes/copy.hpp"

namespace sinter::ir {

namespace {

class Rebuilder {
 public:
  Rebuilder(const Kernel& from, const Hook& hook)
      : from_(from), hook_(hook), recorder_(from.name), map_(from.insts.size(), dsl::no_node) {
    Kernel& to = recorder_.kernel();
    to.cube = from.cube;
    to.scalars = from.scalars;
    to.memories = from.memories;
  }

  Kernel run() {
    const dsl::Recorder::Scope scope(recorder_);
    block(0);
    return recorder_.finish();
  }

 private:
  void block(std::uint32_t index) {
    for (const Id id : from_.blocks[index]) {
      const Inst& inst = from_.at(id);
      if (traits_of(inst.op).is(region)) {
        copy_region(recorder_, inst, args(inst), [&](int which, dsl::NodeId value) {
          map_[id] = value;
          block(inst.blocks[static_cast<std::size_t>(which)]);
        });
      } else {
        map_[id] = instruction(inst);
      }
    }
  }

  dsl::NodeId instruction(const Inst& inst) {
    const NodeArgs nodes = args(inst);
    const dsl::Val vals[3] = {dsl::Val(nodes[0]), dsl::Val(nodes[1]), dsl::Val(nodes[2])};
    if (const auto replaced = hook_(inst, {vals, traits_of(inst.op).arguments})) {
      return replaced->node();
    }
    return copy_value(recorder_, inst, nodes, inst.payload);
  }

  NodeArgs args(const Inst& inst) const {
    NodeArgs nodes{dsl::no_node, dsl::no_node, dsl::no_node};
    for (std::size_t i = 0; i < traits_of(inst.op).arguments; ++i) {
      nodes[i] = map_[inst.args[i]];
    }
    return nodes;
  }

  const Kernel& from_;
  const Hook& hook_;
  dsl::Recorder recorder_;
  std::vector<dsl::NodeId> map_;
};

}  // namespace

Kernel rebuild(const Kernel& from, const Hook& hook) { return Rebuilder(from, hook).run(); }

}  // namespace sinter::ir
