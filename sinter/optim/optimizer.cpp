// SPDX-License-Identifier: MIT OR Apache-2.0
// Optimizers: state, groups, and one multi-tensor call for each run of equal parameters.
#include "sinter/optim/optimizer.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/optim/optim.hpp"
#include "sinter/store/record.hpp"

namespace sinter::optim {
namespace {

constexpr std::size_t max_slots = 3;
constexpr std::int64_t max_steps = std::int64_t{1} << 53;  // a double counts that far

// What an optimizer remembers of one parameter: as many tensors as it has slots.
struct Slot {
  std::int64_t steps = 0;
  Value tensors[max_slots];
};

// Optimizers work under all autodiff.
Value plain(Value value) {
  while (value && is_autodiff(value.backend())) {
    value = value.backend().unwrap(value);
  }
  return value;
}

// A tied parameter's gradient counts once and a frozen one's not at all, in the norm too.
void keep_distinct(const std::vector<nn::NamedParam>& params, std::vector<Value>& gradients) {
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const nn::ParamBase& param = params[i].param;
    if (gradients[i] && (!param.is_require_grad() || !seen.insert(param.id()).second)) {
      gradients[i] = Value();
    }
    if (gradients[i] && !(gradients[i].shape() == param.shape())) {
      throw ShapeError(fmt::format("optimizer: parameter `{}` is {}, its gradient {}",
                                   params[i].name, param.shape().str(),
                                   gradients[i].shape().str()));
    }
  }
}

}  // namespace

struct Optimizer::Batch {
  double lr = 0;
  double weight_decay = 0;
  std::int64_t step = 1;
  std::vector<Value> params;
  std::vector<Value> gradients;
  std::vector<Value> slots[max_slots];
  std::vector<nn::ParamBase> handles;
  std::vector<Slot*> states;

  void add(const nn::ParamBase& param, Value gradient, Slot& state, std::size_t slot_count) {
    handles.push_back(param);
    states.push_back(&state);
    gradients.push_back(std::move(gradient));
    params.push_back(handles.back().take());
    for (std::size_t s = 0; s < slot_count; ++s) {
      slots[s].push_back(std::move(state.tensors[s]));
    }
  }
  // Puts parameters and state where they came from.
  void give_back(std::size_t slot_count) {
    for (std::size_t i = 0; i < handles.size(); ++i) {
      handles[i].put(std::move(params[i]));
      for (std::size_t s = 0; s < slot_count; ++s) {
        states[i]->tensors[s] = std::move(slots[s][i]);
      }
    }
  }
};

struct Optimizer::State final : RefCounted {
  std::vector<std::string> slots;
  double weight_decay = 0;
  GradientClipping clipping;
  std::vector<std::pair<ParamPredicate, GroupOptions>> groups;
  std::unordered_map<std::uint64_t, Slot> by_id;
};

Optimizer::Optimizer(std::vector<std::string> slots, double weight_decay,
                     const GradientClipping& clipping)
    : state_(make_ref<State>()) {
  state().slots = std::move(slots);
  state().weight_decay = weight_decay;
  state().clipping = clipping;
}
Optimizer::State& Optimizer::state() const { return static_cast<State&>(*state_); }
Optimizer::~Optimizer() = default;
Optimizer::Optimizer(Optimizer&&) noexcept = default;
Optimizer& Optimizer::operator=(Optimizer&&) noexcept = default;

void Optimizer::add_group(ParamPredicate match, const GroupOptions& options) {
  state().groups.emplace_back(std::move(match), options);
}

GroupOptions Optimizer::options_of(const nn::NamedParam& param) const {
  GroupOptions options;
  for (const auto& [match, group] : state().groups) {
    if (match(param)) {
      options = group;
    }
  }
  return options;
}

void Optimizer::step(double lr, const std::vector<nn::NamedParam>& params,
                     const Gradients& gradients) {
  std::vector<Value> list;
  list.reserve(params.size());
  for (const nn::NamedParam& named : params) {
    list.push_back(named.param.initialized() ? plain(gradients.get(named.param.value())) : Value());
  }
  step_all(lr, params, std::move(list));
}

