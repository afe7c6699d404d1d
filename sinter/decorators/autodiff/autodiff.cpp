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

// The node of a call whose inner inputs are `inner`; outputs are saved once they exist.
Ref<Node> record(const OpCall& call, std::span<const Value> inner) {
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
    node->saved_inputs.push_back((call.def->saves.inputs >> i & 1) != 0 ? inner[i] : Value());
    if (edge.node) {
      node->depth = std::max(node->depth, edge.node->depth + 1);
    }
  }
  for (const TensorSpec& spec : call.outputs) {
    node->output_specs.push_back(spec);
  }
  return node;
}

}  // namespace

NoGradScope::NoGradScope() : previous_(std::exchange(recording_disabled, true)) {}
NoGradScope::~NoGradScope() { recording_disabled = previous_; }

class AutodiffBackend final : public Backend {
 public:
  explicit AutodiffBackend(Backend& inner) : inner_(inner) {}

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

  bool supports(const OpDef& def, DType dtype) const override { return inner_.supports(def, dtype); }
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
      inner.push_back(last_handle ? tracked(call.inputs[i]).take_inner() : tracked(call.inputs[i]).inner());
    }
    const std::span<const Value> inputs(inner.data(), inner.size());
    Ref<Node> node = record_call ? record(call, inputs) : Ref<Node>();
    OpCall inner_call = call;
    inner_call.inputs = inputs;
    inner_call.donated = donated;
    Outputs results;
    inner_.execute(inner_call, results);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const bool follow = node && is_floating(results[i].dtype()) &&
                          (call.def->untracked_outputs >> i & 1) == 0;
      if (node) {
        node->saved_outputs.push_back((call.def->saves.outputs >> i & 1) != 0 ? results[i] : Value());
      }
      outputs.push_back(Value(make_ref<TrackedValue>(
          *this, std::move(results[i]), follow ? Edge{node, static_cast<int>(i)} : Edge{})));
    }
  }

  Backend& inner_;
};

Value require_grad(const Value& value) {
  Backend& backend = value.backend();
  if (!is_autodiff(backend)) {
    throw GradientError(fmt::format(
        "require_grad: the device `{}` has no autodiff; create the tensor on device.autodiff()",
        backend.name()));
  }
  if (!is_floating(value.dtype())) {
    throw GradientError(fmt::format("require_grad: only floating tensors have gradients, this one is {}",
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

std::unique_ptr<Backend> make_autodiff(Backend& inner) {
  return std::make_unique<autodiff::AutodiffBackend>(inner);
}

bool is_autodiff(const Backend& backend) {
  return typeid(backend) == typeid(autodiff::AutodiffBackend);
}

}  // namespace sinter
