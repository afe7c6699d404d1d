// SPDX-License-Identifier: MIT OR Apache-2.0
// Saved values that may be computed again instead of kept.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sinter/graph/backend.hpp"
#include "sinter/ops/attributes.hpp"

namespace sinter::autodiff {

class Slot;

/// A value that a gradient reads: kept, or a slot from which it can be had again.
struct Saved {
  Value value;
  std::shared_ptr<Slot> slot;
};

/// How to compute the outputs of a call again.
class Recipe final : public RefCounted {
 public:
  const OpDef* def = nullptr;
  OwnedAttributes attributes;
  SmallVector<Saved, 2> inputs;
  int depth = 0;
  SourceLoc where;
  Backend* backend = nullptr;  // the one under autodiff, for calls without inputs
};

/// Output `index` of a recipe, with its elements while they are kept. Several threads may use one.
class Slot {
 public:
  Slot(Ref<Recipe> recipe, int index, std::size_t bytes)
      : recipe_(std::move(recipe)), index_(index), bytes_(bytes) {}

  const Ref<Recipe>& recipe() const { return recipe_; }
  int index() const { return index_; }
  std::size_t bytes() const { return bytes_; }
  Value value() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void set_value(Value value) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
  }

 private:
  Ref<Recipe> recipe_;
  int index_;
  std::size_t bytes_;
  mutable std::mutex mutex_;
  Value value_;
};

/// The values one thread keeps under a budget of bytes. When they exceed it, every second one is
/// dropped, then three of four, and so on: what is kept stays evenly spread, so that computing a
/// dropped value again never starts far away. (The idea of online checkpointing: Stumm and Walther,
/// 2010.)
class Ledger {
 public:
  void keep(const std::shared_ptr<Slot>& slot, Value value, std::size_t budget);

 private:
  void thin(std::size_t budget);

  struct Entry {
    std::weak_ptr<Slot> slot;
    std::size_t position;
    std::size_t bytes;
  };
  std::vector<Entry> entries_;
  std::size_t bytes_ = 0;  // at most too high: slots that died are found when it matters
  std::size_t stride_ = 1;
  std::size_t next_position_ = 0;
};

/// Values computed again during one backward pass, until no node can need them any more.
class Recomputed {
 public:
  Value get(const Saved& saved);
  /// Forgets what is as deep as the node now visited: only deeper nodes read it.
  void release_from(int depth);

 private:
  void compute(const Recipe& recipe);
  const Outputs* find(const Recipe& recipe) const;

  std::map<int, std::vector<std::pair<const Recipe*, Outputs>>> by_depth_;
};

}  // namespace sinter::autodiff
