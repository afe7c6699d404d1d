// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules of optimizer steps, and the calls that give up the old tensors.
#include "sinter/ops/optim/optim.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::ops {
namespace {

constexpr std::size_t donated_bits = 64;  // OpCall::donated has one bit for each input

// Inputs come in `lists` lists of one length: parameters, gradients, then state.
std::size_t check_lists(const OpCall& call, std::size_t lists) {
  const std::string_view op = call.def->name;
  const std::size_t n = call.inputs.size() / lists;
  if (n == 0 || call.inputs.size() % lists != 0) {
    throw ArgumentError(fmt::format("{}: expected {} lists of one length, got {} tensors", op,
                                    lists, call.inputs.size()));
  }
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Value& parameter = call.inputs[i % n];
    const Value& input = call.inputs[i];
    check_domain(op, Domain::floating, input.dtype());
    if (!(input.shape() == parameter.shape())) {
      throw ShapeError(fmt::format("{}: parameter {} is {}, but its {} is {}", op, i % n,
                                   parameter.shape().str(), i < 2 * n ? "gradient" : "state",
                                   input.shape().str()));
    }
    if (i >= 2 * n && input.dtype() != state_dtype(parameter.dtype())) {
      throw DTypeError(fmt::format(
          "{}: the state of a {} parameter must be {}, got {}", op, name_of(parameter.dtype()),
          name_of(state_dtype(parameter.dtype())), name_of(input.dtype())));
    }
  }
  return n;
}

void push_updated(const OpCall& call, Specs& outputs, std::size_t n) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (i < n || i >= 2 * n) {
      outputs.push_back({call.inputs[i].shape(), call.inputs[i].dtype()});
    }
  }
}

// Runs a step over the tensors that have a gradient, in calls of few enough inputs to donate each.
// lists[0] are the parameters, the rest is state.
template <class Op>
void run_step(const Op& op, std::span<std::vector<Value>* const> lists,
              const std::vector<Value>& gradients) {
  const std::size_t per_tensor = lists.size() + 1;
  std::vector<std::size_t> present;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i]) {
      present.push_back(i);
    }
  }
  const std::size_t chunk = donated_bits / per_tensor;
  for (std::size_t start = 0; start < present.size(); start += chunk) {
    const std::size_t n = std::min(chunk, present.size() - start);
    std::vector<Value> inputs;
    std::uint64_t donated = 0;
    for (std::size_t l = 0; l < per_tensor; ++l) {
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t i = present[start + k];
        if (l == 1) {
          inputs.push_back(gradients[i]);
        } else {
          donated |= std::uint64_t(1) << inputs.size();
          inputs.push_back(std::move((*lists[l == 0 ? 0 : l - 1])[i]));
        }
      }
    }
    Outputs outputs;
    try {
      outputs = sinter::apply(op, inputs, donated);
    } catch (...) {  // nothing is lost when a rule refuses the call
      for (std::size_t l = 0; l < lists.size(); ++l) {
        for (std::size_t k = 0; k < n; ++k) {
          (*lists[l])[present[start + k]] = std::move(inputs[(l == 0 ? 0 : l + 1) * n + k]);
        }
      }
      throw;
    }
    for (std::size_t l = 0; l < lists.size(); ++l) {
      for (std::size_t k = 0; k < n; ++k) {
        (*lists[l])[present[start + k]] = std::move(outputs[l * n + k]);
      }
    }
  }
}

}  // namespace

void SgdStep::infer(const OpCall& call, Specs& outputs) {
  push_updated(call, outputs, check_lists(call, call.as<SgdStep>().momentum != 0 ? 3 : 2));
}
void SgdStep::samples(SampleSink& sink) {
  SgdStep op;
  op.weight_decay = 0.1;
  sink.add(op, {value_sample({3, 4}), value_sample({5}), value_sample({3, 4}), value_sample({5})});
}

