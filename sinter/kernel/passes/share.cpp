// SPDX-License-Identifier: MIT OR Apache-2.0
// Shared memories that are never alive together, in one place.
//
// A memory is alive from the first to the last statement of the outermost block that touches it, a
// loop with all it holds being one statement. Two may share a place if a barrier of that block lies
// between them: whatever units still do with the first is done by then. Places are given in the
// order in which memories come alive, which colours intervals with the fewest places.
#include <algorithm>

#include "sinter/kernel/passes/passes.hpp"

namespace sinter::ir {

namespace {

constexpr std::size_t never = ~std::size_t{0};

struct Life {
  std::size_t first = never;
  std::size_t last = 0;
};

class Share {
 public:
  explicit Share(Kernel& kernel) : kernel_(kernel), lives_(kernel.memories.size()) {
    const std::vector<Id>& statements = kernel.blocks[0];
    for (std::size_t at = 0; at < statements.size(); ++at) {
      if (kernel.at(statements[at]).op == Op::barrier) {
        barriers_.push_back(at);
      }
      touch(statements[at], at);
    }
  }

  void run() {
    std::vector<std::size_t> order;
    for (std::size_t m = 0; m < lives_.size(); ++m) {
      if (kernel_.memories[m].space == Space::shared && lives_[m].first != never) {
        order.push_back(m);
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return lives_[a].first < lives_[b].first;
    });
    std::vector<std::uint64_t> place(lives_.size());
    for (std::size_t m = 0; m < place.size(); ++m) {
      place[m] = m;
    }
    std::vector<std::size_t> places;  // the memories that give theirs
    for (const std::size_t m : order) {
      const auto found = std::find_if(places.begin(), places.end(),
                                      [&](std::size_t other) { return free_for(other, m); });
      if (found == places.end()) {
        places.push_back(m);
        continue;
      }
      place[m] = *found;
      Memory& shared = kernel_.memories[*found];
      shared.size = std::max(shared.size, kernel_.memories[m].size);
      lives_[*found].last = lives_[m].last;
    }
    drop_moved(place);
  }

 private:
  void touch(Id id, std::size_t at) {
    const Inst& inst = kernel_.at(id);
    if (traits_of(inst.op).is(memory)) {
      Life& life = lives_[inst.payload];
      life.first = std::min(life.first, at);
      life.last = std::max(life.last, at);
    }
    if (traits_of(inst.op).is(region)) {
      for (const std::uint32_t block : inst.blocks) {
        for (const Id inner : kernel_.blocks[block]) {
          touch(inner, at);
        }
      }
    }
  }

  [[nodiscard]] bool free_for(std::size_t place, std::size_t m) const {
    const std::size_t end = lives_[place].last;
    const std::size_t begin = lives_[m].first;
    return kernel_.memories[place].dtype == kernel_.memories[m].dtype && end < begin &&
           std::any_of(
               barriers_.begin(), barriers_.end(),
               [&](std::size_t barrier) { return end < barrier && barrier < begin; });
  }

  /// Takes the memories that moved out of the list.
  void drop_moved(const std::vector<std::uint64_t>& place) {
    std::vector<Memory> staying;
    std::vector<std::uint64_t> number(place.size());
    for (std::size_t m = 0; m < place.size(); ++m) {
      if (place[m] == m) {
        number[m] = staying.size();
        staying.push_back(std::move(kernel_.memories[m]));
      }
    }
    kernel_.memories = std::move(staying);
    for (Inst& inst : kernel_.insts) {
      if (traits_of(inst.op).is(memory) || inst.op == Op::length) {
        inst.payload = number[place[inst.payload]];
      }
    }
  }

  Kernel& kernel_;
  std::vector<Life> lives_;
  std::vector<std::size_t> barriers_;
};

}  // namespace

void share_memories(Kernel& kernel) { Share(kernel).run(); }

}  // namespace sinter::ir
