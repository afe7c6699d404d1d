// SPDX-License-Identifier: MIT OR Apache-2.0
// Common subexpressions, found by value numbers that are scoped like the blocks.
#include <map>
#include <tuple>

#include "sinter/kernel/passes/passes.hpp"

namespace sinter::ir {

namespace {

class Merge {
 public:
  explicit Merge(Kernel& kernel) : kernel_(kernel), same_(kernel.insts.size()) {
    for (Id id = 0; id < same_.size(); ++id) {
      same_[id] = id;
    }
  }

  void block(std::uint32_t index) {
    std::vector<Key> own;
    std::vector<Id> staying;
    for (const Id id : kernel_.blocks[index]) {
      Inst& inst = kernel_.insts[id];
      for (std::size_t i = 0; i < traits_of(inst.op).arguments; ++i) {
        inst.args[i] = same_[inst.args[i]];
      }
      if (traits_of(inst.op).is(pure)) {
        const Key key = key_of(inst);
        const auto [found, fresh] = known_.emplace(key, id);
        if (!fresh) {
          same_[id] = found->second;
          continue;
        }
        own.push_back(key);
      } else if (traits_of(inst.op).is(region)) {
        block(inst.blocks[0]);
        block(inst.blocks[1]);
      }
      staying.push_back(id);
    }
    for (const Key& key : own) {
      known_.erase(key);
    }
    kernel_.blocks[index] = std::move(staying);
  }

 private:
  using Key = std::tuple<Op, DType, int, std::uint64_t, Id, Id, Id>;

  static Key key_of(const Inst& inst) {
    return {inst.op,      inst.type.dtype, inst.type.lanes, inst.payload,
            inst.args[0], inst.args[1],    inst.args[2]};
  }

  Kernel& kernel_;
  std::vector<Id> same_;  ///< the first of the values equal to this one
  std::map<Key, Id> known_;
};

}  // namespace

void merge_equal_values(Kernel& kernel) { Merge(kernel).block(0); }

}  // namespace sinter::ir
