// SPDX-License-Identifier: MIT OR Apache-2.0
// Gradients of every op: against central differences in f64 on the reference, against the reference
// on the device under test, and of second order.
#include <algorithm>
#include <cmath>

#include "sinter/base/error.hpp"
#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/ops/functions.hpp"
#include "suite.hpp"

namespace sinter::conformance {
namespace {

bool takes_gradient(const SampleInput& sample) {
  return sample.role == SampleInput::Role::value || sample.role == SampleInput::Role::distinct;
}

// Fixed weights make one number of all floating outputs, so that every element's gradient differs.
Value weighted_sum(Backend& backend, const OpDef& def, const Outputs& outputs) {
  Value total;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Value& output = outputs[k];
    if (!is_floating(output.dtype()) || (def.untracked_outputs >> k & 1) != 0) {
      continue;
    }
    HostData weights(output.shape(), DType::f64);
    auto elements = weights.as<double>();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = 0.5 + 0.25 * std::sin(1.7 * static_cast<double>(i) + 0.3);
    }
    const Value term = ops::sum(ops::mul(output, backend.from_data(weights.cast(output.dtype()))));
    total = total ? ops::add(total, term) : term;
  }
  return total;
}

Value loss_of(const Case& c, Backend& backend, const std::vector<Value>& inputs) {
  return weighted_sum(
      backend, *c.def,
      execute(*c.def, c.attributes.get(), inputs, 0, SourceLoc::current(), &backend));
}

std::vector<HostData> make_inputs(const Case& c) {
  std::seed_seq seed{c.def->code, c.number, 11};
  std::mt19937_64 random(seed);
  std::vector<HostData> inputs;
  for (const SampleInput& sample : c.inputs) {
    inputs.push_back(make_data(sample, DType::f64, random));
  }
  return inputs;
}

double loss_at(const Case& c, const std::vector<HostData>& inputs) {
  Backend& backend = Device::reference().backend();
  std::vector<Value> values;
  for (const HostData& data : inputs) {
    values.push_back(backend.from_data(data));
  }
  return backend.read(loss_of(c, backend, values)).at(0);
}

// Gradients on `device` with autodiff, of the inputs that take one; an absent gradient counts as
// zeros.
std::vector<HostData> gradients_on(const Case& c, Device device,
                                   const std::vector<HostData>& inputs,
                                   LayoutKind kind = LayoutKind::contiguous) {
  Backend& backend = device.autodiff().backend();
  std::vector<Value> leaves;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value value = place(backend, inputs[i], kind);
    leaves.push_back(takes_gradient(c.inputs[i]) ? autodiff::require_grad(value) : value);
  }
  const Value loss = loss_of(c, backend, leaves);
  const Gradients gradients = autodiff::is_tracked(loss) ? autodiff::backward(loss) : Gradients();
  std::vector<HostData> out;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Value gradient = takes_gradient(c.inputs[i]) ? gradients.get(leaves[i]) : Value();
    out.push_back(gradient ? gradient.backend().read(gradient)
                           : HostData(inputs[i].shape(), inputs[i].dtype()));
  }
  return out;
}

bool floating_ok(const Case& c) {
  return std::any_of(c.inputs.begin(), c.inputs.end(), takes_gradient) &&
         !(c.def->elementwise && !c.def->elementwise->f64);
}

// The first output's dtype when the inputs are f64; what is not floating has no gradient.
DType output_dtype(const Case& c, const std::vector<HostData>& inputs) {
  Backend& backend = Device::reference().backend();
  std::vector<Value> values;
  for (const HostData& data : inputs) {
    values.push_back(backend.from_data(data));
  }
  return execute(*c.def, c.attributes.get(), values)[0].dtype();
}

bool differentiable(const OpDef& def) { return def.backward || def.decompose; }

void check_finite_differences(const Case& c, std::vector<HostData> inputs) {
  const std::vector<HostData> gradients = gradients_on(c, Device::reference(), inputs);
  constexpr double h = 1e-5;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!takes_gradient(c.inputs[i])) {
      continue;
    }
    auto elements = inputs[i].as<double>();
    for (std::size_t k = 0; k < elements.size(); ++k) {
      const double x = elements[k];
      elements[k] = x + h;
      const double above = loss_at(c, inputs);
      elements[k] = x - h;
      const double below = loss_at(c, inputs);
      elements[k] = x;
      const double expected = (above - below) / (2 * h);
      const double got = gradients[i].at(static_cast<std::int64_t>(k));
      ASSERT_NEAR(got, expected, 2e-6 * std::max(1.0, std::fabs(expected)))
          << c.def->name << " case " << c.number << ": gradient of input " << i << ", element " << k
          << " at " << x;
    }
  }
}

