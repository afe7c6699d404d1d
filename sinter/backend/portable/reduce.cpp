// SPDX-License-Identifier: MIT OR Apache-2.0
// Driver of reductions: one pass over the input in the order it lies in memory. How the work is cut
// depends on the shape alone, so results don't depend on the number of threads.
#include "sinter/ops/reduce.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "sinter/backend/portable/blocks.hpp"
#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/backend/reference/oracle.hpp"
#include "sinter/base/thread_pool.hpp"

namespace sinter::backend::portable {
namespace {

using sinter::portable::Fold;

// Elements that a row kernel folds in the carried type; their results are folded in `Acc`.
constexpr std::int64_t row_elements = 4096;
// Rows that a column kernel folds in the carried type, likewise.
constexpr std::int64_t column_rows = 256;
// Elements of one piece of a reduction that is cut because it has few results.
constexpr std::int64_t piece_elements = 65536;
constexpr std::int64_t few_results = 64;

template <class T>
using Acc = std::conditional_t<std::is_same_v<T, float>, double, T>;

struct Axis {
  std::int64_t size;
  std::int64_t in;   // stride of the input
  std::int64_t out;  // stride of the result; 0 for reduced axes
};

struct Axes {
  int rank = 0;
  Axis axis[max_rank];
  void push(const Axis& a) { axis[rank++] = a; }
  std::int64_t count() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) {
      n *= axis[i].size;
    }
    return n;
  }
  // Offsets of linear position `at`.
  std::int64_t in_offset(std::int64_t at) const { return offset(at, &Axis::in); }
  std::int64_t out_offset(std::int64_t at) const { return offset(at, &Axis::out); }

 private:
  std::int64_t offset(std::int64_t at, std::int64_t Axis::* stride) const {
    if (rank == 1) {
      return at * (axis[0].*stride);
    }
    std::int64_t sum = 0;
    for (int i = rank - 1; i >= 0; --i) {
      sum += at % axis[i].size * (axis[i].*stride);
      at /= axis[i].size;
    }
    return sum;
  }
};

struct Plan {
  Fold fold = Fold::sum;
  bool mean = false;
  Carried carried = Carried::f32;
  DType dtype = DType::f32;
  std::int64_t element = 4;  // bytes of an input element
  const std::byte* data = nullptr;
  HostTensor* out = nullptr;
  std::int64_t out_start = 0;
  std::int64_t reduced_count = 1;
  bool by_columns = false;
  Axis vector{1, 1, 0};  // the axis along which kernels run
  Axes kept;             // the other kept axes
  Axes reduced;          // the other reduced axes
};

Fold fold_of(const OpDef& def) {
  switch (static_cast<OpCode>(def.code)) {
    case OpCode::prod:
      return Fold::prod;
    case OpCode::max:
      return Fold::max;
    case OpCode::min:
      return Fold::min;
    case OpCode::any:
      return Fold::any;
    case OpCode::all:
      return Fold::all;
    default:
      return Fold::sum;
  }
}

template <class A>
A neutral(Fold fold) {
  switch (fold) {
    case Fold::prod:
    case Fold::all:
      return A(1);
    case Fold::max:
      return ops::Max::init<A>();
    case Fold::min:
      return ops::Min::init<A>();
    default:
      return A(0);
  }
}

template <class A>
A combine(Fold fold, A a, A b) {
  switch (fold) {
    case Fold::sum:
      return a + b;
    case Fold::prod:
      return a * b;
    case Fold::max:
      return ops::Max::combine(a, b);
    case Fold::min:
      return ops::Min::combine(a, b);
    case Fold::any:
      return ops::Any::combine(a, b);
    default:
      return ops::All::combine(a, b);
  }
}

