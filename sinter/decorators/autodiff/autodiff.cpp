// SPDX-License-Identifier: MIT OR Apache-2.0
// Recording: one execute() for all ops.
#include "sinter/decorators/autodiff/autodiff.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sinter/base/error.hpp"
#include "sinter/decorators/autodiff/make_autodiff.hpp"
#include "sinter/decorators/autodiff/node.hpp"

namespace sinter {
namespace autodiff {
namespace {

thread_local bool recording_disabled = false;

bool any_tracked(const OpCall& call) {
  if (recording_disabled) {
    return false;
  }
  return std::any_of(call.inputs.begin(), call.inputs.end(),
                     [](const Value& input) { return tracked(input).edge().node; });
}

bool any_floating(std::span<const TensorSpec> outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const TensorSpec& spec) { return is_floating(spec.dtype); });
}

[[noreturn]] void raise_no_gradient(const OpCall& call) {
  throw GradientError(fmt::format(
      "{}: this op has no gradient, and an input is tracked; detach() the input if none is wanted",
      describe(call)));
}

// The node of a call, but for what its gradient reads.
Ref<Node> make_node(const OpCall& call, std::span<const Value> inner) {
  Ref<Node> node = make_ref<Node>();
  node->def = call.def;
  node->attributes = OwnedAttributes(*call.def, call.attributes);
  node->where = call.where;
  node->inputs.reserve(inner.size());
  node->input_specs.reserve(inner.size());
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const Edge& edge = tracked(call.inputs[i]).edge();
    node->inputs.push_back(edge);
    node->input_specs.push_back({inner[i].shape(), inner[i].dtype()});
    if (edge.node) {
      node->depth = std::max(node->depth, edge.node->depth + 1);
    }
  }
  for (const TensorSpec& spec : call.outputs) {
    node->output_specs.push_back(spec);
  }
  return node;
}

std::size_t bytes_of(const Value& value) {
  return static_cast<std::size_t>(value.num_elements()) * size_of(value.dtype());
}

}  // namespace

NoGradScope::NoGradScope() : previous_(std::exchange(recording_disabled, true)) {}
NoGradScope::~NoGradScope() { recording_disabled = previous_; }

class AutodiffBackend final : public Backend {
 public:
  AutodiffBackend(Backend& inner, AutodiffOptions options) : inner_(inner), options_(options) {}

  std::string name() const override { return "autodiff(" + inner_.name() + ")"; }
  Backend* inner() override { return &inner_; }
  Value unwrap(const Value& value) override { return tracked(value).inner(); }
  Value wrap(const Value& value) override {
    return Value(make_ref<TrackedValue>(*this, value, Edge{}));
  }

  void execute(const OpCall& call, Outputs& outputs) override {
    bool record_call = any_tracked(call);
    if (record_call && !call.def->backward) {
      if (call.def->decompose) {
        call.def->decompose(call, outputs);
        return;
      }
      if (any_floating(call.outputs)) {
        raise_no_gradient(call);
      }
      record_call = false;
    }
    run(call, outputs, record_call);
  }

  bool supports(const OpDef& def, DType dtype) const override {
    return inner_.supports(def, dtype);
  }
  Value from_data(const HostData& data) override { return wrap(inner_.from_data(data)); }
  Value scalar(Scalar value, DType dtype) override { return wrap(inner_.scalar(value, dtype)); }
  HostData read(const Value& value) override { return inner_.read(tracked(value).inner()); }
  void sync() override { inner_.sync(); }
  void flush() override { inner_.flush(); }
  MemoryStats memory() const override { return inner_.memory(); }
  void trim() override { inner_.trim(); }
  Generator& generator() override { return inner_.generator(); }

