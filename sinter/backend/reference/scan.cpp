// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans, row by row.
#include "sinter/ops/scan/scan.hpp"
#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

// Calls `f(first position, step, length)` for every row along `dim` of a dense tensor.
template <class F>
void for_each_row(const Shape& shape, int dim, F&& f) {
  std::size_t inner = 1;
  for (int i = dim + 1; i < shape.rank(); ++i) {
    inner *= static_cast<std::size_t>(shape[i]);
  }
  const auto length = static_cast<std::size_t>(shape[dim]);
  const auto count = static_cast<std::size_t>(num_elements(shape));
  for (std::size_t outer = 0; outer < count; outer += length * inner) {
    for (std::size_t i = 0; i < inner; ++i) {
      f(outer + i, inner, length);
    }
  }
}

template <bool product>
void fold(Backend& backend, const OpCall& call, Outputs& outputs, std::int64_t attribute) {
  const Shape& shape = call.inputs[0].shape();
  const int dim = normalize_dim(attribute, shape.rank(), call.def->name);
  with_carrier(call.outputs[0].dtype, [&]<class T>() {
    std::vector<T> x = read_as<T>(call.inputs[0]);
    for_each_row(shape, dim, [&](std::size_t start, std::size_t step, std::size_t length) {
      T acc = product ? 1 : 0;
      for (std::size_t i = 0; i < length; ++i) {
        T& element = x[start + i * step];
        acc = static_cast<T>(product ? acc * element : acc + element);
        element = acc;
      }
    });
    outputs.push_back(write_as(backend, call.outputs[0], x));
  });
}

template <bool largest>
void extreme(Backend& backend, const OpCall& call, Outputs& outputs, std::int64_t attribute) {
  const Shape& shape = call.inputs[0].shape();
  const int dim = normalize_dim(attribute, shape.rank(), call.def->name);
  with_carrier(call.outputs[0].dtype, [&]<class T>() {
    std::vector<T> x = read_as<T>(call.inputs[0]);
    std::vector<std::int64_t> indices(x.size());
    for_each_row(shape, dim, [&](std::size_t start, std::size_t step, std::size_t length) {
      T best = length > 0 ? x[start] : T(0);
      std::int64_t index = 0;
      for (std::size_t i = 0; i < length; ++i) {
        T& element = x[start + i * step];
        const bool better = largest ? element > best : element < best;
        if (best == best && (better || element != element)) {
          best = element;
          index = static_cast<std::int64_t>(i);
        }
        element = best;
        indices[start + i * step] = index;
      }
    });
    outputs.push_back(write_as(backend, call.outputs[0], x));
    outputs.push_back(write_as(backend, call.outputs[1], indices));
  });
}

void cumsum(Backend& backend, const OpCall& call, Outputs& outputs) {
  fold<false>(backend, call, outputs, call.as<ops::Cumsum>().dim);
}
void cumprod(Backend& backend, const OpCall& call, Outputs& outputs) {
  fold<true>(backend, call, outputs, call.as<ops::Cumprod>().dim);
}
void cummax(Backend& backend, const OpCall& call, Outputs& outputs) {
  extreme<true>(backend, call, outputs, call.as<ops::Cummax>().dim);
}
void cummin(Backend& backend, const OpCall& call, Outputs& outputs) {
  extreme<false>(backend, call, outputs, call.as<ops::Cummin>().dim);
}

}  // namespace

void set_scan(KernelTable& table) {
  table.set<ops::Cumsum>(cumsum);
  table.set<ops::Cumprod>(cumprod);
  table.set<ops::Cummax>(cummax);
  table.set<ops::Cummin>(cummin);
}

}  // namespace sinter::backend::reference