// Puts the axes in the order of memory, walks all of them forward, and joins those that carry on.
void lay_out(Plan& plan, const HostTensor& x, const bool* reduced, Axes& kept, Axes& folded) {
  struct Tagged {
    Axis axis;
    bool reduced;
  };
  Tagged all[max_rank];
  int rank = 0;
  std::int64_t out_step = 1;
  for (int d = x.shape().rank() - 1; d >= 0; --d) {
    const std::int64_t size = x.shape()[d];
    Axis axis{size, x.strides()[d], 0};
    if (!reduced[d]) {
      axis.out = out_step;
      out_step *= size;
    }
    if (size == 1) {
      continue;
    }
    if (axis.in < 0) {
      plan.data += (size - 1) * axis.in * plan.element;
      plan.out_start += (size - 1) * axis.out;
      axis.in = -axis.in;
      axis.out = -axis.out;
    }
    all[rank++] = {axis, reduced[d]};
  }
  // Innermost first. Expanded axes go outside, where they only repeat work.
  const auto nearness = [](const Tagged& t) { return t.axis.in == 0 ? INT64_MAX : t.axis.in; };
  for (int i = 1; i < rank; ++i) {
    for (int j = i; j > 0 && nearness(all[j]) < nearness(all[j - 1]); --j) {
      std::swap(all[j], all[j - 1]);
    }
  }
  int joined = 0;
  for (int i = 0; i < rank; ++i) {
    if (joined > 0) {
      Tagged& inner = all[joined - 1];
      if (inner.reduced == all[i].reduced && all[i].axis.in == inner.axis.in * inner.axis.size &&
          all[i].axis.out == inner.axis.out * inner.axis.size) {
        inner.axis.size *= all[i].axis.size;
        continue;
      }
    }
    all[joined++] = all[i];
  }
  for (int i = joined - 1; i >= 0; --i) {
    (all[i].reduced ? folded : kept).push(all[i].axis);
  }
}

// Kernels run along the nearest axis, unless it is too short for vectors and another one is not.
void choose_vector(Plan& plan, const Axes& kept, const Axes& folded) {
  plan.kept = kept;
  plan.reduced = folded;
  const Axis* near_kept = kept.rank > 0 ? &kept.axis[kept.rank - 1] : nullptr;
  const Axis* near_folded = folded.rank > 0 ? &folded.axis[folded.rank - 1] : nullptr;
  if (!near_folded) {
    plan.by_columns = near_kept != nullptr;
  } else if (near_kept) {
    const bool folded_first =
        near_kept->in == 0 || (near_folded->in != 0 && near_folded->in < near_kept->in);
    plan.by_columns = folded_first ? near_folded->size < 16 && near_kept->size >= 16
                                   : near_kept->size >= 8 || near_folded->size < 64;
  }
  if (plan.by_columns) {
    plan.vector = *near_kept;
    --plan.kept.rank;
  } else if (near_folded) {
    plan.vector = *near_folded;
    --plan.reduced.rank;
  }
}

template <class A>
constexpr Carried carried_of_sum() {
  return std::is_same_v<A, double>         ? Carried::f64
         : std::is_same_v<A, std::int64_t> ? Carried::i64
                                           : Carried::u64;
}

// Puts `n` (at most `block_elements`) results, `stride` apart from `offset` on, into the output;
// `values` are spent.
template <class A>
void put_results(const Plan& plan, A* values, std::int64_t n, std::int64_t offset,
                 std::int64_t stride) {
  if (plan.mean) {
    for (std::int64_t i = 0; i < n; ++i) {
      values[i] /= static_cast<A>(plan.reduced_count);
    }
  }
  const DType dtype = plan.out->dtype();
  const auto size = static_cast<std::int64_t>(sinter::size_of(dtype));
  std::byte* to = plan.out->data() + (plan.out_start + offset) * size;
  if (stride == 1) {
    return store_block(carried_of_sum<A>(), values, dtype, to, n);
  }
  BlockBuffer block;
  store_block(carried_of_sum<A>(), values, dtype, block.data(), n);
  scatter_run(block.data(), to, stride, static_cast<std::size_t>(size), n);
}

