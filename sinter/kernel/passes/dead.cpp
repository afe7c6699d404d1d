// SPDX-License-Identifier: MIT OR Apache-2.0
// Values without a use.
#include <algorithm>

#include "sinter/kernel/passes/passes.hpp"

namespace sinter::ir {

namespace {

class Dead {
 public:
  explicit Dead(Kernel& kernel)
      : kernel_(kernel), used_(kernel.insts.size()), read_(kernel.memories.size()) {}

  void run() {
    find_reads(0);
    sweep(0);
  }

 private:
  void find_reads(std::uint32_t index) {
    for (const Id id : kernel_.blocks[index]) {
      const Inst& inst = kernel_.at(id);
      if (inst.op == Op::load) {
        read_[inst.payload] = true;
      } else if (traits_of(inst.op).is(region)) {
        find_reads(inst.blocks[0]);
        find_reads(inst.blocks[1]);
      }
    }
  }

  /// Backward, so that what only dead values use is dead too.
  void sweep(std::uint32_t index) {
    std::vector<Id> staying;
    const std::vector<Id> ids = kernel_.blocks[index];
    for (auto at = ids.rbegin(); at != ids.rend(); ++at) {
      const Inst& inst = kernel_.at(*at);
      if (is_dead(*at)) {
        continue;
      }
      if (traits_of(inst.op).is(region)) {
        sweep(inst.blocks[1]);
        sweep(inst.blocks[0]);
      }
      for (std::size_t i = 0; i < traits_of(inst.op).arguments; ++i) {
        used_[inst.args[i]] = true;
      }
      staying.push_back(*at);
    }
    std::reverse(staying.begin(), staying.end());
    kernel_.blocks[index] = std::move(staying);
  }

  [[nodiscard]] bool is_dead(Id id) const {
    const Inst& inst = kernel_.at(id);
    if (inst.op == Op::store) {
      return kernel_.memories[inst.payload].space == Space::local && !read_[inst.payload];
    }
    return !used_[id] && (traits_of(inst.op).is(pure) || inst.op == Op::load);
  }

  Kernel& kernel_;
  std::vector<bool> used_;
  std::vector<bool> read_;
};

}  // namespace

void drop_dead_code(Kernel& kernel) { Dead(kernel).run(); }

}  // namespace sinter::ir
