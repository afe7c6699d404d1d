// SPDX-License-Identifier: MIT OR Apache-2.0
// Interpolation and its gradient by plain loops over all corners of each position.
#include "sinter/ops/interpolate/interpolate.hpp"

#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

// Calls f(index in the input, index in the output, weight).
template <class F>
void for_each_corner(const ops::Interpolate& op, const Shape& input, const Shape& output, F&& f) {
  const int batch = input.rank() - op.size.rank();
  std::size_t out = 0;
  for_each_index(output, [&](const Dims& index) {
    for (unsigned corner = 0; corner < 1u << op.size.rank(); ++corner) {
      Dims at = index;
      double weight = 1;
      for (int i = 0; i < op.size.rank(); ++i) {
        const int dim = batch + i;
        const ops::Tap tap = ops::interpolation_tap(op, input[dim], output[dim], index[dim]);
        const bool high = (corner >> i & 1u) != 0;
        at[dim] = high ? tap.high : tap.low;
        weight *= high ? tap.weight : 1 - tap.weight;
      }
      if (weight != 0) {
        f(flat_index(input, at), out, weight);
      }
    }
    ++out;
  });
}

void interpolate(Backend& backend, const OpCall& call, Outputs& outputs) {
  const std::vector<double> x = read_as<double>(call.inputs[0]);
  std::vector<double> y(static_cast<std::size_t>(num_elements(call.outputs[0].shape)));
  for_each_corner(call.as<ops::Interpolate>(), call.inputs[0].shape(), call.outputs[0].shape,
                  [&](std::size_t i, std::size_t o, double weight) { y[o] += weight * x[i]; });
  outputs.push_back(write_as(backend, call.outputs[0], y));
}

void interpolate_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const std::vector<double> g = read_as<double>(call.inputs[0]);
  std::vector<double> dx(static_cast<std::size_t>(num_elements(call.outputs[0].shape)));
  for_each_corner(call.as<ops::InterpolateGrad>(), call.outputs[0].shape, call.inputs[0].shape(),
                  [&](std::size_t i, std::size_t o, double weight) { dx[i] += weight * g[o]; });
  outputs.push_back(write_as(backend, call.outputs[0], dx));
}

}  // namespace

void set_interpolate(KernelTable& table) {
  table.set<ops::Interpolate>(interpolate);
  table.set<ops::InterpolateGrad>(interpolate_grad);
}

}  // namespace sinter::backend::reference
