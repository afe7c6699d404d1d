// SPDX-License-Identifier: MIT OR Apache-2.0
// The backward pass: iterative, by falling depth, on the calling thread alone.
#include <fmt/format.h>

#include <queue>
#include <unordered_map>

#include "sinter/base/error.hpp"
#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/decorators/autodiff/node.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter {

// Keyed by node and output; the node is held, so that its address stays its own.
struct Gradients::Map {
  struct Entry {
    autodiff::Edge edge;
    Value gradient;
  };
  std::vector<Entry> entries;
  std::unordered_map<const void*, std::size_t> positions;  // used from `linear` entries on
  static constexpr std::size_t linear = 16;

  Entry* find(const autodiff::Edge& edge) {
    if (entries.size() <= linear) {
      for (Entry& entry : entries) {
        if (entry.edge.node == edge.node && entry.edge.index == edge.index) {
          return &entry;
        }
      }
      return nullptr;
    }
    const auto found = positions.find(key(edge));
    return found == positions.end() ? nullptr : &entries[found->second];
  }
  void set(const autodiff::Edge& edge, Value gradient) {
    if (Entry* entry = find(edge)) {
      entry->gradient = std::move(gradient);
      return;
    }
    entries.push_back({edge, std::move(gradient)});
    if (entries.size() > linear) {
      for (std::size_t i = positions.size(); i < entries.size(); ++i) {
        positions.emplace(key(entries[i].edge), i);
      }
    }
  }

 private:
  // Nodes are far larger than the number of outputs of any op, so these addresses never meet.
  static const void* key(const autodiff::Edge& edge) {
    return reinterpret_cast<const char*>(edge.node.get()) + edge.index;
  }
};

namespace autodiff {
namespace {

Value add(Value a, const Value& b) {
  const Value inputs[] = {std::move(a), b};
  return execute(op_def(OpCode::add), nullptr, inputs, 1)[0];
}

// Gradients that have reached a node's outputs so far.
struct Pending {
  Node* node = nullptr;
  SmallVector<Value, 1> grads;
};

class Pass {
 public:
  explicit Pass(Gradients::Map& result) : result_(result) {}

  void send(const Edge& edge, Value gradient) {
    SmallVector<Value, 1>& grads = pending(*edge.node).grads;
    Value& slot = grads[static_cast<std::size_t>(edge.index)];
    if (slot) {
      Value sum = add(std::move(slot), gradient);
      slot = std::move(sum);
    } else {
      slot = std::move(gradient);
    }
  }

  void run() {
    while (!order_.empty()) {
      const std::size_t position = order_.top().position;
      order_.pop();
      Node& node = *entries_[position].node;
      SmallVector<Value, 1> grads = std::move(entries_[position].grads);
      recomputed_.release_from(node.depth);
      apply_hooks(node, grads);
      if (!node.def || node.retained) {
        keep(node, grads);
      }
      if (node.def) {
        pull(node, grads);
      }
    }
  }

 private:
  struct Place {
    int depth;
    std::size_t position;
    // Deepest first; among equals in order of arrival, so that sums round the same way every time.
    bool operator<(const Place& other) const {
      return depth != other.depth ? depth < other.depth : position > other.position;
    }
  };

  Pending& pending(Node& node) {
    if (Pending* found = find(node)) {
      return *found;
    }
    entries_.push_back({&node, {}});
    entries_.back().grads.resize(node.def ? node.output_specs.size() : 1);
    if (entries_.size() > Gradients::Map::linear) {
      for (std::size_t i = positions_.size(); i < entries_.size(); ++i) {
        positions_.emplace(entries_[i].node, i);
      }
    }
    order_.push({node.depth, entries_.size() - 1});
    return entries_.back();
  }
  Pending* find(Node& node) {
    if (entries_.size() <= Gradients::Map::linear) {
      for (Pending& entry : entries_) {
        if (entry.node == &node) {
          return &entry;
        }
      }
      return nullptr;
    }
    const auto found = positions_.find(&node);
    return found == positions_.end() ? nullptr : &entries_[found->second];
  }

  static void apply_hooks(Node& node, SmallVector<Value, 1>& grads) {
    for (const Ref<Hook>& hook : node.hooks) {
      for (Value& grad : grads) {
        if (grad) {
          if (Value other = (*hook)(grad)) {
            grad = std::move(other);
          }
        }
      }
    }
  }

  void keep(Node& node, const SmallVector<Value, 1>& grads) {
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (grads[i]) {
        result_.set({Ref<Node>(&node), static_cast<int>(i)}, grads[i]);
      }
    }
  }

