// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading and writing by index. Threads share the positions outside the indexed dim, so that all
// writes to one element are made by one thread, in index order.
#include <cstring>
#include <type_traits>
#include <vector>

#include "sinter/backend/host/index.hpp"
#include "sinter/backend/portable/blocks.hpp"
#include "sinter/backend/portable/convert.hpp"
#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/base/thread_pool.hpp"
#include "sinter/ops/index/index.hpp"
#include "sinter/ops/index/update.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter::backend::portable {
namespace {

using ops::IndexUpdate;

// Offsets of all multi-indices of `sizes`, for these strides, in row-major order.
std::vector<std::int64_t> offsets_of(std::span<const std::int64_t> sizes,
                                     std::span<const std::int64_t> strides) {
  std::vector<std::int64_t> offsets{0};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::vector<std::int64_t> next;
    next.reserve(offsets.size() * static_cast<std::size_t>(sizes[d]));
    for (const std::int64_t offset : offsets) {
      for (std::int64_t i = 0; i < sizes[d]; ++i) {
        next.push_back(offset + i * strides[d]);
      }
    }
    offsets.swap(next);
  }
  return offsets;
}

// The indexed elements as [outer, count, inner]: element (o, k, i) lies in x at
// outer[o] + index * step + inner[i], where the index is that of k, of (o, k), or one of its own.
struct Plan {
  std::vector<std::int64_t> outer;
  std::vector<std::int64_t> inner;  // empty where the elements lie side by side: inner[i] == i
  std::int64_t inners = 1;
  std::int64_t count = 0;
  std::int64_t step = 1;
  bool own_index = false;        // an index for every (o, k, i)
  std::int64_t index_outer = 0;  // else: index[o * index_outer + k]
  const std::int64_t* index = nullptr;

  std::int64_t outers() const { return static_cast<std::int64_t>(outer.size()); }
};

// `shape` is that of the indexed elements, `strides` are x's.
Plan make_plan(const Shape& shape, const Dims& strides, int dim, const IndexList& index,
               bool own_index) {
  Plan plan;
  const std::span sizes(shape.begin(), static_cast<std::size_t>(shape.rank()));
  const std::span steps(strides.begin(), static_cast<std::size_t>(strides.rank()));
  const auto d = static_cast<std::size_t>(dim);
  plan.outer = offsets_of(sizes.first(d), steps.first(d));
  bool dense = true;
  for (std::size_t i = sizes.size() - 1; i > d; --i) {
    dense = dense && (sizes[i] == 1 || steps[i] == plan.inners);
    plan.inners *= sizes[i];
  }
  if (!dense) {
    plan.inner = offsets_of(sizes.subspan(d + 1), steps.subspan(d + 1));
  }
  plan.count = shape[dim];
  plan.step = strides[dim];
  plan.own_index = own_index;
  plan.index = index.data();
  return plan;
}

// Calls `use(plan)` with the plan of a gather or scatter. An index that is the same along all dims
// after `dim`, as an expanded one is, names whole rows.
template <class F>
void with_plan(std::string_view op, const Value& index, const Shape& x, const Dims& strides,
               int dim, F&& use) {
  Layout layout = host(index).layout();
  const Shape shape = layout.shape;
  bool rows = dim + 1 < shape.rank();
  for (int d = dim + 1; d < shape.rank(); ++d) {
    rows = rows && (shape[d] == 1 || layout.strides[d] == 0);
    layout.shape[d] = shape[d] == 0 ? 0 : 1;
  }
  if (rows) {
    const IndexList list(op, view_of(index, layout), dim, x[dim]);
    Plan plan = make_plan(shape, strides, dim, list, false);
    plan.index_outer = plan.count;
    if (plan.inner.empty()) {
      return use(plan);
    }
  }
  const IndexList list(op, index, dim, x[dim]);
  use(make_plan(shape, strides, dim, list, true));
}

// Calls `body(o, first i, last i)` for all of [outer) x [inner), over all threads.
template <class F>
void over_lines(const Plan& plan, F&& body) {
  const std::int64_t outers = plan.outers();
  const std::int64_t inners = plan.inners;
  const std::int64_t count = plan.count;
  if (inners == 0) {
    return;  // an index without elements has no rows to name
  }
  if (outers >= inners) {
    const std::int64_t grain = parallel_grain / (count * inners + 1) + 1;
    parallel_for(outers, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) {
        body(o, std::int64_t{0}, inners);
      }
    });
  } else {
    const std::int64_t grain = parallel_grain / (count * outers + 1) + 16;
    parallel_for(inners, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = 0; o < outers; ++o) {
        body(o, begin, end);
      }
    });
  }
}

