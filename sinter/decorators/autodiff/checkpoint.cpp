// SPDX-License-Identifier: MIT OR Apache-2.0
// Keeping values within a budget, and computing dropped ones again.
#include "sinter/decorators/autodiff/checkpoint.hpp"

#include <algorithm>

#include "sinter/base/error.hpp"

namespace sinter::autodiff {

void Ledger::keep(const std::shared_ptr<Slot>& slot, Value value, std::size_t budget) {
  while (!entries_.empty() && entries_.back().slot.expired()) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  if (entries_.empty()) {  // a new pass begins
    bytes_ = 0;
    stride_ = 1;
    next_position_ = 0;
  }
  const std::size_t position = next_position_++;
  if (position % stride_ != 0 || slot->bytes() > budget) {
    return;
  }
  slot->set_value(std::move(value));
  entries_.push_back({slot, position, slot->bytes()});
  bytes_ += slot->bytes();
  if (bytes_ > budget) {
    thin(budget);
  }
}

void Ledger::thin(std::size_t budget) {
  for (;;) {
    std::erase_if(entries_, [](const Entry& entry) { return entry.slot.expired(); });
    bytes_ = 0;
    for (const Entry& entry : entries_) {
      bytes_ += entry.bytes;
    }
    if (bytes_ <= budget || entries_.empty()) {
      return;
    }
    stride_ *= 2;
    std::erase_if(entries_, [&](const Entry& entry) {
      const std::shared_ptr<Slot> slot = entry.slot.lock();
      if (slot && entry.position % stride_ != 0) {
        slot->set_value({});
      }
      return entry.position % stride_ != 0;
    });
  }
}

Value Recomputed::get(const Saved& saved) {
  if (!saved.slot) {
    return saved.value;
  }
  if (Value kept = saved.slot->value()) {
    return kept;
  }
  const Recipe& recipe = *saved.slot->recipe();
  if (!find(recipe)) {
    compute(recipe);
  }
  return (*find(recipe))[static_cast<std::size_t>(saved.slot->index())];
}

// Depth first with a stack of its own: dropped values may hang on a chain of any length.
void Recomputed::compute(const Recipe& target) {
  std::vector<const Recipe*> stack{&target};
  while (!stack.empty()) {
    const Recipe& recipe = *stack.back();
    SmallVector<Value, 2> inputs;
    bool ready = true;
    for (const Saved& input : recipe.inputs) {
      Value value = input.slot ? input.slot->value() : input.value;
      if (!value) {
        const Outputs* outputs = find(*input.slot->recipe());
        if (!outputs) {
          stack.push_back(input.slot->recipe().get());
          ready = false;
          continue;
        }
        value = (*outputs)[static_cast<std::size_t>(input.slot->index())];
      }
      inputs.push_back(std::move(value));
    }
    if (!ready) {
      continue;
    }
    stack.pop_back();
    if (!find(recipe)) {
      by_depth_[recipe.depth].emplace_back(
          &recipe, execute(*recipe.def, recipe.attributes.get(), {inputs.data(), inputs.size()}, 0,
                           recipe.where, recipe.backend));
    }
  }
}

const Outputs* Recomputed::find(const Recipe& recipe) const {
  const auto level = by_depth_.find(recipe.depth);
  if (level != by_depth_.end()) {
    for (const auto& [known, outputs] : level->second) {
      if (known == &recipe) {
        return &outputs;
      }
    }
  }
  return nullptr;
}

void Recomputed::release_from(int depth) {
  by_depth_.erase(by_depth_.lower_bound(depth), by_depth_.end());
}

}  // namespace sinter::autodiff