void AdamStep::infer(const OpCall& call, Specs& outputs) {
  const auto& op = call.as<AdamStep>();
  if (op.step < 1) {
    throw ArgumentError(fmt::format("{}: steps count from 1, got {}", info.name, op.step));
  }
  push_updated(call, outputs, check_lists(call, op.amsgrad ? 5 : 4));
}
void AdamStep::samples(SampleSink& sink) {
  AdamStep op;
  op.step = 3;
  op.weight_decay = 0.1;
  op.decoupled = true;
  const SampleInput x = value_sample({3, 7});
  const SampleInput second = value_sample({3, 7}, 0.1, 2);
  sink.add(op, {x, x, x, second});
}

void SumSquares::infer(const OpCall& call, Specs& outputs) {
  DType dtype = DType::f32;
  for (const Value& input : call.inputs) {
    check_domain(info.name, info.domain, input.dtype());
    dtype = input.dtype() == DType::f64 ? DType::f64 : dtype;
  }
  outputs.push_back({Shape{}, dtype});
}
void SumSquares::samples(SampleSink& sink) {
  sink.add(SumSquares{}, {value_sample({3, 4}), value_sample({5})});
}

void ScaleAll::infer(const OpCall& call, Specs& outputs) {
  if (call.inputs[0].num_elements() != 1) {
    throw ShapeError(fmt::format("scale_all: the factor must be one number, got {}",
                                 call.inputs[0].shape().str()));
  }
  for (const Value& input : call.inputs.subspan(1)) {
    check_domain(info.name, info.domain, input.dtype());
    outputs.push_back({input.shape(), input.dtype()});
  }
}
void ScaleAll::samples(SampleSink& sink) {
  sink.add(ScaleAll{}, {value_sample({}), value_sample({3, 4}), value_sample({5})});
}

void sgd_step(const SgdStep& op, std::vector<Value>& parameters,
              const std::vector<Value>& gradients, std::vector<Value>& buffers) {
  std::vector<Value>* const lists[] = {&parameters, &buffers};
  run_step(op, std::span(lists, op.momentum != 0 ? 2 : 1), gradients);
}
void adam_step(const AdamStep& op, std::vector<Value>& parameters,
               const std::vector<Value>& gradients, std::vector<Value>& first,
               std::vector<Value>& second, std::vector<Value>& max_second) {
  std::vector<Value>* const lists[] = {&parameters, &first, &second, &max_second};
  run_step(op, std::span(lists, op.amsgrad ? 4 : 3), gradients);
}

Value global_norm(const std::vector<Value>& tensors) {
  std::vector<Value> present;
  for (const Value& tensor : tensors) {
    if (tensor) {
      present.push_back(tensor);
    }
  }
  if (present.empty()) {
    throw ArgumentError("global_norm: there is no tensor to measure");
  }
  return sqrt(sinter::apply(SumSquares{}, present)[0]);
}

void scale_all(const Value& factor, std::vector<Value>& tensors) {
  std::vector<std::size_t> places;
  std::vector<Value> inputs{factor};
  std::uint64_t donated = 0;
  const auto flush = [&] {
    if (places.empty()) {
      return;
    }
    Outputs outputs = sinter::apply(ScaleAll{}, inputs, donated);
    for (std::size_t k = 0; k < places.size(); ++k) {
      tensors[places[k]] = std::move(outputs[k]);
    }
    places.clear();
    inputs.assign(1, factor);
    donated = 0;
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i]) {
      donated |= std::uint64_t(1) << inputs.size();
      inputs.push_back(std::move(tensors[i]));
      places.push_back(i);
      if (inputs.size() == donated_bits) {
        flush();
      }
    }
  }
  flush();
}

Value clip_global_norm(std::vector<Value>& tensors, double max_norm) {
  const Value norm = global_norm(tensors);
  const Value limit = scalar_like(norm, max_norm);
  // NaN norms are not `<=`, so they reach the tensors instead of hiding.
  const Value factor = where(less_equal(norm, limit), scalar_like(norm, 1), div(limit, norm));
  scale_all(factor, tensors);
  return norm;
}

}  // namespace sinter::ops