// Single results wait here for their neighbours, to be converted together.
template <class A>
class Results {
 public:
  explicit Results(const Plan& plan) : plan_(plan) {}
  ~Results() { flush(); }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  void push(A value, std::int64_t offset) {
    if (count_ == block_elements || offset != start_ + count_) {
      flush();
      start_ = offset;
    }
    values_[count_++] = value;
  }

 private:
  void flush() {
    if (count_ > 0) {
      put_results(plan_, values_, count_, start_, 1);
      count_ = 0;
    }
  }

  const Plan& plan_;
  std::int64_t count_ = 0;
  std::int64_t start_ = 0;
  A values_[block_elements];
};

// to[j] = combine(to[j], from[j]): the fold is chosen once, outside of the loop.
template <class A, class T>
void combine_all(Fold fold, A* to, const T* from, std::int64_t n) {
  const auto run = [&](auto f) {
    for (std::int64_t j = 0; j < n; ++j) {
      to[j] = combine(decltype(f)::value, to[j], static_cast<A>(from[j]));
    }
  };
  switch (fold) {
    case Fold::sum:
      return run(std::integral_constant<Fold, Fold::sum>{});
    case Fold::prod:
      return run(std::integral_constant<Fold, Fold::prod>{});
    case Fold::max:
      return run(std::integral_constant<Fold, Fold::max>{});
    case Fold::min:
      return run(std::integral_constant<Fold, Fold::min>{});
    case Fold::any:
      return run(std::integral_constant<Fold, Fold::any>{});
    case Fold::all:
      return run(std::integral_constant<Fold, Fold::all>{});
  }
}

// `n` (at most `block_elements`, unless they lie as kernels want them) elements along the vector
// axis.
const void* fetch(const Plan& plan, std::int64_t offset, std::int64_t n, BlockBuffer& buffer) {
  const std::byte* from = plan.data + offset * plan.element;
  if (plan.vector.in == 1) {
    return load_block(plan.dtype, from, plan.carried, n, buffer);
  }
  BlockBuffer raw;
  gather_run(from, plan.vector.in, static_cast<std::size_t>(plan.element), n, raw.data());
  const void* block = load_block(plan.dtype, raw.data(), plan.carried, n, buffer);
  if (block == raw.data()) {
    std::memcpy(buffer.data(), block, static_cast<std::size_t>(n) * size_of(plan.carried));
  }
  return buffer.data();
}

bool direct(const Plan& plan) {
  return plan.vector.in == 1 && plan.dtype == dtype_of_carried(plan.carried);
}

// Positions [begin, end) of all reduced elements of one result, counted along rows.
template <class T>
Acc<T> fold_rows(const Plan& plan, std::int64_t base, std::int64_t begin, std::int64_t end) {
  const auto kernel =
      kernels().reduce().rows[static_cast<int>(plan.carried)][static_cast<int>(plan.fold)];
  const std::int64_t width = plan.vector.size;
  const std::int64_t step = direct(plan) ? row_elements : block_elements;
  BlockBuffer buffer;
  Acc<T> acc = neutral<Acc<T>>(plan.fold);
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row = at / width;
    const std::int64_t column = at % width;
    const std::int64_t n = std::min({step, width - column, end - at});
    const std::int64_t offset = base + plan.reduced.in_offset(row) + column * plan.vector.in;
    T part;
    kernel(fetch(plan, offset, n, buffer), static_cast<std::size_t>(n), &part);
    acc = combine(plan.fold, acc, static_cast<Acc<T>>(part));
    at += n;
  }
  return acc;
}

