// SPDX-License-Identifier: MIT OR Apache-2.0
// Checking and dispatching a call.
#include "sinter/graph/op_call.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/graph/backend.hpp"

namespace sinter {
namespace {

// Finds the backend of a call; all inputs must share it.
Backend& common_backend(const OpDef& def, std::span<const Value> inputs, Backend* fallback) {
  if (inputs.empty()) {
    SINTER_ASSERT(fallback != nullptr);
    return *fallback;
  }
  for (const Value& input : inputs) {
    if (!input) {
      detail::raise_unset(def.name);
    }
  }
  Backend& backend = inputs[0].backend();
  for (const Value& input : inputs.subspan(1)) {
    if (&input.backend() != &backend) {
      throw DeviceMismatchError(fmt::format(
          "{}: the inputs live on different devices, `{}` and `{}`; move one with to_device",
          def.name, backend.name(), input.backend().name()));
    }
  }
  return backend;
}

std::string located(const Error& error, const OpCall& call) {
  const std::string_view file = call.where.file_name();
  if (file.empty()) {
    return error.what();  // the caller gave no place
  }
  return fmt::format("{} (called at {}:{})", error.what(), file.substr(file.rfind('/') + 1),
                     call.where.line());
}

// Runs the op's rule; what it throws gets the caller's place.
void infer_outputs(const OpCall& call, Specs& specs) {
  try {
    call.def->infer(call, specs);
  } catch (const ShapeError& error) {
    throw ShapeError(located(error, call));
  } catch (const DTypeError& error) {
    throw DTypeError(located(error, call));
  } catch (const IndexError& error) {
    throw IndexError(located(error, call));
  } catch (const ArgumentError& error) {
    throw ArgumentError(located(error, call));
  }
}

}  // namespace

std::string describe(const OpCall& call) {
  std::string text(call.def->name);
  text += '(';
  for (const Value& input : call.inputs) {
    text += fmt::format("{}{} {}", text.back() == '(' ? "" : ", ", input.shape().str(),
                        name_of(input.dtype()));
  }
  if (call.def->attributes.print) {
    call.def->attributes.print(call.attributes, text);
  }
  return text + ')';
}

Outputs execute(const OpDef& def, const void* attributes, std::span<const Value> inputs,
                std::uint64_t donated, SourceLoc where, Backend* backend) {
  OpCall call{.def = &def,
              .attributes = attributes,
              .inputs = inputs,
              .outputs = {},
              .donated = donated,
              .where = where};
  Backend& target = common_backend(def, inputs, backend);
  Specs specs;
  infer_outputs(call, specs);
  call.outputs = {specs.data(), specs.size()};
  Outputs outputs;
  target.execute(call, outputs);
  return outputs;
}

}  // namespace sinter
