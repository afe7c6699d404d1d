// SPDX-License-Identifier: MIT OR Apache-2.0
// Order along a dim, by the standard library's stable sort of positions.
#include <algorithm>
#include <numeric>

#include "sinter/backend/reference/oracle.hpp"
#include "sinter/ops/sort/sort.hpp"

namespace sinter::backend::reference {
namespace {

enum class Nan { first, last };

template <class T>
struct Ranking {
  std::vector<T> values;
  std::vector<std::int64_t> indices;
};

// The best `count` elements of each row along `dim`, best first.
template <class T>
Ranking<T> rank_rows(const Value& input, int dim, std::int64_t count, bool descending, Nan nan) {
  const Shape& shape = input.shape();
  const std::vector<T> x = read_as<T>(input);
  const std::int64_t length = shape[dim];
  std::int64_t inner = 1;
  for (int i = dim + 1; i < shape.rank(); ++i) {
    inner *= shape[i];
  }
  const std::int64_t outer = length * inner == 0 ? 0 : num_elements(shape) / (length * inner);
  const auto size = static_cast<std::size_t>(outer * count * inner);
  Ranking<T> result{std::vector<T>(size), std::vector<std::int64_t>(size)};
  std::vector<std::int64_t> order(static_cast<std::size_t>(length));
  for (std::int64_t row = 0; row < outer * inner; ++row) {
    const std::int64_t o = row / inner;
    const std::int64_t i = row % inner;
    const auto at = [&](std::int64_t k) {
      return x[static_cast<std::size_t>((o * length + k) * inner + i)];
    };
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t p, std::int64_t q) {
      const T a = at(p);
      const T b = at(q);
      if (a != a || b != b) {
        return nan == Nan::first ? a != a && b == b : a == a && b != b;
      }
      return descending ? a > b : a < b;
    });
    for (std::int64_t k = 0; k < count; ++k) {
      const auto to = static_cast<std::size_t>((o * count + k) * inner + i);
      result.indices[to] = order[static_cast<std::size_t>(k)];
      result.values[to] = at(result.indices[to]);
    }
  }
  return result;
}

void ranked(Backend& backend, const OpCall& call, Outputs& outputs, std::int64_t attribute,
            std::int64_t count, bool descending, Nan nan, bool indices_only) {
  const Value& x = call.inputs[0];
  const int dim = normalize_dim(attribute, x.rank(), call.def->name);
  with_carrier(x.dtype(), [&]<class T>() {
    const Ranking<T> ranking =
        rank_rows<T>(x, dim, count < 0 ? x.size(dim) : count, descending, nan);
    if (!indices_only) {
      outputs.push_back(write_as(backend, call.outputs[0], ranking.values));
    }
    outputs.push_back(write_as(backend, call.outputs[indices_only ? 0 : 1], ranking.indices));
  });
}

void sort(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Sort>();
  ranked(backend, call, outputs, op.dim, -1, op.descending, Nan::last, false);
}
void topk(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::TopK>();
  ranked(backend, call, outputs, op.dim, op.k, op.largest, Nan::first, false);
}
void argmax(Backend& backend, const OpCall& call, Outputs& outputs) {
  ranked(backend, call, outputs, call.as<ops::Argmax>().dim, 1, true, Nan::first, true);
}
void argmin(Backend& backend, const OpCall& call, Outputs& outputs) {
  ranked(backend, call, outputs, call.as<ops::Argmin>().dim, 1, false, Nan::first, true);
}

}  // namespace

void set_sort(KernelTable& table) {
  table.set<ops::Sort>(sort);
  table.set<ops::TopK>(topk);
  table.set<ops::Argmax>(argmax);
  table.set<ops::Argmin>(argmin);
}

}  // namespace sinter::backend::reference
