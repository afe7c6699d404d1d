// SPDX-License-Identifier: MIT OR Apache-2.0
// What may differ between the units of a cube.
#include "sinter/kernel/ir/verify.hpp"

namespace sinter::ir {

namespace {

/// A forward pass, repeated until nothing new varies: local memories and units that left a loop
/// carry it backward.
class Analysis {
 public:
  explicit Analysis(const Kernel& kernel)
      : kernel_(kernel), result_(kernel.insts.size()), locals_(kernel.memories.size()) {}

  std::vector<bool> run() {
    do {
      changed_ = false;
      block(0, false, nullptr);
    } while (changed_);
    return std::move(result_);
  }

 private:
  void block(std::uint32_t index, bool apart, bool* loop) {
    for (const Id id : kernel_.blocks[index]) {
      // Once some units may have left the loop, the rest goes on without them.
      visit(id, apart || (loop != nullptr && *loop), loop);
    }
  }

  void visit(Id id, bool apart, bool* loop) {
    const Inst& inst = kernel_.at(id);
    switch (inst.op) {
      case Op::if_:
        set(id, apart || arg(inst, 0));
        block(inst.blocks[0], result_[id], loop);
        block(inst.blocks[1], result_[id], loop);
        return;
      case Op::for_:
      case Op::loop: {
        set(id, apart || any_arg(inst));
        // What leaves in one round is missing from the start of the next: the repetition sees it.
        bool left = result_[id];
        block(inst.blocks[0], left, &left);
        set(id, left);
        return;
      }
      case Op::break_if:
        if (loop != nullptr && (apart || arg(inst, 0))) {
          *loop = true;
        }
        return;
      case Op::store:
        if (is_local(inst) && (apart || any_arg(inst))) {
          changed_ = changed_ || !locals_[inst.payload];
          locals_[inst.payload] = true;
        }
        return;
      case Op::load:
        set(id, arg(inst, 0) || (is_local(inst) && locals_[inst.payload]));
        return;
      case Op::unit_pos:
        set(id, kernel_.cube[inst.payload] > 1);
        return;
      case Op::plane_pos:
        set(id, true);
        return;
      default:
        set(id, apart_result(inst) || any_arg(inst));
    }
  }

  [[nodiscard]] static bool apart_result(const Inst& inst) {
    const OpTraits& op = traits_of(inst.op);
    return op.is(reads) && op.arguments > 0;
  }
  [[nodiscard]] bool is_local(const Inst& inst) const {
    return kernel_.memories[inst.payload].space == Space::local;
  }
  [[nodiscard]] bool arg(const Inst& inst, std::size_t i) const { return result_[inst.args[i]]; }
  [[nodiscard]] bool any_arg(const Inst& inst) const {
    for (std::size_t i = 0; i < traits_of(inst.op).arguments; ++i) {
      if (arg(inst, i)) {
        return true;
      }
    }
    return false;
  }
  void set(Id id, bool value) {
    if (value && !result_[id]) {
      result_[id] = true;
      changed_ = true;
    }
  }

  const Kernel& kernel_;
  std::vector<bool> result_;
  std::vector<bool> locals_;
  bool changed_ = false;
};

}  // namespace

std::vector<bool> varying(const Kernel& kernel) { return Analysis(kernel).run(); }

}  // namespace sinter::ir
