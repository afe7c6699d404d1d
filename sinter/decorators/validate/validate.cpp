// SPDX-License-Identifier: MIT OR Apache-2.0
// Checking every call of another backend.
#include "sinter/decorators/validate/validate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "sinter/base/error.hpp"

namespace sinter {
namespace {

// A value of the checked backend, held by its own handle so that donation is seen here too.
class ValidatedValue final : public ValueImpl {
 public:
  ValidatedValue(Backend& backend, Value inner)
      : ValueImpl(backend, inner.shape(), inner.dtype()), inner_(std::move(inner)) {}
  const Value& inner() const { return inner_; }

 private:
  Value inner_;
};

const Value& inner_of(const Value& value) { return value.as<ValidatedValue>().inner(); }

bool has_nan(const HostData& data) {
  if (!is_floating(data.dtype())) {
    return false;
  }
  for (const double x : data.to_doubles()) {
    if (std::isnan(x)) {
      return true;
    }
  }
  return false;
}

class ValidateBackend final : public Backend {
 public:
  explicit ValidateBackend(Backend& inner) : inner_(inner) {}

  std::string name() const override { return "validate(" + inner_.name() + ")"; }
  Backend* inner() override { return &inner_; }
  Value unwrap(const Value& value) override { return inner_of(value); }
  Value wrap(const Value& value) override { return Value(make_ref<ValidatedValue>(*this, value)); }

  void execute(const OpCall& call, Outputs& outputs) override {
    std::vector<Value> inputs;
    std::vector<HostData> before;
    for (const Value& input : call.inputs) {
      inputs.push_back(inner_of(input));
      before.push_back(inner_.read(inputs.back()));
    }
    OpCall inner_call = call;
    inner_call.inputs = inputs;
    // Every input is held here, so nothing may be overwritten, whatever the caller gave up.
    Outputs results;
    inner_.execute(inner_call, results);
    check_inputs(call, inputs, before);
    check_outputs(call, results, before);
    for (Value& result : results) {
      outputs.push_back(wrap(result));
    }
  }

  bool supports(const OpDef& def, DType dtype) const override {
    return inner_.supports(def, dtype);
  }
  Value from_data(const HostData& data) override { return wrap(inner_.from_data(data)); }
  Value scalar(Scalar value, DType dtype) override { return wrap(inner_.scalar(value, dtype)); }
  HostData read(const Value& value) override { return inner_.read(inner_of(value)); }
  void sync() override { inner_.sync(); }
  void flush() override { inner_.flush(); }
  MemoryStats memory() const override { return inner_.memory(); }
  void trim() override { inner_.trim(); }
  Generator& generator() override { return inner_.generator(); }

 private:
  void check_inputs(const OpCall& call, const std::vector<Value>& inputs,
                    const std::vector<HostData>& before) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!(inner_.read(inputs[i]) == before[i])) {
        throw InternalError(
            fmt::format("validate: {} on `{}` changed its input {}, which has a live handle",
                        describe(call), inner_.name(), i));
      }
    }
  }

  void check_outputs(const OpCall& call, const Outputs& results,
                     const std::vector<HostData>& inputs) {
    if (results.size() != call.outputs.size()) {
      throw InternalError(fmt::format("validate: {} on `{}` gave {} outputs, its rule says {}",
                                      describe(call), inner_.name(), results.size(),
                                      call.outputs.size()));
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const TensorSpec& spec = call.outputs[i];
      if (!(results[i].shape() == spec.shape) || results[i].dtype() != spec.dtype) {
        throw InternalError(
            fmt::format("validate: output {} of {} on `{}` is {} {}, its rule says {} {}", i,
                        describe(call), inner_.name(), results[i].shape().str(),
                        name_of(results[i].dtype()), spec.shape.str(), name_of(spec.dtype)));
      }
    }
    for (const HostData& input : inputs) {
      if (has_nan(input)) {
        return;
      }
    }
    for (const Value& result : results) {
      if (has_nan(inner_.read(result))) {
        const std::string_view file = call.where.file_name();
        throw RuntimeError(
            fmt::format("validate: {} made NaN from inputs without one (called at {}:{})",
                        describe(call), file.substr(file.rfind('/') + 1), call.where.line()));
      }
    }
  }

  Backend& inner_;
};

}  // namespace

std::unique_ptr<Backend> make_validate(Backend& inner) {
  return std::make_unique<ValidateBackend>(inner);
}

}  // namespace sinter