 private:
  void run(const OpCall& call, Outputs& outputs, bool record_call) {
    SmallVector<Value, 4> inner;
    std::uint64_t donated = 0;
    inner.reserve(call.inputs.size());
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const bool last_handle = (call.donated >> i & 1) != 0 && call.inputs[i].unique();
      donated |= std::uint64_t(last_handle) << i;
      inner.push_back(last_handle ? tracked(call.inputs[i]).take_inner()
                                  : tracked(call.inputs[i]).inner());
    }
    const std::span<const Value> inputs(inner.data(), inner.size());
    Ref<Node> node;
    Ref<Recipe> recipe;
    if (record_call) {
      node = make_node(call, inputs);
      save_inputs(call, inputs, *node);
      recipe = make_recipe(call, inputs, *node);
    }
    OpCall inner_call = call;
    inner_call.inputs = inputs;
    inner_call.donated = donated;
    Outputs results;
    inner_.execute(inner_call, results);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const int index = static_cast<int>(i);
      std::shared_ptr<Slot> slot =
          recipe ? std::make_shared<Slot>(recipe, index, bytes_of(results[i])) : nullptr;
      if (node) {
        const bool reads = (call.def->saves.outputs >> i & 1) != 0;
        node->saved_outputs.push_back(reads ? save(results[i], slot) : Saved());
      }
      const bool follow =
          node && is_floating(results[i].dtype()) && (call.def->untracked_outputs >> i & 1) == 0;
      outputs.push_back(Value(make_ref<TrackedValue>(
          *this, std::move(results[i]), follow ? Edge{node, index} : Edge{}, std::move(slot))));
    }
  }

  void save_inputs(const OpCall& call, std::span<const Value> inner, Node& node) {
    node.saved_inputs.reserve(inner.size());
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const bool reads = (call.def->saves.inputs >> i & 1) != 0;
      node.saved_inputs.push_back(reads ? save(inner[i], tracked(call.inputs[i]).slot()) : Saved());
    }
  }

  // What has no recipe is kept; under a budget, what has one is kept as far as the budget goes.
  Saved save(const Value& value, const std::shared_ptr<Slot>& slot) {
    if (!slot) {
      return {value, nullptr};
    }
    if (options_.checkpointing == Checkpointing::budget && !slot->value()) {
      static thread_local std::map<const AutodiffBackend*, Ledger> ledgers;
      ledgers[this].keep(slot, value, options_.budget);
    }
    return {Value(), slot};
  }

  Ref<Recipe> make_recipe(const OpCall& call, std::span<const Value> inner, const Node& node) {
    if (options_.checkpointing == Checkpointing::keep ||
        (options_.checkpointing == Checkpointing::balanced && !call.def->cheap)) {
      return {};
    }
    Ref<Recipe> recipe = make_ref<Recipe>();
    recipe->def = call.def;
    recipe->attributes = OwnedAttributes(*call.def, call.attributes);
    recipe->depth = node.depth;
    recipe->where = call.where;
    recipe->backend = &inner_;
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const std::shared_ptr<Slot>& slot = tracked(call.inputs[i]).slot();
      recipe->inputs.push_back(slot ? Saved{Value(), slot} : Saved{inner[i], nullptr});
    }
    return recipe;
  }

  Backend& inner_;
  AutodiffOptions options_;
};

Value require_grad(const Value& value) {
  Backend& backend = value.backend();
  if (!is_autodiff(backend)) {
    throw GradientError(fmt::format(
        "require_grad: the device `{}` has no autodiff; create the tensor on device.autodiff()",
        backend.name()));
  }
  if (!is_floating(value.dtype())) {
    throw GradientError(
        fmt::format("require_grad: only floating tensors have gradients, this one is {}",
                    name_of(value.dtype())));
  }
  if (is_tracked(value)) {
    return value;
  }
  Value inner = tracked(value).inner();
  if (is_autodiff(inner.backend())) {
    inner = require_grad(inner);
  }
  return Value(make_ref<TrackedValue>(backend, std::move(inner), Edge{make_ref<Node>(), 0}));
}

bool is_tracked(const Value& value) {
  return is_autodiff(value.backend()) && static_cast<bool>(tracked(value).edge().node);
}

bool is_leaf(const Value& value) { return is_tracked(value) && !tracked(value).edge().node->def; }

Value detach(const Value& value) {
  if (!is_autodiff(value.backend())) {
    return value;
  }
  return value.backend().wrap(detach(tracked(value).inner()));
}

void retain_grad(const Value& value) {
  if (is_tracked(value)) {
    tracked(value).edge().node->retained = true;
  }
}

void register_hook(const Value& value, Ref<Hook> hook) {
  if (!is_tracked(value)) {
    throw GradientError("register_hook: the tensor is not tracked; call require_grad() first");
  }
  tracked(value).edge().node->hooks.push_back(std::move(hook));
}

}  // namespace autodiff

std::unique_ptr<Backend> make_autodiff(Backend& inner, AutodiffOptions options) {
  return std::make_unique<autodiff::AutodiffBackend>(inner, options);
}

bool is_autodiff(const Backend& backend) {
  return typeid(backend) == typeid(autodiff::AutodiffBackend);
}

}  // namespace sinter
