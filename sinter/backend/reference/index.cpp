// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading and writing by index, one element at a time.
#include <algorithm>

#include "sinter/backend/host/index.hpp"
#include "sinter/backend/reference/oracle.hpp"
#include "sinter/ops/index/index.hpp"
#include "sinter/ops/index/update.hpp"

namespace sinter::backend::reference {
namespace {

using ops::IndexUpdate;

// Calls `f(position in x, position in the indexed shape)` for every element that an index names.
template <class F>
void for_each_selected(const OpCall& call, std::int64_t attribute, F&& f) {
  const Shape& shape = call.inputs[0].shape();
  const int dim = normalize_dim(attribute, shape.rank(), call.def->name);
  const IndexList index(call.def->name, call.inputs[1], dim, shape[dim]);
  Shape target = shape;
  target[dim] = index.size();
  std::size_t next = 0;
  for_each_index(target, [&](const Dims& at) {
    Dims from = at;
    from[dim] = index[at[dim]];
    f(flat_index(shape, from), next++);
  });
}
template <class F>
void for_each_gathered(const OpCall& call, std::int64_t attribute, F&& f) {
  const Shape& shape = call.inputs[0].shape();
  const int dim = normalize_dim(attribute, shape.rank(), call.def->name);
  const IndexList index(call.def->name, call.inputs[1], dim, shape[dim]);
  std::size_t next = 0;
  for_each_index(call.inputs[1].shape(), [&](const Dims& at) {
    Dims from = at;
    from[dim] = index[static_cast<std::int64_t>(next)];
    f(flat_index(shape, from), next++);
  });
}
template <class F>
void for_each_gathered_nd(const OpCall& call, F&& f) {
  const Shape& shape = call.inputs[0].shape();
  const auto depth = static_cast<int>(call.inputs[1].shape().back());
  Shape head;
  Shape tail;
  for (int i = 0; i < shape.rank(); ++i) {
    (i < depth ? head : tail).push_back(shape[i]);
  }
  const IndexList index(call.def->name, call.inputs[1], head);
  Shape rows = call.inputs[1].shape();
  rows.erase(rows.rank() - 1);
  const std::int64_t count = num_elements(rows);
  std::size_t next = 0;
  for (std::int64_t row = 0; row < count; ++row) {
    for_each_index(tail, [&](const Dims& at) {
      Dims from;
      for (int i = 0; i < depth; ++i) {
        from.push_back(index[row * depth + i]);
      }
      for (const std::int64_t i : at) {
        from.push_back(i);
      }
      f(flat_index(shape, from), next++);
    });
  }
}

template <class T>
T updated(T old, T value, IndexUpdate update) {
  switch (update) {
    case IndexUpdate::assign:
      return value;
    case IndexUpdate::add:
      return static_cast<T>(old + value);
    case IndexUpdate::mul:
      return static_cast<T>(old * value);
    case IndexUpdate::min:
      return old != old || old < value ? old : value;
    case IndexUpdate::max:
      break;
  }
  return old != old || old > value ? old : value;
}

// Runs `visit(f)` to read elements of the first input.
template <class Visit>
void read_elements(Backend& backend, const OpCall& call, Outputs& outputs, Visit&& visit) {
  with_carrier(call.inputs[0].dtype(), [&]<class T>() {
    const std::vector<T> x = read_as<T>(call.inputs[0]);
    std::vector<T> out(static_cast<std::size_t>(num_elements(call.outputs[0].shape)));
    visit([&](std::size_t from, std::size_t to) { out[to] = x[from]; });
    outputs.push_back(write_as(backend, call.outputs[0], out));
  });
}
// Runs `visit(f)` to write the third input, broadcast to `target`, into the first.
template <class Visit>
void write_elements(Backend& backend, const OpCall& call, Outputs& outputs, IndexUpdate update,
                    const Shape& target, Visit&& visit) {
  with_carrier(call.inputs[0].dtype(), [&]<class T>() {
    std::vector<T> x = read_as<T>(call.inputs[0]);
    const std::vector<T> values = read_broadcast<T>(call.inputs[2], target);
    visit([&](std::size_t to, std::size_t from) { x[to] = updated(x[to], values[from], update); });
    outputs.push_back(write_as(backend, call.outputs[0], x));
  });
}

void select(Backend& backend, const OpCall& call, Outputs& outputs) {
  read_elements(backend, call, outputs,
                [&](auto&& f) { for_each_selected(call, call.as<ops::Select>().dim, f); });
}
void gather(Backend& backend, const OpCall& call, Outputs& outputs) {
  read_elements(backend, call, outputs,
                [&](auto&& f) { for_each_gathered(call, call.as<ops::Gather>().dim, f); });
}
void gather_nd(Backend& backend, const OpCall& call, Outputs& outputs) {
  read_elements(backend, call, outputs, [&](auto&& f) { for_each_gathered_nd(call, f); });
}
void embedding(Backend& backend, const OpCall& call, Outputs& outputs) {
  read_elements(backend, call, outputs, [&](auto&& f) { for_each_selected(call, 0, f); });
}

void one_hot(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::OneHot>();
  const IndexList index("one_hot", call.inputs[0], -1, op.classes);
  std::vector<std::int64_t> out(static_cast<std::size_t>(num_elements(call.outputs[0].shape)));
  for (std::int64_t i = 0; i < index.size(); ++i) {
    out[static_cast<std::size_t>(i * op.classes + index[i])] = 1;
  }
  outputs.push_back(write_as(backend, call.outputs[0], out));
}

void scatter(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Scatter>();
  write_elements(backend, call, outputs, op.update, call.inputs[1].shape(),
                 [&](auto&& f) { for_each_gathered(call, op.dim, f); });
}
void select_assign(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::SelectAssign>();
  Shape target = call.inputs[0].shape();
  target[normalize_dim(op.dim, target.rank(), "select_assign")] = call.inputs[1].size(0);
  write_elements(backend, call, outputs, op.update, target,
                 [&](auto&& f) { for_each_selected(call, op.dim, f); });
}
void scatter_nd(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Shape& shape = call.inputs[0].shape();
  Shape target = call.inputs[1].shape();
  const auto depth = static_cast<int>(target.back());
  target.erase(target.rank() - 1);
  for (int i = depth; i < shape.rank(); ++i) {
    target.push_back(shape[i]);
  }
  write_elements(backend, call, outputs, call.as<ops::ScatterNd>().update, target,
                 [&](auto&& f) { for_each_gathered_nd(call, f); });
}

void embedding_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const std::int64_t rows = call.as<ops::EmbeddingGrad>().rows;
  const std::int64_t width = call.outputs[0].shape[1];
  const IndexList index("embedding_grad", call.inputs[1], 0, rows);
  with_carrier(call.inputs[0].dtype(), [&]<class T>() {
    const std::vector<T> g = read_as<T>(call.inputs[0]);
    std::vector<T> sums(static_cast<std::size_t>(rows * width));
    for (std::int64_t i = 0; i < index.size(); ++i) {
      for (std::int64_t j = 0; j < width; ++j) {
        sums[static_cast<std::size_t>(index[i] * width + j)] +=
            g[static_cast<std::size_t>(i * width + j)];
      }
    }
    outputs.push_back(write_as(backend, call.outputs[0], sums));
  });
}

}  // namespace

void set_index(KernelTable& table) {
  table.set<ops::Select>(select);
  table.set<ops::Gather>(gather);
  table.set<ops::GatherNd>(gather_nd);
  table.set<ops::Embedding>(embedding);
  table.set<ops::OneHot>(one_hot);
  table.set<ops::Scatter>(scatter);
  table.set<ops::SelectAssign>(select_assign);
  table.set<ops::ScatterNd>(scatter_nd);
  table.set<ops::EmbeddingGrad>(embedding_grad);
}

}  // namespace sinter::backend::reference
