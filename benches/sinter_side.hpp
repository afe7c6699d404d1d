// SPDX-License-Identifier: MIT OR Apache-2.0
// Sinter's side of the rows: inputs on a device, runners for forward and backward passes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "benches/bench.hpp"
#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/graph/value.hpp"
#include "sinter/tensor/device.hpp"

namespace sinter::bench {

/// The device that `--device` names; `cpu` is the fastest on the CPU.
Device bench_device(const Options& options);

/// The row's input of this name, on `device`: f32, i64 or i8.
Value load(const Context& context, const std::string& name, const Device& device);

/// Rows of the row's matrix [out, in] as a layer holds them: [in, out]. With `parts` of them, the
/// rows are cut into as many equal ranges, and `part` says which.
Value load_weight(const Context& context, const std::string& name, const Device& device,
                  std::int64_t part = 0, std::int64_t parts = 1);

/// The same range of a vector.
Value load_bias(const Context& context, const std::string& name, const Device& device,
                std::int64_t part = 0, std::int64_t parts = 1);

/// The elements as f32 in row-major order.
std::vector<float> floats(const Value& value);

using Step = std::function<Value()>;
using Steps = std::function<std::vector<Value>()>;

/// Times `step`, which runs on `device` and gives the result to compare.
Runner forward_runner(const Device& device, Step step);

/// Times `step`, which gives gradients (or other results) to compare.
Runner gradient_runner(const Device& device, Steps step);

/// A loss of tracked leaves: loads `leaves`, runs `loss`, and gives their gradients.
Runner loss_runner(const Context& context, const std::vector<std::string>& leaves,
                   const std::function<Value(const std::vector<Value>&)>& loss);

}  // namespace sinter::bench
