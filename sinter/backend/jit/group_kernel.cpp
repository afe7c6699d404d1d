// SPDX-License-Identifier: MIT OR Apache-2.0
// Merging dims, and the key of a plan.
#include "sinter/backend/jit/group_kernel.hpp"

#include <algorithm>
#include <string>

#include "sinter/backend/host/host_backend.hpp"
#include "sinter/base/hash.hpp"

namespace sinter::backend::jit {

namespace {

using Strides = SmallVector<std::int64_t, 6>;

/// Strides of a value along the dims of `shape` that it is broadcast to; 0 where it repeats.
Strides strides_along(const Value& value, const Shape& shape) {
  const Dims& own = host(value).strides();
  const int missing = shape.rank() - value.rank();
  Strides strides;
  for (int d = 0; d < shape.rank(); ++d) {
    strides.push_back(d < missing || value.shape()[d - missing] == 1 ? 0 : own[d - missing]);
  }
  return strides;
}

/// The dims of a shape, merged where every input and the dense result carry on from one to the
/// next; innermost first. With `single`, after an innermost dim of one element.
struct Merged {
  SmallVector<std::int64_t, 6> sizes;
  std::vector<Strides> strides;

  Merged(const Shape& shape, const std::vector<Strides>& inputs, bool single)
      : strides(inputs.size()) {
    if (single) {
      sizes.push_back(1);
      for (Strides& own : strides) {
        own.push_back(0);
      }
    }
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (shape[d] == 1) {
        continue;
      }
      const auto at = static_cast<std::size_t>(d);
      const bool carries = sizes.size() > (single ? 1u : 0u) && carries_on(inputs, at);
      if (carries) {
        sizes[sizes.size() - 1] *= shape[d];
      } else {
        sizes.push_back(shape[d]);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          strides[i].push_back(inputs[i][at]);
        }
      }
    }
    if (sizes.empty()) {
      sizes.push_back(1);
      for (Strides& own : strides) {
        own.push_back(0);
      }
    }
  }

  [[nodiscard]] bool carries_on(const std::vector<Strides>& inputs, std::size_t dim) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i][dim] != strides[i][strides[i].size() - 1] * sizes[sizes.size() - 1]) {
        return false;
      }
    }
    return true;
  }
};

/// Whether rows can be read as vectors: the innermost dim that is one at all decides.
bool walkable(const Strides& strides, const Shape& shape) {
  int inner = shape.rank() - 1;
  while (inner > 0 && shape[inner] == 1) {
    --inner;
  }
  return inner < 0 ||
         (strides[static_cast<std::size_t>(inner)] <= 1 &&
          std::all_of(strides.begin(), strides.end(), [](std::int64_t s) { return s >= 0; }));
}

std::vector<Strides> strides_of(const Group& group, const Shape& shape) {
  std::vector<Strides> strides;
  for (const Value& input : group.inputs) {
    strides.push_back(strides_along(input, shape));
  }
  return strides;
}

kernel::Expression expression_of(const Group& group) {
  kernel::Expression expression;
  for (const Value& input : group.inputs) {
    expression.inputs.push_back(input.dtype());
  }
  for (std::size_t c = 0; c < group.calls.size(); ++c) {
    const Group::Call& call = group.calls[c];
    kernel::Expression::Step step{call.def, call.attributes, {}, group.specs[c].dtype};
    for (const std::uint32_t arg : call.args) {
      step.args.push_back(static_cast<std::uint16_t>(arg));
    }
    expression.steps.push_back(std::move(step));
  }
  for (const std::uint32_t result : group.results) {
    expression.results.push_back(static_cast<std::uint16_t>(result));
  }
  return expression;
}

std::vector<std::uint64_t> key_of(const kernel::ElementwiseProblem& problem) {
  std::vector<std::uint64_t> key{static_cast<std::uint64_t>(problem.outer),
                                 std::uint64_t{problem.offsets}, problem.expression.inputs.size()};
  for (std::size_t i = 0; i < problem.walks.size(); ++i) {
    key.push_back(static_cast<std::uint64_t>(problem.expression.inputs[i]) << 2 |
                  std::uint64_t{problem.walks[i].along} << 1 | problem.walks[i].rows);
  }
  for (const kernel::Expression::Step& step : problem.expression.steps) {
    key.push_back(reinterpret_cast<std::uintptr_t>(step.def));
    std::uint64_t word = static_cast<std::uint64_t>(step.dtype);
    for (const std::uint16_t arg : step.args) {
      word = word << 16 | arg;
    }
    key.push_back(word);
    if (step.def->attributes.print) {
      std::string text;
      step.def->attributes.print(step.attributes, text);
      key.push_back(hash_bytes(text.data(), text.size()));
    }
  }
  for (const std::uint16_t result : problem.expression.results) {
    key.push_back(result);
  }
  return key;
}

}  // namespace

std::uint64_t GroupPlan::places(const kernel::Properties& properties) const {
  if (problem.outer == 0) {
    const auto lanes = static_cast<std::uint32_t>(kernel::lanes_of(problem.expression, properties));
    return (launch.inner + lanes - 1) / lanes;
  }
  return launch.inner * launch.row_count();
}

bool joins_groups(const OpCall& call, std::int64_t least, std::int64_t most) {
  if (call.inputs.empty() || call.outputs.size() != 1) {
    return false;
  }
  const TensorSpec& output = call.outputs[0];
  const std::int64_t n = num_elements(output.shape);
  if (n < least || n > most) {
    return false;
  }
  SmallVector<DType, 4> dtypes;
  for (const Value& input : call.inputs) {
    dtypes.push_back(input.dtype());
  }
  return kernel::joins_expressions(*call.def, {dtypes.data(), dtypes.size()}, output.dtype);
}

GroupPlan plan_group(Group& group, const kernel::Properties& properties) {
  const Shape& shape = group.specs[0].shape;
  const bool loops = properties.units == 1;
  bool single = false;
  for (Value& input : group.inputs) {
    if (!walkable(strides_along(input, shape), shape)) {
      single = !loops;
      input = loops ? dense(input) : input;
    }
  }
  const Merged merged(shape, strides_of(group, shape), single);
  const std::size_t outer = merged.sizes.size() - 1;
  GroupPlan plan;
  plan.problem.offsets = !properties.host_memory;
  for (std::size_t i = 0; plan.problem.offsets && i < group.inputs.size(); ++i) {
    plan.launch.offsets.push_back(
        static_cast<std::uint32_t>(host(group.inputs[i]).layout().offset));
  }
  plan.problem.expression = expression_of(group);
  plan.problem.outer = static_cast<int>(outer);
  plan.launch.inner = static_cast<std::uint32_t>(merged.sizes[0]);
  for (std::size_t d = outer; d > 0; --d) {
    plan.launch.outer.push_back(static_cast<std::uint32_t>(merged.sizes[d]));
  }
  for (const Strides& strides : merged.strides) {
    kernel::Walk walk{.along = strides[0] != 0, .rows = false};
    std::int64_t dense = walk.along ? merged.sizes[0] : 0;
    SmallVector<std::uint32_t, 4> rows;
    for (std::size_t d = 1; d <= outer; ++d) {
      walk.rows = walk.rows || strides[d] != dense;
      dense *= merged.sizes[d];
    }
    for (std::size_t d = outer; walk.rows && d > 0; --d) {
      rows.push_back(static_cast<std::uint32_t>(strides[d]));
    }
    plan.problem.walks.push_back(walk);
    plan.launch.rows.push_back(std::move(rows));
  }
  plan.key = key_of(plan.problem);
  return plan;
}

}  // namespace sinter::backend::jit