template <class T>
void run_rows(const Plan& plan) {
  const std::int64_t results = plan.kept.count();
  const std::int64_t each = plan.reduced_count;
  const std::int64_t pieces =
      results < few_results ? std::clamp<std::int64_t>(each / piece_elements, 1, 256) : 1;
  if (pieces == 1) {
    const std::int64_t grain = std::max<std::int64_t>(1, 2 * parallel_grain / each);
    parallel_for(results, grain, [&](std::int64_t begin, std::int64_t end) {
      Results<Acc<T>> out(plan);
      for (std::int64_t i = begin; i < end; ++i) {
        out.push(fold_rows<T>(plan, plan.kept.in_offset(i), 0, each), plan.kept.out_offset(i));
      }
    });
    return;
  }
  std::vector<Acc<T>> parts(static_cast<std::size_t>(results * pieces));
  parallel_for(results * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t piece = task % pieces;
      parts[static_cast<std::size_t>(task)] =
          fold_rows<T>(plan, plan.kept.in_offset(task / pieces), each * piece / pieces,
                       each * (piece + 1) / pieces);
    }
  });
  Results<Acc<T>> out(plan);
  for (std::int64_t i = 0; i < results; ++i) {
    Acc<T> acc = parts[static_cast<std::size_t>(i * pieces)];
    for (std::int64_t p = 1; p < pieces; ++p) {
      acc = combine(plan.fold, acc, parts[static_cast<std::size_t>(i * pieces + p)]);
    }
    out.push(acc, plan.kept.out_offset(i));
  }
}

// Folds rows [begin, end) of `n` columns from `base` on into `acc`.
template <class T>
void fold_columns(const Plan& plan, std::int64_t base, std::int64_t begin, std::int64_t end,
                  std::int64_t n, Acc<T>* acc) {
  const auto kernel =
      kernels().reduce().columns[static_cast<int>(plan.carried)][static_cast<int>(plan.fold)];
  const auto width = static_cast<std::size_t>(n);
  const bool in_place = direct(plan);
  const std::int64_t inner =
      plan.reduced.rank > 0 ? plan.reduced.axis[plan.reduced.rank - 1].size : 1;
  const std::int64_t stride =
      plan.reduced.rank > 0 ? plan.reduced.axis[plan.reduced.rank - 1].in : 0;
  BlockBuffer gathered[8];
  constexpr std::int64_t buffer_stride = sizeof(BlockBuffer) / sizeof(T);
  T part[block_elements];
  for (std::int64_t row = begin; row < end;) {
    const bool first = row == begin;
    std::fill_n(part, n, neutral<T>(plan.fold));
    const std::int64_t last = std::min(end, row + column_rows);
    while (row < last) {
      const std::int64_t offset = base + plan.reduced.in_offset(row);
      if (in_place) {
        const std::int64_t rows = std::min(last - row, inner - row % inner);
        kernel(plan.data + offset * plan.element, stride, static_cast<std::size_t>(rows), width,
               part);
        row += rows;
        continue;
      }
      const std::int64_t rows = std::min<std::int64_t>(last - row, 8);
      for (std::int64_t r = 0; r < rows; ++r) {
        const void* block = fetch(plan, base + plan.reduced.in_offset(row + r), n, gathered[r]);
        if (block != gathered[r].data()) {
          std::memcpy(gathered[r].data(), block, width * sizeof(T));
        }
      }
      kernel(gathered[0].data(), buffer_stride, static_cast<std::size_t>(rows), width, part);
      row += rows;
    }
    if (first) {
      store_block(plan.carried, part, dtype_of_carried(carried_of_sum<Acc<T>>()), acc, n);
    } else {
      combine_all(plan.fold, acc, part, n);
    }
  }
}