  // Asks the op for the gradients of its inputs and sends them on.
  void pull(Node& node, const SmallVector<Value, 1>& grads) {
    std::uint64_t needed = 0;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      needed |= std::uint64_t(static_cast<bool>(node.inputs[i].node)) << (i & 63);
    }
    SmallVector<Value, 4> saved_inputs;
    SmallVector<Value, 2> saved_outputs;
    for (const Saved& saved : node.saved_inputs) {
      saved_inputs.push_back(recomputed_.get(saved));
    }
    for (const Saved& saved : node.saved_outputs) {
      saved_outputs.push_back(recomputed_.get(saved));
    }
    OpCall call{.def = node.def,
                .attributes = node.attributes.get(),
                .inputs = {saved_inputs.data(), saved_inputs.size()},
                .outputs = {node.output_specs.data(), node.output_specs.size()},
                .donated = 0,
                .where = node.where};
    GradCall grad_call(call, {node.input_specs.data(), node.input_specs.size()},
                       {saved_outputs.data(), saved_outputs.size()}, {grads.data(), grads.size()},
                       needed);
    node.def->backward(grad_call);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      Value& result = grad_call.results()[i];
      if (node.inputs[i].node && result) {
        const TensorSpec& spec = node.input_specs[i];
        send(node.inputs[i], ops::sum_to(ops::cast(result, spec.dtype), spec.shape));
      }
    }
  }

  Gradients::Map& result_;
  Recomputed recomputed_;
  std::vector<Pending> entries_;
  std::unordered_map<Node*, std::size_t> positions_;
  std::priority_queue<Place> order_;
};

// The edge under which `leaf`'s gradient is kept: its own, or that of a level further in.
const Edge* edge_of(const Value& leaf, Gradients::Map& map) {
  for (Value value = leaf; is_autodiff(value.backend()); value = Value(tracked(value).inner())) {
    const Edge& edge = tracked(value).edge();
    if (edge.node && map.find(edge)) {
      return &edge;
    }
  }
  return nullptr;
}

}  // namespace
}  // namespace autodiff

class GradientWriter {
 public:
  static Gradients::Map& map(Gradients& gradients) { return *gradients.map_; }
};

Gradients autodiff::backward(const Value& root, Value seed) {
  if (!is_tracked(root)) {
    throw GradientError(
        "backward: the tensor depends on nothing that requires a gradient; call require_grad() on "
        "an input "
        "on a device with autodiff");
  }
  if (!seed) {
    if (root.num_elements() != 1) {
      throw GradientError(fmt::format(
          "backward: a tensor of shape {} needs a seed gradient; reduce it to one element with "
          "sum() or mean(), or give one",
          root.shape().str()));
    }
    seed = ops::full_like(tracked(root).inner(), 1);
  } else if (!(seed.shape() == root.shape())) {
    throw ShapeError(fmt::format("backward: the seed has shape {}, the tensor {}",
                                 seed.shape().str(), root.shape().str()));
  }
  Gradients gradients;
  Pass pass(GradientWriter::map(gradients));
  pass.send(tracked(root).edge(), std::move(seed));
  pass.run();
  return gradients;
}

Gradients::Gradients() : map_(new Map) {}
Gradients::Gradients(Gradients&& other) noexcept : map_(std::exchange(other.map_, nullptr)) {}
Gradients& Gradients::operator=(Gradients&& other) noexcept {
  std::swap(map_, other.map_);
  return *this;
}
Gradients::Gradients(const Gradients& other) : map_(new Map(*other.map_)) {}
Gradients& Gradients::operator=(const Gradients& other) {
  Gradients copy(other);
  std::swap(map_, copy.map_);
  return *this;
}
Gradients::~Gradients() { delete map_; }

Value Gradients::get(const Value& leaf) const {
  const autodiff::Edge* edge = autodiff::edge_of(leaf, *map_);
  return edge ? map_->find(*edge)->gradient : Value();
}

Value Gradients::remove(const Value& leaf) {
  const autodiff::Edge* edge = autodiff::edge_of(leaf, *map_);
  return edge ? std::move(map_->find(*edge)->gradient) : Value();
}

void Gradients::replace(const Value& leaf, Value gradient) {
  if (!autodiff::is_tracked(leaf)) {
    throw GradientError("Gradients::replace: the tensor is not tracked; call require_grad() first");
  }
  map_->set(autodiff::tracked(leaf).edge(), std::move(gradient));
}

void Gradients::accumulate(const Gradients& other) {
  for (const Map::Entry& entry : other.map_->entries) {
    if (!entry.gradient) {
      continue;
    }
    Map::Entry* mine = map_->find(entry.edge);
    if (mine && mine->gradient) {
      mine->gradient = autodiff::add(std::move(mine->gradient), entry.gradient);
    } else {
      map_->set(entry.edge, entry.gradient);
    }
  }
}

std::size_t Gradients::size() const {
  std::size_t count = 0;
  for (const Map::Entry& entry : map_->entries) {
    count += static_cast<bool>(entry.gradient);
  }
  return count;
}

}  // namespace sinter
