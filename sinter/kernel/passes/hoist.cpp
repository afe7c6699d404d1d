// SPDX-License-Identifier: MIT OR Apache-2.0
// Loop-invariant values, moved in front of the loop.
#include "sinter/kernel/passes/passes.hpp"

namespace sinter::ir {

namespace {

class Hoist {
 public:
  explicit Hoist(Kernel& kernel) : kernel_(kernel), home_(kernel.insts.size()) { locate(0); }

  /// Inner loops first, so that a value climbs as far as it can.
  void block(std::uint32_t index) {
    std::vector<Id> result;
    for (const Id id : kernel_.blocks[index]) {
      const Inst& inst = kernel_.at(id);
      if (traits_of(inst.op).is(region)) {
        block(inst.blocks[0]);
        block(inst.blocks[1]);
        if (inst.op != Op::if_) {
          lift(id, index, result);
        }
      }
      result.push_back(id);
    }
    kernel_.blocks[index] = std::move(result);
  }

 private:
  void locate(std::uint32_t index) {
    for (const Id id : kernel_.blocks[index]) {
      home_[id] = index;
      if (traits_of(kernel_.at(id).op).is(region)) {
        locate(kernel_.at(id).blocks[0]);
        locate(kernel_.at(id).blocks[1]);
      }
    }
  }

  void lift(Id loop, std::uint32_t outside, std::vector<Id>& result) {
    const std::uint32_t body = kernel_.at(loop).blocks[0];
    std::vector<Id> staying;
    for (const Id id : kernel_.blocks[body]) {
      if (traits_of(kernel_.at(id).op).is(pure) && independent(id, loop, body)) {
        home_[id] = outside;
        result.push_back(id);
      } else {
        staying.push_back(id);
      }
    }
    kernel_.blocks[body] = std::move(staying);
  }

  [[nodiscard]] bool independent(Id id, Id loop, std::uint32_t body) const {
    const Inst& inst = kernel_.at(id);
    for (std::size_t i = 0; i < traits_of(inst.op).arguments; ++i) {
      if (inst.args[i] == loop || home_[inst.args[i]] == body) {
        return false;
      }
    }
    return true;
  }

  Kernel& kernel_;
  std::vector<std::uint32_t> home_;  ///< the block in which an instruction stands
};

}  // namespace

void hoist_invariants(Kernel& kernel) { Hoist(kernel).block(0); }

}  // namespace sinter::ir
