// SPDX-License-Identifier: MIT OR Apache-2.0
// A group without fusion.
#include "sinter/graph/group.hpp"

#include "sinter/graph/backend.hpp"

namespace sinter {

void execute_one_by_one(Backend& backend, Group& group, Outputs& outputs) {
  const std::size_t count = group.inputs.size() + group.calls.size();
  // A value is dropped, or given to its last reader, as soon as nobody needs it any more.
  std::vector<std::uint32_t> readers(count);
  for (const Group::Call& call : group.calls) {
    for (const std::uint32_t arg : call.args) {
      ++readers[arg];
    }
  }
  for (const std::uint32_t result : group.results) {
    ++readers[result];
  }
  std::vector<Value> values = std::move(group.inputs);
  values.resize(count);
  const std::size_t first = count - group.calls.size();
  for (std::size_t c = 0; c < group.calls.size(); ++c) {
    const Group::Call& call = group.calls[c];
    SmallVector<Value, 4> inputs;
    std::uint64_t donated = 0;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const std::uint32_t arg = call.args[i];
      const bool last = --readers[arg] == 0;
      donated |= std::uint64_t{last} << i;
      inputs.push_back(last ? std::move(values[arg]) : values[arg]);
    }
    Outputs made;
    backend.execute({.def = call.def,
                     .attributes = call.attributes,
                     .inputs = {inputs.data(), inputs.size()},
                     .outputs = {&group.specs[c], 1},
                     .donated = donated,
                     .where = call.where},
                    made);
    if (readers[first + c] != 0) {
      values[first + c] = std::move(made[0]);
    }
  }
  for (const std::uint32_t result : group.results) {
    outputs.push_back(values[result]);
  }
}

}  // namespace sinter