// Rows one after another, shared among threads by their number.
template <class T>
void read_rows(const Plan& plan, const T* x, T* out) {
  const std::int64_t inners = plan.inners;
  const std::size_t bytes = static_cast<std::size_t>(inners) * sizeof(T);
  parallel_for(plan.outers() * plan.count, parallel_grain / (inners + 1) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 std::int64_t o = begin / plan.count;
                 std::int64_t k = begin % plan.count;
                 for (std::int64_t row = begin; row < end; ++row) {
                   const std::int64_t at = plan.index[o * plan.index_outer + k] * plan.step;
                   std::memcpy(out + row * inners, x + plan.outer[static_cast<std::size_t>(o)] + at,
                               bytes);
                   if (++k == plan.count) {
                     k = 0;
                     ++o;
                   }
                 }
               });
}

template <class T>
void read_by(const Plan& plan, const T* x, T* out) {
  const std::int64_t inners = plan.inners;
  const std::int64_t* inner = plan.inner.empty() ? nullptr : plan.inner.data();
  if (inners > 1 && !plan.own_index && !inner) {
    return read_rows(plan, x, out);
  }
  over_lines(plan, [&](std::int64_t o, std::int64_t first, std::int64_t last) {
    const T* from = x + plan.outer[static_cast<std::size_t>(o)];
    if (inners == 1) {
      const std::int64_t* index = plan.index + (plan.own_index ? plan.count : plan.index_outer) * o;
      for (std::int64_t k = 0; k < plan.count; ++k) {
        out[o * plan.count + k] = from[index[k] * plan.step];
      }
      return;
    }
    for (std::int64_t k = 0; k < plan.count; ++k) {
      const std::int64_t row = (o * plan.count + k) * inners;
      T* to = out + row;
      if (plan.own_index) {
        for (std::int64_t i = first; i < last; ++i) {
          to[i] = from[plan.index[row + i] * plan.step + (inner ? inner[i] : i)];
        }
      } else {
        const T* line = from + plan.index[o * plan.index_outer + k] * plan.step;
        for (std::int64_t i = first; i < last; ++i) {
          to[i] = line[inner[i]];
        }
      }
    }
  });
}

// Integers wrap: unsigned arithmetic does, in any width.
template <IndexUpdate update, class T>
T updated(T old, T value) {
  if constexpr (update == IndexUpdate::add || update == IndexUpdate::mul) {
    if constexpr (std::is_integral_v<T>) {
      const auto a = static_cast<std::uint64_t>(old);
      const auto b = static_cast<std::uint64_t>(value);
      return static_cast<T>(update == IndexUpdate::add ? a + b : a * b);
    } else {
      return update == IndexUpdate::add ? old + value : old * value;
    }
  } else if constexpr (update == IndexUpdate::min) {
    return old != old || old < value ? old : value;
  } else if constexpr (update == IndexUpdate::max) {
    return old != old || old > value ? old : value;
  } else {
    return value;
  }
}

// A run of elements that lie side by side.
template <IndexUpdate update, class T>
void update_run(T* to, const T* from, std::int64_t n) {
  if constexpr (update == IndexUpdate::assign) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    return;
  }
  constexpr std::int64_t step = 16;  // a fixed number, which the compiler turns into vectors
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    T old[step];
    T values[step];
    std::memcpy(old, to + i, sizeof old);
    std::memcpy(values, from + i, sizeof values);
    for (std::int64_t j = 0; j < step; ++j) {
      old[j] = updated<update>(old[j], values[j]);
    }
    std::memcpy(to + i, old, sizeof old);
  }
  for (; i < n; ++i) {
    to[i] = updated<update>(to[i], from[i]);
  }
}

template <IndexUpdate update, class T>
void write_by(const Plan& plan, const T* values, T* out) {
  const std::int64_t inners = plan.inners;
  const std::int64_t* inner = plan.inner.empty() ? nullptr : plan.inner.data();
  over_lines(plan, [&](std::int64_t o, std::int64_t first, std::int64_t last) {
    T* to = out + plan.outer[static_cast<std::size_t>(o)];
    if (inners == 1) {
      const std::int64_t* index = plan.index + (plan.own_index ? plan.count : plan.index_outer) * o;
      for (std::int64_t k = 0; k < plan.count; ++k) {
        T& element = to[index[k] * plan.step];
        element = updated<update>(element, values[o * plan.count + k]);
      }
      return;
    }
    for (std::int64_t k = 0; k < plan.count; ++k) {
      const std::int64_t row = (o * plan.count + k) * inners;
      const T* from = values + row;
      if (plan.own_index) {
        for (std::int64_t i = first; i < last; ++i) {
          T& element = to[plan.index[row + i] * plan.step + (inner ? inner[i] : i)];
          element = updated<update>(element, from[i]);
        }
      } else {
        // x is dense here, and so are its rows.
        T* line = to + plan.index[o * plan.index_outer + k] * plan.step;
        update_run<update>(line + first, from + first, last - first);
      }
    }
  });
}

