// SPDX-License-Identifier: MIT OR Apache-2.0
// Recording expressions.
#include "sinter/kernel/library/expression.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/kernel/library/formulas.hpp"
#include "sinter/ops/opcode.hpp"

namespace sinter::kernel {

namespace {

using dsl::Val;

bool is_cast(const OpDef& def) {
  return def.code == static_cast<int>(OpCode::cast) && def.variant == 0;
}

/// How a value of `dtype` lives between steps.
DType held_as(DType dtype) {
  return is_floating(dtype) && dtype != DType::f64 ? DType::f32 : dtype;
}

Val held(Val loaded) { return dsl::convert(loaded, held_as(loaded.type().dtype)); }

/// A value as formulas take it: floats of one width.
Val carried(Val value, DType width) {
  const DType own = value.type().dtype;
  if (own == DType::boolean) {
    const ir::Type type{width, value.type().lanes};
    return dsl::choose(value, Val::typed(type, 1), Val::typed(type, 0));
  }
  return own == width ? value : dsl::convert(value, width);
}

Val formula_step(const Expression& expression, const Expression::Step& step,
                 const std::vector<Val>& values) {
  DType width = DType::f32;
  for (const std::uint16_t arg : step.args) {
    if (expression.dtype_of(arg) == DType::f64) {
      width = DType::f64;
    }
  }
  SmallVector<Val, 4> args;
  for (const std::uint16_t arg : step.args) {
    args.push_back(carried(values[arg], width));
  }
  const Val result = formula_of(*step.def)(step.attributes, args.data());
  // A formula may give a constant, which has no type of its own yet.
  return result.is_literal() ? Val::typed({width, 1}, result.literal()) : result;
}

}  // namespace

bool joins_expressions(const OpDef& def, std::span<const DType> inputs, DType result) {
  if (is_cast(def)) {
    return !is_fp8(inputs[0]) && !is_fp8(result);
  }
  if (formula_of(def) == nullptr) {
    return false;
  }
  for (const DType dtype : inputs) {
    if (is_fp8(dtype) || !(is_floating(dtype) || dtype == DType::boolean)) {
      return false;
    }
  }
  return result == DType::boolean || (is_floating(result) && !is_fp8(result));
}

std::vector<Val> record_expression(const Expression& expression, std::span<const Val> inputs) {
  std::vector<Val> values;
  values.reserve(inputs.size() + expression.steps.size());
  for (const Val& input : inputs) {
    values.push_back(held(input));
  }
  for (const Expression::Step& step : expression.steps) {
    const Val value =
        is_cast(*step.def) ? values[step.args[0]] : formula_step(expression, step, values);
    values.push_back(dsl::convert(value, held_as(step.dtype)));
  }
  std::vector<Val> results;
  for (const std::uint16_t result : expression.results) {
    results.push_back(dsl::convert(values[result], expression.dtype_of(result)));
  }
  return results;
}

std::string to_key(const Expression& expression) {
  std::string key;
  for (const DType input : expression.inputs) {
    fmt::format_to(std::back_inserter(key), "{} ", name_of(input));
  }
  for (const Expression::Step& step : expression.steps) {
    fmt::format_to(std::back_inserter(key), ";{}{}", step.def->name, name_of(step.dtype));
    for (const std::uint16_t arg : step.args) {
      fmt::format_to(std::back_inserter(key), " {}", arg);
    }
    if (step.def->attributes.print) {
      step.def->attributes.print(step.attributes, key);
    }
  }
  key += '>';
  for (const std::uint16_t result : expression.results) {
    fmt::format_to(std::back_inserter(key), " {}", result);
  }
  return key;
}

}  // namespace sinter::kernel
