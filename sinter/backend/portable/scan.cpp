// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans: rows one by one, columns side by side. Floats are added and multiplied in double.
#include <algorithm>
#include <type_traits>

#include "sinter/backend/portable/blocks.hpp"
#include "sinter/backend/portable/convert.hpp"
#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/base/thread_pool.hpp"
#include "sinter/ops/scan/scan.hpp"

namespace sinter::backend::portable {
namespace {

// A dense tensor as [outer, length, inner], scanned along the middle.
struct Split {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;

  Split(const Shape& shape, int dim) : length(shape[dim]) {
    for (int i = 0; i < shape.rank(); ++i) {
      (i < dim ? outer : inner) *= i == dim ? 1 : shape[i];
    }
  }
};

constexpr std::int64_t columns_at_once = 1024;

// Calls `body(first element, columns)` for every group of at most `columns_at_once` neighbouring
// columns.
template <class F>
void over_columns(const Split& s, F&& body) {
  if (s.length == 0) {
    return;
  }
  const std::int64_t groups = (s.inner + columns_at_once - 1) / columns_at_once;
  const std::int64_t work = s.length * std::min(s.inner, columns_at_once);
  parallel_for(s.outer * groups, parallel_grain / (work + 1) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t task = begin; task < end; ++task) {
                   const std::int64_t first = task % groups * columns_at_once;
                   body(task / groups * s.length * s.inner + first,
                        std::min(columns_at_once, s.inner - first));
                 }
               });
}

// Unsigned, so that integers wrap.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

template <bool product, class T>
void fold(const Split& s, const T* x, T* y) {
  over_columns(s, [&](std::int64_t start, std::int64_t columns) {
    if (columns == 1) {
      Sum<T> acc(product ? 1 : 0);
      for (std::int64_t i = start; i < start + s.length * s.inner; i += s.inner) {
        const auto element = static_cast<Sum<T>>(x[i]);
        acc = product ? acc * element : acc + element;
        y[i] = static_cast<T>(acc);
      }
      return;
    }
    Sum<T> acc[columns_at_once];
    std::fill_n(acc, columns, Sum<T>(product ? 1 : 0));
    for (std::int64_t i = 0; i < s.length; ++i) {
      const T* from = x + start + i * s.inner;
      T* to = y + start + i * s.inner;
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto element = static_cast<Sum<T>>(from[j]);
        acc[j] = product ? acc[j] * element : acc[j] + element;
        to[j] = static_cast<T>(acc[j]);
      }
    }
  });
}

template <bool largest, class T>
void extreme(const Split& s, const T* x, T* y, std::int64_t* indices) {
  over_columns(s, [&](std::int64_t start, std::int64_t columns) {
    if (columns == 1) {
      T best = x[start];
      std::int64_t index = 0;
      for (std::int64_t i = 0; i < s.length; ++i) {
        const T element = x[start + i * s.inner];
        const bool better = largest ? element > best : element < best;
        if (best == best && (better || element != element)) {
          best = element;
          index = i;
        }
        y[start + i * s.inner] = best;
        indices[start + i * s.inner] = index;
      }
      return;
    }
    T best[columns_at_once];
    std::int64_t index[columns_at_once];
    std::copy_n(x + start, columns, best);
    std::fill_n(index, columns, std::int64_t{0});
    for (std::int64_t i = 0; i < s.length; ++i) {
      const std::int64_t row = start + i * s.inner;
      for (std::int64_t j = 0; j < columns; ++j) {
        const T element = x[row + j];
        const bool better = largest ? element > best[j] : element < best[j];
        const bool wins = (better | (element != element)) & (best[j] == best[j]);
        best[j] = wins ? element : best[j];
        index[j] = wins ? i : index[j];
        y[row + j] = best[j];
        indices[row + j] = index[j];
      }
    }
  });
}

template <class F>
void with_carried(Carried carried, F&& f) {
  switch (carried) {
    case Carried::f32:
      return f.template operator()<float>();
    case Carried::f64:
      return f.template operator()<double>();
    case Carried::i64:
      return f.template operator()<std::int64_t>();
    case Carried::u64:
      return f.template operator()<std::uint64_t>();
  }
}

// `x` dense in the type that the scan works in.
Value as_carried(const Value& x, DType working) {
  return x.dtype() == working ? densely(x) : converted(x, working);
}

template <bool product>
void run_fold(Backend& backend, const OpCall& call, Outputs& outputs, std::int64_t attribute) {
  const TensorSpec& spec = call.outputs[0];
  const Split split(spec.shape, normalize_dim(attribute, spec.shape.rank(), call.def->name));
  const Carried carried = carried_of(spec.dtype);
  const DType working = dtype_of_carried(carried);
  const Value x = as_carried(call.inputs[0], working);
  Value out = allocate(backend, spec.shape, working);
  with_carried(carried, [&]<class T>() {
    fold<product>(split, host(x).data_as<T>(), host(out).data_as<T>());
  });
  outputs.push_back(working == spec.dtype ? out : converted(out, spec.dtype));
}

template <bool largest>
void run_extreme(Backend& backend, const OpCall& call, Outputs& outputs, std::int64_t attribute) {
  const TensorSpec& spec = call.outputs[0];
  const Split split(spec.shape, normalize_dim(attribute, spec.shape.rank(), call.def->name));
  const Carried carried = carried_of(spec.dtype);
  const DType working = dtype_of_carried(carried);
  const Value x = as_carried(call.inputs[0], working);
  Value out = allocate(backend, spec.shape, working);
  Value indices = allocate(backend, call.outputs[1]);
  with_carried(carried, [&]<class T>() {
    extreme<largest>(split, host(x).data_as<T>(), host(out).data_as<T>(),
                     host(indices).data_as<std::int64_t>());
  });
  outputs.push_back(working == spec.dtype ? out : converted(out, spec.dtype));
  outputs.push_back(std::move(indices));
}

void run_cumsum(Backend& backend, const OpCall& call, Outputs& outputs) {
  run_fold<false>(backend, call, outputs, call.as<ops::Cumsum>().dim);
}
void run_cumprod(Backend& backend, const OpCall& call, Outputs& outputs) {
  run_fold<true>(backend, call, outputs, call.as<ops::Cumprod>().dim);
}
void run_cummax(Backend& backend, const OpCall& call, Outputs& outputs) {
  run_extreme<true>(backend, call, outputs, call.as<ops::Cummax>().dim);
}
void run_cummin(Backend& backend, const OpCall& call, Outputs& outputs) {
  run_extreme<false>(backend, call, outputs, call.as<ops::Cummin>().dim);
}

}  // namespace

void set_scan(KernelTable& table) {
  table.set<ops::Cumsum>(run_cumsum);
  table.set<ops::Cumprod>(run_cumprod);
  table.set<ops::Cummax>(run_cummax);
  table.set<ops::Cummin>(run_cummin);
}

}  // namespace sinter::backend::portable