void read(const Plan& plan, const Value& x, const Value& out) {
  with_element(size_of(x.dtype()),
               [&]<class T>() { read_by(plan, host(x).data_as<T>(), host(out).data_as<T>()); });
}

// Writes dense `values` into dense `out` of the same dtype.
void write(const Plan& plan, const Value& values, const Value& out, IndexUpdate update) {
  if (update == IndexUpdate::assign) {
    return with_element(size_of(out.dtype()), [&]<class T>() {
      write_by<IndexUpdate::assign>(plan, host(values).data_as<T>(), host(out).data_as<T>());
    });
  }
  visit_dtype(out.dtype(), [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      const T* from = host(values).data_as<T>();
      T* to = host(out).data_as<T>();
      switch (update) {
        case IndexUpdate::add:
          return write_by<IndexUpdate::add>(plan, from, to);
        case IndexUpdate::mul:
          return write_by<IndexUpdate::mul>(plan, from, to);
        case IndexUpdate::min:
          return write_by<IndexUpdate::min>(plan, from, to);
        default:
          return write_by<IndexUpdate::max>(plan, from, to);
      }
    }
  });
}

// A dense tensor of `dtype` with x's elements that may be written to.
Value writable(const OpCall& call, const Value& x, DType dtype) {
  if (dtype != x.dtype()) {
    return converted(x, dtype);
  }
  if (may_overwrite(call, 0, call.outputs[0])) {
    return x;
  }
  Value copy = allocate(x.backend(), x.shape(), dtype);
  copy_dense(host(x).data(), host(x).layout(), size_of(dtype), host(copy).data());
  return copy;
}

// Half types are updated in f32 and rounded once.
void run_update(const OpCall& call, Outputs& outputs, IndexUpdate update, const Shape& target,
                const Plan& plan) {
  const DType dtype = call.inputs[0].dtype();
  const bool narrow = update != IndexUpdate::assign && is_floating(dtype) && size_of(dtype) < 4;
  const DType working = narrow ? DType::f32 : dtype;
  const Value& given = call.inputs[2];
  Value values = densely(view_of(given, host(given).layout().expand(target)));
  values = narrow ? converted(values, working) : values;
  Value out = writable(call, call.inputs[0], working);
  write(plan, values, out, update);
  outputs.push_back(narrow ? converted(out, dtype) : out);
}

void run_select(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Value& x = call.inputs[0];
  const int dim = normalize_dim(call.as<ops::Select>().dim, x.rank(), "select");
  const IndexList index("select", call.inputs[1], dim, x.size(dim));
  Value out = allocate(backend, call.outputs[0]);
  read(make_plan(out.shape(), host(x).strides(), dim, index, false), x, out);
  outputs.push_back(std::move(out));
}
void run_gather(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Value& x = call.inputs[0];
  const int dim = normalize_dim(call.as<ops::Gather>().dim, x.rank(), "gather");
  Value out = allocate(backend, call.outputs[0]);
  with_plan(call.def->name, call.inputs[1], x.shape(), host(x).strides(), dim,
            [&](const Plan& plan) { read(plan, x, out); });
  outputs.push_back(std::move(out));
}
void run_embedding(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Value& weight = call.inputs[0];
  const IndexList index("embedding", call.inputs[1], 0, weight.size(0));
  Value out = allocate(backend, call.outputs[0]);
  const Value rows = densely(weight);
  const auto bytes = static_cast<std::size_t>(weight.size(1)) * size_of(weight.dtype());
  const std::byte* from = host(rows).data();
  std::byte* to = host(out).data();
  parallel_for(index.size(), parallel_grain / (weight.size(1) + 1) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   std::memcpy(to + static_cast<std::size_t>(i) * bytes,
                               from + static_cast<std::size_t>(index[i]) * bytes, bytes);
                 }
               });
  outputs.push_back(std::move(out));
}

// Positions in x's first dims as one number, and what lies below them as one row.
struct NdPlan {
  std::vector<std::int64_t> rows;
  Plan plan;

