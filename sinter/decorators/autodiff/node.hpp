// SPDX-License-Identifier: MIT OR Apache-2.0
// What autodiff records: nodes, and the values that own them.
#pragma once

#include <memory>
#include <vector>

#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/decorators/autodiff/checkpoint.hpp"
#include "sinter/graph/backend.hpp"
#include "sinter/ops/attributes.hpp"

namespace sinter::autodiff {

class Node;

/// Output `index` of a node; no node for an untracked input.
struct Edge {
  Ref<Node> node;
  int index = 0;
};

/// One recorded call, or a leaf. Immutable once recorded, but for hooks and retain_grad, which the
/// owner sets before it shares the value with other threads.
class Node final : public RefCounted {
 public:
  const OpDef* def = nullptr;  ///< null: a leaf
  OwnedAttributes attributes;
  SmallVector<Edge, 2> inputs;
  /// Values under autodiff, in the order of inputs and outputs; empty where the gradient reads
  /// none.
  SmallVector<Saved, 2> saved_inputs;
  SmallVector<Saved, 1> saved_outputs;
  Specs input_specs;
  SmallVector<TensorSpec, 1> output_specs;
  /// Greater than that of every input: backward runs by falling depth.
  int depth = 0;
  bool retained = false;
  SourceLoc where;
  std::vector<Ref<Hook>> hooks;

 private:
  // Chains of any length die without recursion.
  void destroy() const noexcept override;
};

/// A value on an autodiff backend: one of the backend under it, and its history if it has one.
class TrackedValue final : public ValueImpl {
 public:
  TrackedValue(Backend& backend, Value inner, Edge edge, std::shared_ptr<Slot> slot = nullptr)
      : ValueImpl(backend, inner.shape(), inner.dtype()),
        inner_(std::move(inner)),
        edge_(std::move(edge)),
        slot_(std::move(slot)) {}

  const Value& inner() const { return inner_; }
  /// Gives the inner value up: only for the last handle of a value that its caller donated.
  Value take_inner() { return std::move(inner_); }
  const Edge& edge() const { return edge_; }
  /// How to compute it again, where the device's policy allows that; else null.
  const std::shared_ptr<Slot>& slot() const { return slot_; }

 private:
  Value inner_;
  Edge edge_;
  std::shared_ptr<Slot> slot_;
};

inline TrackedValue& tracked(const Value& value) { return value.as<TrackedValue>(); }

}  // namespace sinter::autodiff
