// SPDX-License-Identifier: MIT OR Apache-2.0
// Joining and padding, element by element.
#include "sinter/ops/join/join.hpp"
#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

void cat(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Shape& shape = call.outputs[0].shape;
  const int dim = normalize_dim(call.as<ops::Cat>().dim, shape.rank(), "cat");
  with_carrier(call.outputs[0].dtype, [&]<class T>() {
    std::vector<T> out(static_cast<std::size_t>(num_elements(shape)));
    std::int64_t start = 0;
    for (const Value& part : call.inputs) {
      const std::vector<T> elements = read_as<T>(part);
      std::size_t next = 0;
      for_each_index(part.shape(), [&](const Dims& index) {
        Dims to = index;
        to[dim] += start;
        out[flat_index(shape, to)] = elements[next++];
      });
      start += part.size(dim);
    }
    outputs.push_back(write_as(backend, call.outputs[0], out));
  });
}

void pad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Pad>();
  const Shape& shape = call.outputs[0].shape;
  with_carrier(call.outputs[0].dtype, [&]<class T>() {
    const T border = std::is_same_v<T, double> ? static_cast<T>(op.value.as_double())
                                               : static_cast<T>(op.value.as_int64());
    std::vector<T> out(static_cast<std::size_t>(num_elements(shape)), border);
    const std::vector<T> x = read_as<T>(call.inputs[0]);
    std::size_t next = 0;
    for_each_index(call.inputs[0].shape(), [&](const Dims& index) {
      Dims to = index;
      for (int i = 0; i < to.rank(); ++i) {
        to[i] += op.before[i];
      }
      out[flat_index(shape, to)] = x[next++];
    });
    outputs.push_back(write_as(backend, call.outputs[0], out));
  });
}

}  // namespace

void set_join(KernelTable& table) {
  table.set<ops::Cat>(cat);
  table.set<ops::Pad>(pad);
}

}  // namespace sinter::backend::reference
