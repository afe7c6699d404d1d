// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementwise ops: the op's own formula, one element at a time.
#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

template <class T>
BlockFunction function_of(const ElementwiseRow& row) {
  if constexpr (std::is_same_v<T, double>) {
    return row.f64;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return row.i64;
  } else {
    return row.u64;
  }
}

// The dtype in which the inputs meet: computing happens there, not in the result's (which may be
// bool).
DType common_dtype(const OpCall& call) {
  DType dtype = call.inputs.back().dtype();
  for (const Value& input : call.inputs) {
    dtype = promote(dtype, input.dtype());
  }
  return dtype;
}

template <class T>
Value evaluate(Backend& backend, const OpCall& call) {
  const ElementwiseRow& row = *call.def->elementwise;
  const TensorSpec& spec = call.outputs[0];
  std::vector<std::vector<T>> inputs;
  for (const Value& input : call.inputs) {
    inputs.push_back(read_broadcast<T>(input, spec.shape));
  }
  std::vector<T> results(static_cast<std::size_t>(num_elements(spec.shape)));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const void* elements[8];
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      elements[k] = &inputs[k][i];
    }
    if (row.bool_result) {
      bool truth = false;
      function_of<T>(row)(call.attributes, elements, &truth, 1);
      results[i] = truth ? T(1) : T(0);
    } else {
      function_of<T>(row)(call.attributes, elements, &results[i], 1);
    }
  }
  return write_as<T>(backend, spec, results);
}

}  // namespace

void run_elementwise(Backend& backend, const OpCall& call, Outputs& outputs) {
  with_carrier(common_dtype(call),
               [&]<class T>() { outputs.push_back(evaluate<T>(backend, call)); });
}

}  // namespace sinter::backend::reference
