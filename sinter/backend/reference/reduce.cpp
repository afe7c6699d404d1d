// SPDX-License-Identifier: MIT OR Apache-2.0
// Reductions: the op's own formula, folded in row-major order.
#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

template <class T>
const ReduceFormula<T>& formula_of(const ReduceRow& row) {
  if constexpr (std::is_same_v<T, double>) {
    return row.f64;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return row.i64;
  } else {
    return row.u64;
  }
}

template <class T>
Value fold(Backend& backend, const OpCall& call) {
  const ReduceFormula<T>& formula = formula_of<T>(*call.def->reduce);
  const Value& x = call.inputs[0];
  // Every reduction's attributes begin with ReduceDims.
  const ReduceDims& op = *static_cast<const ReduceDims*>(call.attributes);
  Shape kept = x.shape();
  for (const std::int64_t dim : normalize_dims(op.dims, x.rank(), call.def->name)) {
    kept[static_cast<int>(dim)] = 1;
  }
  const std::vector<T> elements = read_as<T>(x);
  std::vector<T> results(static_cast<std::size_t>(num_elements(kept)), formula.init());
  std::size_t next = 0;
  for_each_index(x.shape(), [&](const Dims& index) {
    Dims target = index;
    for (int i = 0; i < kept.rank(); ++i) {
      target[i] = kept[i] == 1 ? 0 : index[i];
    }
    T& acc = results[flat_index(kept, target)];
    acc = formula.combine(acc, elements[next++]);
  });
  if (formula.finish) {
    const auto count =
        static_cast<std::int64_t>(results.empty() ? 0 : elements.size() / results.size());
    for (T& acc : results) {
      acc = formula.finish(acc, count);
    }
  }
  return write_as<T>(backend, call.outputs[0], results);
}

}  // namespace

void run_reduce(Backend& backend, const OpCall& call, Outputs& outputs) {
  with_carrier(call.inputs[0].dtype(),
               [&]<class T>() { outputs.push_back(fold<T>(backend, call)); });
}

}  // namespace sinter::backend::reference