void Optimizer::step(double lr, const std::vector<nn::NamedParam>& params,
                     const nn::ModuleGradients& gradients) {
  std::vector<Value> list;
  list.reserve(params.size());
  for (const nn::NamedParam& named : params) {
    list.push_back(plain(gradients.get(named.name)));
  }
  step_all(lr, params, std::move(list));
}

void Optimizer::step_all(double lr, const std::vector<nn::NamedParam>& params,
                         std::vector<Value> gradients) {
  keep_distinct(params, gradients);
  clip(gradients, state().clipping);
  const std::size_t slot_count = state().slots.size();
  using Key = std::tuple<double, double, std::int64_t, int, const void*>;
  std::map<Key, Batch> batches;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!gradients[i]) {
      continue;
    }
    const nn::ParamBase& param = params[i].param;
    const GroupOptions options = options_of(params[i]);
    Slot& slot = state().by_id[param.id()];
    const double scaled = lr * options.lr_scale;
    const double decay = options.weight_decay.value_or(state().weight_decay);
    Backend* backend = &gradients[i].backend();
    if (slot_count && !slot.tensors[0]) {
      const DType dtype = ops::state_dtype(param.dtype());
      for (std::size_t s = 0; s < slot_count; ++s) {
        slot.tensors[s] = ops::full(*backend, param.shape(), 0, dtype);
      }
    }
    const Key key{scaled, decay, slot.steps, static_cast<int>(param.dtype()), backend};
    Batch& batch = batches[key];
    batch.lr = scaled;
    batch.weight_decay = decay;
    batch.step = slot.steps + 1;
    batch.add(param, std::move(gradients[i]), slot, slot_count);
  }
  std::exception_ptr failure;
  for (auto& [key, batch] : batches) {
    try {
      if (!failure) {
        update(batch);
        for (Slot* slot : batch.states) {
          ++slot->steps;
        }
      }
    } catch (...) {
      failure = std::current_exception();
    }
    batch.give_back(slot_count);
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

template <class Record>
Record Optimizer::state_of(const std::vector<nn::NamedParam>& params) const {
  Record record;
  std::unordered_set<std::uint64_t> seen;
  for (const nn::NamedParam& named : params) {
    const auto found = state().by_id.find(named.param.id());
    if (found == state().by_id.end() || !seen.insert(named.param.id()).second) {
      continue;
    }
    const Slot& slot = found->second;
    record.add(named.name + ".step", HostData({}, std::initializer_list<std::int64_t>{slot.steps}));
    for (std::size_t s = 0; s < state().slots.size(); ++s) {
      if (slot.tensors[s]) {
        // As the parameter's own record, so that it fits whatever layout the parameter has.
        const Value tensor = named.param.turned_for_records(slot.tensors[s]);
        record.add(named.name + "." + state().slots[s], tensor.backend().read(tensor));
      }
    }
  }
  return record;
}

template store::Record Optimizer::state_of(const std::vector<nn::NamedParam>& params) const;

void Optimizer::load_state_of(const std::vector<nn::NamedParam>& params,
                              const store::Record& record) {
  std::unordered_map<std::uint64_t, Slot> loaded;
  for (const nn::NamedParam& named : params) {
    const std::string step_name = named.name + ".step";
    if (!record.contains(step_name)) {
      continue;
    }
    const HostData& steps = record.at(step_name);
    Slot slot;
    if (steps.num_elements() != 1 || steps.dtype() != DType::i64 || steps.int_at(0) < 0 ||
        steps.int_at(0) > max_steps) {
      throw FormatError(fmt::format("optimizer state: `{}` is no number of steps", step_name));
    }
    slot.steps = steps.int_at(0);
    Device device = named.param.device();
    while (device.is_autodiff()) {
      device = device.inner();
    }
    for (std::size_t s = 0; s < state().slots.size(); ++s) {
      const std::string name = named.name + "." + state().slots[s];
      if (!record.contains(name)) {
        throw FormatError(fmt::format(
            "optimizer state: there is no `{}`; was it saved by another optimizer?", name));
      }
      const HostData& data = record.at(name);
      const Shape expected = named.param.record_shape();
      if (!(data.shape() == expected)) {
        throw FormatError(fmt::format("optimizer state: `{}` is {}, the parameter's record {}",
                                      name, data.shape().str(), expected.str()));
      }
      slot.tensors[s] = named.param.turned_for_records(
          device.backend().from_data(data.cast(ops::state_dtype(named.param.dtype()))));
    }
    loaded[named.param.id()] = std::move(slot);
  }
  for (const nn::NamedParam& named : params) {
    state().by_id.erase(named.param.id());
  }
  state().by_id.merge(loaded);
}

ParamPredicate name_contains(std::string part) {
  return [part = std::move(part)](const nn::NamedParam& named) {
    return named.name.find(part) != std::string::npos;
  };
}
ParamPredicate rank_at_most(int rank) {
  return [rank](const nn::NamedParam& named) { return named.param.shape().rank() <= rank; };
}
ParamPredicate any_of(ParamPredicate a, ParamPredicate b) {
  return [a = std::move(a), b = std::move(b)](const nn::NamedParam& named) {
    return a(named) || b(named);
  };
}
ParamPredicate not_of(ParamPredicate a) {
  return [a = std::move(a)](const nn::NamedParam& named) { return !a(named); };
}

namespace {

std::vector<std::string> slots_of(const SgdConfig& config) {
  return config.momentum != 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{};
}
std::vector<std::string> slots_of(const AdamConfig& config) {
  std::vector<std::string> slots{"first", "second"};
  if (config.amsgrad) {
    slots.push_back("max_second");
  }
  return slots;
}

void check_beta(std::string_view name, double beta) {
  if (!(beta >= 0 && beta < 1)) {
    throw ArgumentError(fmt::format("Adam: `{}` must be in [0, 1), got {}", name, beta));
  }
}

}  // namespace

Sgd::Sgd(const SgdConfig& config)
    : Optimizer(slots_of(config), config.weight_decay, config.clipping), config_(config) {
  if (config.nesterov && (!(config.momentum > 0) || config.dampening != 0)) {
    throw ArgumentError("Sgd: nesterov needs momentum above 0 and no dampening");
  }
}

void Sgd::update(Batch& batch) const {
  ops::SgdStep op;
  op.lr = batch.lr;
  op.momentum = config_.momentum;
  op.dampening = config_.dampening;
  op.weight_decay = batch.weight_decay;
  op.nesterov = config_.nesterov;
  op.first = batch.step == 1;
  ops::sgd_step(op, batch.params, batch.gradients, batch.slots[0]);
}

Adam::Adam(const AdamConfig& config) : Adam(config, false) {}
Adam::Adam(const AdamConfig& config, bool decoupled)
    : Optimizer(slots_of(config), config.weight_decay, config.clipping),
      config_(config),
      decoupled_(decoupled) {
  check_beta("beta_1", config.beta_1);
  check_beta("beta_2", config.beta_2);
}

void Adam::update(Batch& batch) const {
  ops::AdamStep op;
  op.lr = batch.lr;
  op.beta1 = config_.beta_1;
  op.beta2 = config_.beta_2;
  op.eps = config_.epsilon;
  op.weight_decay = batch.weight_decay;
  op.step = batch.step;
  op.decoupled = decoupled_;
  op.amsgrad = config_.amsgrad;
  ops::adam_step(op, batch.params, batch.gradients, batch.slots[0], batch.slots[1], batch.slots[2]);
}

AdamW::AdamW(const AdamWConfig& config)
    : Adam({config.beta_1, config.beta_2, config.epsilon, config.weight_decay, config.amsgrad,
            config.clipping},
           true) {}

}  // namespace sinter::optim