template <class T>
void run_columns(const Plan& plan) {
  const std::int64_t chunks = (plan.vector.size + block_elements - 1) / block_elements;
  const std::int64_t tasks = plan.kept.count() * chunks;
  const std::int64_t rows = plan.reduced_count;
  const std::int64_t width = std::min(plan.vector.size, block_elements);
  const std::int64_t pieces =
      tasks < few_results ? std::clamp<std::int64_t>(rows * width / piece_elements, 1, 256) : 1;
  const auto columns_of = [&](std::int64_t task) {
    return std::min(block_elements, plan.vector.size - task % chunks * block_elements);
  };
  const auto fold = [&](std::int64_t task, std::int64_t piece, Acc<T>* acc) {
    const std::int64_t base =
        plan.kept.in_offset(task / chunks) + task % chunks * block_elements * plan.vector.in;
    fold_columns<T>(plan, base, rows * piece / pieces, rows * (piece + 1) / pieces,
                    columns_of(task), acc);
  };
  const auto finish = [&](std::int64_t task, Acc<T>* acc) {
    const std::int64_t first = task % chunks * block_elements;
    put_results(plan, acc, columns_of(task),
                plan.kept.out_offset(task / chunks) + first * plan.vector.out, plan.vector.out);
  };
  if (pieces == 1) {
    const std::int64_t grain = std::max<std::int64_t>(1, 2 * parallel_grain / (rows * width));
    parallel_for(tasks, grain, [&](std::int64_t begin, std::int64_t end) {
      Acc<T> acc[block_elements];
      for (std::int64_t task = begin; task < end; ++task) {
        fold(task, 0, acc);
        finish(task, acc);
      }
    });
    return;
  }
  std::vector<Acc<T>> parts(static_cast<std::size_t>(tasks * pieces * width));
  parallel_for(tasks * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      fold(i / pieces, i % pieces, parts.data() + i * width);
    }
  });
  for (std::int64_t task = 0; task < tasks; ++task) {
    Acc<T>* acc = parts.data() + task * pieces * width;
    for (std::int64_t p = 1; p < pieces; ++p) {
      combine_all(plan.fold, acc, acc + p * width, columns_of(task));
    }
    finish(task, acc);
  }
}

template <class T>
void run(const Plan& plan) {
  const std::int64_t results = num_elements(plan.out->shape());
  if (plan.reduced_count == 0) {
    Results<Acc<T>> out(plan);
    for (std::int64_t i = 0; i < results; ++i) {
      out.push(neutral<Acc<T>>(plan.fold), i);
    }
  } else if (results > 0) {
    plan.by_columns ? run_columns<T>(plan) : run_rows<T>(plan);
  }
}

void run_reduce(Backend& backend, const OpCall& call, Outputs& outputs) {
  if (call.def->code < 0) {
    // A fold of the user's: only the reference knows how to run its formula.
    return reference::kernels().reduce(backend, call, outputs);
  }
  const HostTensor& x = host(call.inputs[0]);
  Value result = allocate(backend, call.outputs[0]);
  Plan plan;
  plan.fold = fold_of(*call.def);
  plan.mean = static_cast<OpCode>(call.def->code) == OpCode::mean;
  plan.carried = carried_of(x.dtype());
  plan.dtype = x.dtype();
  plan.element = static_cast<std::int64_t>(sinter::size_of(x.dtype()));
  plan.data = x.data();
  plan.out = &host(result);
  bool reduced[max_rank] = {};
  // Every reduction's attributes begin with ReduceDims; no dims mean all.
  const Dims& dims = static_cast<const ReduceDims*>(call.attributes)->dims;
  const int rank = x.shape().rank();
  std::fill_n(reduced, rank, dims.empty());
  for (const std::int64_t dim : dims) {
    reduced[dim < 0 ? dim + rank : dim] = true;
  }
  for (int d = 0; d < rank; ++d) {
    plan.reduced_count *= reduced[d] ? x.shape()[d] : 1;
  }
  Axes kept;
  Axes folded;
  if (plan.reduced_count > 0) {
    lay_out(plan, x, reduced, kept, folded);
    choose_vector(plan, kept, folded);
  }
  switch (plan.carried) {
    case Carried::f32:
      run<float>(plan);
      break;
    case Carried::f64:
      run<double>(plan);
      break;
    case Carried::i64:
      run<std::int64_t>(plan);
      break;
    case Carried::u64:
      run<std::uint64_t>(plan);
      break;
  }
  outputs.push_back(std::move(result));
}

}  // namespace

void set_reduce(KernelTable& table) { table.reduce = run_reduce; }

}  // namespace sinter::backend::portable