  NdPlan(const OpCall& call) {
    const Shape& shape = call.inputs[0].shape();
    const Value& index = call.inputs[1];
    const auto depth = static_cast<int>(index.shape().back());
    Shape head;
    for (int i = 0; i < depth; ++i) {
      head.push_back(shape[i]);
    }
    const IndexList list(call.def->name, index, head);
    std::int64_t tail = 1;
    for (int i = depth; i < shape.rank(); ++i) {
      tail *= shape[i];
    }
    Shape batch = index.shape();
    batch.erase(batch.rank() - 1);
    rows.resize(static_cast<std::size_t>(num_elements(batch)));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::int64_t position = 0;
      for (int d = 0; d < depth; ++d) {
        position = position * head[d] + list[static_cast<std::int64_t>(i) * depth + d];
      }
      rows[i] = position;
    }
    plan.outer = {0};
    plan.inners = tail;
    plan.count = static_cast<std::int64_t>(rows.size());
    plan.step = tail;
    plan.index = rows.data();
  }
};

void run_gather_nd(Backend& backend, const OpCall& call, Outputs& outputs) {
  const NdPlan nd(call);
  Value out = allocate(backend, call.outputs[0]);
  read(nd.plan, densely(call.inputs[0]), out);
  outputs.push_back(std::move(out));
}
void run_scatter_nd(Backend&, const OpCall& call, Outputs& outputs) {
  const NdPlan nd(call);
  const Shape& shape = call.inputs[0].shape();
  Shape target = call.inputs[1].shape();
  const auto depth = static_cast<int>(target.back());
  target.erase(target.rank() - 1);
  for (int i = depth; i < shape.rank(); ++i) {
    target.push_back(shape[i]);
  }
  run_update(call, outputs, call.as<ops::ScatterNd>().update, target, nd.plan);
}

void run_scatter(Backend&, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Scatter>();
  const Shape& shape = call.inputs[0].shape();
  const int dim = normalize_dim(op.dim, shape.rank(), "scatter");
  with_plan(call.def->name, call.inputs[1], shape, contiguous_strides(shape), dim,
            [&](const Plan& plan) {
              run_update(call, outputs, op.update, call.inputs[1].shape(), plan);
            });
}
void run_select_assign(Backend&, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::SelectAssign>();
  Shape target = call.inputs[0].shape();
  const int dim = normalize_dim(op.dim, target.rank(), "select_assign");
  const IndexList index("select_assign", call.inputs[1], dim, target[dim]);
  const Dims strides = contiguous_strides(target);
  target[dim] = index.size();
  run_update(call, outputs, op.update, target, make_plan(target, strides, dim, index, false));
}

void run_embedding_grad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Value& g = call.inputs[0];
  const Shape& shape = call.outputs[0].shape;
  const IndexList index("embedding_grad", call.inputs[1], 0, shape[0]);
  const bool narrow = is_floating(g.dtype()) && size_of(g.dtype()) < 4;
  const DType working = narrow ? DType::f32 : g.dtype();
  Value sums = allocate(backend, shape, working);
  std::memset(host(sums).data(), 0, num_bytes(shape, working));
  const Value rows = narrow ? converted(g, working) : densely(g);
  write(make_plan(Shape{index.size(), shape[1]}, contiguous_strides(shape), 0, index, false), rows,
        sums, IndexUpdate::add);
  outputs.push_back(narrow ? converted(sums, g.dtype()) : sums);
}

void run_one_hot(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::OneHot>();
  const IndexList index("one_hot", call.inputs[0], -1, op.classes);
  Value out = allocate(backend, call.outputs[0]);
  const std::size_t size = size_of(op.dtype);
  std::memset(host(out).data(), 0, static_cast<std::size_t>(out.num_elements()) * size);
  const std::int64_t one = 1;
  std::byte element[8];
  convert_elements(&one, DType::i64, element, op.dtype, 1);
  for (std::int64_t i = 0; i < index.size(); ++i) {
    std::memcpy(host(out).data() + static_cast<std::size_t>(i * op.classes + index[i]) * size,
                element, size);
  }
  outputs.push_back(std::move(out));
}

}  // namespace

void set_index(KernelTable& table) {
  table.set<ops::Select>(run_select);
  table.set<ops::Gather>(run_gather);
  table.set<ops::GatherNd>(run_gather_nd);
  table.set<ops::Embedding>(run_embedding);
  table.set<ops::OneHot>(run_one_hot);
  table.set<ops::Scatter>(run_scatter);
  table.set<ops::SelectAssign>(run_select_assign);
  table.set<ops::ScatterNd>(run_scatter_nd);
  table.set<ops::EmbeddingGrad>(run_embedding_grad);
}

}  // namespace sinter::backend::portable