void check_device_gradients(const Case& c, const std::vector<HostData>& inputs, DType dtype) {
  std::vector<HostData> narrow;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    narrow.push_back(takes_gradient(c.inputs[i]) ? inputs[i].cast(dtype) : inputs[i]);
  }
  const std::vector<HostData> expected = gradients_on(c, Device::reference(), narrow);
  for (int k = 0; k < (full_sweep() ? static_cast<int>(LayoutKind::count) : 1); ++k) {
    const auto kind = static_cast<LayoutKind>(k);
    const std::vector<HostData> got = gradients_on(c, device_under_test(), narrow, kind);
    count_case();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_LE(relative_error(got[i], expected[i]),
                tolerance_of(dtype, std::max(1e-5, 4 * c.def->notes.tolerance)))
          << c.def->name << " case " << c.number << ": gradient of input " << i << " in "
          << name_of(dtype) << ", " << name_of(kind);
    }
  }
}

// d/dx of sum(gradient²), by stacking autodiff, against central differences of it.
void check_second_order(const Case& c, std::vector<HostData> inputs) {
  const auto penalty = [&](const std::vector<HostData>& at) {
    double total = 0;
    const std::vector<HostData> gradients = gradients_on(c, Device::reference(), at);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      for (const double g : gradients[i].to_doubles()) {
        total += g * g;
      }
    }
    return total;
  };
  Backend& inner = Device::reference().autodiff().backend();
  Backend& outer = Device::reference().autodiff().autodiff().backend();
  std::vector<Value> leaves;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value value = outer.from_data(inputs[i]);
    leaves.push_back(takes_gradient(c.inputs[i]) ? autodiff::require_grad(value) : value);
  }
  const Value loss = loss_of(c, outer, leaves);
  if (!autodiff::is_tracked(loss)) {
    return;
  }
  const Gradients first = autodiff::backward(loss);
  Value total = inner.scalar(0.0, DType::f64);
  for (const Value& leaf : leaves) {
    if (const Value gradient = first.get(leaf)) {
      total = ops::add(total, ops::sum(ops::square(gradient)));
    }
  }
  const Gradients second = autodiff::is_tracked(total) ? autodiff::backward(total) : Gradients();
  constexpr double h = 1e-5;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!takes_gradient(c.inputs[i])) {
      continue;
    }
    const Value gradient = second.get(outer.unwrap(leaves[i]));
    const HostData got =
        gradient ? gradient.backend().read(gradient) : HostData(inputs[i].shape(), DType::f64);
    auto elements = inputs[i].as<double>();
    for (std::size_t k = 0; k < elements.size(); k += 1 + elements.size() / 6) {
      const double x = elements[k];
      elements[k] = x + h;
      const double above = penalty(inputs);
      elements[k] = x - h;
      const double below = penalty(inputs);
      elements[k] = x;
      const double expected = (above - below) / (2 * h);
      ASSERT_NEAR(got.at(static_cast<std::int64_t>(k)), expected,
                  1e-4 * std::max(1.0, std::fabs(expected)))
          << c.def->name << " case " << c.number << ": second gradient of input " << i
          << ", element " << k;
    }
  }
}

void check_gradients(const OpDef& def) {
  for (const Case& c : cases_of(def)) {
    if (!floating_ok(c)) {
      continue;
    }
    const std::vector<HostData> inputs = make_inputs(c);
    const DType dtype = output_dtype(c, inputs);
    if (!is_floating(dtype)) {
      continue;
    }
    if (!differentiable(def)) {
      EXPECT_THROW((void)gradients_on(c, Device::reference(), inputs), GradientError)
          << def.name << " has no gradient, and a tracked input must say so";
      continue;
    }
    if (dtype == DType::f64) {  // a narrower result rounds the differences away
      check_finite_differences(c, inputs);
    }
    check_device_gradients(c, inputs, DType::f64);
    check_device_gradients(c, inputs, DType::f32);
    if (full_sweep()) {
      check_device_gradients(c, inputs, DType::f16);
      check_device_gradients(c, inputs, DType::bf16);
    }
  }
}

}  // namespace

void add_gradient_tests() {
  for (const OpDef* def : all_ops()) {
    const std::string name(def->name);
    add_test("ConformanceGradient", name, [def] { check_gradients(*def); });
    if (differentiable(*def)) {
      add_test("ConformanceSecondOrder", name, [def] {
        for (const Case& c : cases_of(*def)) {
          if (floating_ok(c) && output_dtype(c, make_inputs(c)) == DType::f64) {
            check_second_order(c, make_inputs(c));
          }
        }
      });
    }
  }
}

}  // namespace sinter::conformance
