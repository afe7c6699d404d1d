// SPDX-License-Identifier: MIT OR Apache-2.0
// Order along a dim. Elements become unsigned keys that compare as the elements should; keys of up
// to 32 bits are sorted together with their positions as one number, long rows by radix.
#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>
#include <vector>

#include "sinter/backend/portable/blocks.hpp"
#include "sinter/backend/portable/convert.hpp"
#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/base/thread_pool.hpp"
#include "sinter/ops/sort/sort.hpp"

namespace sinter::backend::portable {
namespace {

// A dense tensor as [outer, length, inner], ordered along the middle.
struct Rows {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;

  Rows(const Shape& shape, int dim) : length(shape[dim]) {
    for (int i = 0; i < shape.rank(); ++i) {
      (i < dim ? outer : inner) *= i == dim ? 1 : shape[i];
    }
  }
};

enum class Nan { first, last };

// A number that is smaller the earlier `x` comes. Equal elements have equal keys, -0 and 0 among
// them.
template <class T>
auto key_of(T x, bool descending, Nan nan) {
  if constexpr (std::is_floating_point_v<T>) {
    using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr U sign = U(1) << (8 * sizeof(T) - 1);
    if (x != x) {
      return nan == Nan::first ? U(0) : std::numeric_limits<U>::max();
    }
    const U bits = std::bit_cast<U>(x == 0 ? T(0) : x);
    const U key = bits & sign ? static_cast<U>(~bits) : static_cast<U>(bits | sign);
    return descending ? static_cast<U>(~key) : key;
  } else {
    using U = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;
    constexpr U bias = std::is_signed_v<T> ? U(1) << (8 * sizeof(U) - 1) : U(0);
    const U key = static_cast<U>(x) + bias;
    return descending ? static_cast<U>(~key) : key;
  }
}

// Key above position: equal keys stay in order whatever sorts them.
struct Packed {
  using Item = std::uint64_t;
  static Item make(std::uint32_t key, std::int64_t position) {
    return std::uint64_t{key} << 32 | static_cast<std::uint32_t>(position);
  }
  static std::int64_t position(Item item) { return static_cast<std::uint32_t>(item); }
};
struct Paired {
  struct Item {
    std::uint64_t key;
    std::int64_t at;
    bool operator<(const Item& other) const {
      return key != other.key ? key < other.key : at < other.at;
    }
  };
  static Item make(std::uint64_t key, std::int64_t position) { return {key, position}; }
  static std::int64_t position(const Item& item) { return item.at; }
};

constexpr std::int64_t radix_from = 2048;  // shorter rows are sorted by comparisons
constexpr int digit_bits = 11;

// Least significant digit first: three passes over the 32-bit key.
void radix_sort(std::vector<std::uint64_t>& items, std::vector<std::uint64_t>& other) {
  constexpr std::size_t digits = std::size_t{1} << digit_bits;
  other.resize(items.size());
  for (int shift = 32; shift < 64; shift += digit_bits) {
    std::size_t count[digits] = {};
    const auto digit = [shift](std::uint64_t item) { return (item >> shift) & (digits - 1); };
    for (const std::uint64_t item : items) {
      ++count[digit(item)];
    }
    if (count[digit(items[0])] == items.size()) {
      continue;
    }
    std::size_t start = 0;
    for (std::size_t& c : count) {
      const std::size_t n = c;
      c = start;
      start += n;
    }
    for (const std::uint64_t item : items) {
      other[count[digit(item)]++] = item;
    }
    items.swap(other);
  }
}

// The first `wanted` items in order; the rest are in any order.
template <class Item>
void order_items(std::vector<Item>& items, std::vector<Item>& other, std::int64_t wanted) {
  const auto n = static_cast<std::int64_t>(items.size());
  if (wanted < n) {
    if (wanted > 0) {
      std::nth_element(items.begin(), items.begin() + wanted - 1, items.end());
      std::sort(items.begin(), items.begin() + wanted);
    }
    return;
  }
  if constexpr (std::is_same_v<Item, std::uint64_t>) {
    if (n >= radix_from) {
      return radix_sort(items, other);
    }
  }
  std::sort(items.begin(), items.end());
}

template <class T>
void rank_rows(const Rows& r, const T* x, std::int64_t wanted, bool descending, Nan nan, T* values,
               std::int64_t* indices) {
  using Key = decltype(key_of(T(), false, Nan::last));
  using Kind = std::conditional_t<sizeof(Key) == 4, Packed, Paired>;
  // Sorting takes several passes: a row is worth more than its elements.
  parallel_for(r.outer * r.inner, parallel_grain / (8 * r.length + 1) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<typename Kind::Item> items(static_cast<std::size_t>(r.length));
                 std::vector<typename Kind::Item> other;
                 for (std::int64_t row = begin; row < end; ++row) {
                   const std::int64_t o = row / r.inner;
                   const std::int64_t i = row % r.inner;
                   const T* from = x + o * r.length * r.inner + i;
                   for (std::int64_t k = 0; k < r.length; ++k) {
                     items[static_cast<std::size_t>(k)] =
                         Kind::make(key_of(from[k * r.inner], descending, nan), k);
                   }
                   order_items(items, other, wanted);
                   const std::int64_t to = o * wanted * r.inner + i;
                   for (std::int64_t k = 0; k < wanted; ++k) {
                     const std::int64_t at = Kind::position(items[static_cast<std::size_t>(k)]);
                     indices[to + k * r.inner] = at;
                     values[to + k * r.inner] = from[at * r.inner];
                   }
                 }
               });
}

// Half types are ordered as f32, small integers as themselves.
template <class F>
void with_sortable(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return f.template operator()<double>();
    case DType::i64:
      return f.template operator()<std::int64_t>();
    case DType::i32:
      return f.template operator()<std::int32_t>();
    case DType::u64:
      return f.template operator()<std::uint64_t>();
    case DType::u32:
      return f.template operator()<std::uint32_t>();
    default:
      return f.template operator()<float>();  // exact for all narrower types
  }
}

void run_ranked(Backend& backend, const OpCall& call, Outputs& outputs, std::int64_t attribute,
                bool descending, Nan nan) {
  const Value& x = call.inputs[0];
  const TensorSpec& spec = call.outputs[0];
  const int dim = normalize_dim(attribute, x.rank(), call.def->name);
  const Rows rows(x.shape(), dim);
  Value indices = allocate(backend, call.outputs[1]);
  Value values;
  with_sortable(x.dtype(), [&]<class T>() {
    const Value from = x.dtype() == dtype_of<T> ? densely(x) : converted(x, dtype_of<T>);
    values = allocate(backend, spec.shape, dtype_of<T>);
    rank_rows(rows, host(from).data_as<T>(), spec.shape[dim], descending, nan,
              host(values).data_as<T>(), host(indices).data_as<std::int64_t>());
  });
  outputs.push_back(values.dtype() == spec.dtype ? values : converted(values, spec.dtype));
  outputs.push_back(std::move(indices));
}

void run_sort(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Sort>();
  run_ranked(backend, call, outputs, op.dim, op.descending, Nan::last);
}
void run_topk(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::TopK>();
  run_ranked(backend, call, outputs, op.dim, op.largest, Nan::first);
}

constexpr std::int64_t columns_at_once = 1024;

template <class T>
void find_extremes(const sinter::portable::ArgKernels<T>& kernel, const Rows& r, const T* x,
                   bool largest, std::int64_t* out) {
  if (r.inner == 1) {
    return parallel_for(r.outer, parallel_grain / (r.length + 1) + 1,
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t o = begin; o < end; ++o) {
                            out[o] = kernel.row(x + o * r.length, r.length, largest);
                          }
                        });
  }
  const std::int64_t groups = (r.inner + columns_at_once - 1) / columns_at_once;
  const std::int64_t work = r.length * std::min(r.inner, columns_at_once);
  parallel_for(r.outer * groups, parallel_grain / (work + 1) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t task = begin; task < end; ++task) {
                   const std::int64_t o = task / groups;
                   const std::int64_t first = task % groups * columns_at_once;
                   kernel.columns(x + o * r.length * r.inner + first, r.inner, r.length,
                                  std::min(columns_at_once, r.inner - first), largest,
                                  out + o * r.inner + first);
                 }
               });
}

void run_extreme(Backend& backend, const OpCall& call, Outputs& outputs, std::int64_t attribute,
                 bool largest) {
  const Value& x = call.inputs[0];
  const Rows rows(x.shape(), normalize_dim(attribute, x.rank(), call.def->name));
  Value out = allocate(backend, call.outputs[0]);
  auto* to = host(out).data_as<std::int64_t>();
  const sinter::portable::OrderKernels& table = kernels().order();
  if (x.dtype() == DType::f64) {
    find_extremes(table.f64, rows, host(densely(x)).data_as<double>(), largest, to);
  } else if (size_of(x.dtype()) <= 2 || x.dtype() == DType::f32) {
    const Value from = x.dtype() == DType::f32 ? densely(x) : converted(x, DType::f32);
    find_extremes(table.f32, rows, host(from).data_as<float>(), largest, to);
  } else {
    Value from = x.dtype() == DType::i64 ? densely(x) : converted(x, DType::i64);
    if (x.dtype() == DType::u64) {
      // The order of u64 is that of i64 with the top bit flipped.
      const Value flipped = allocate(backend, x.shape(), DType::i64);
      const auto* a = host(from).data_as<std::int64_t>();
      auto* b = host(flipped).data_as<std::int64_t>();
      for (std::int64_t i = 0; i < x.num_elements(); ++i) {
        b[i] = a[i] ^ std::numeric_limits<std::int64_t>::min();
      }
      from = flipped;
    }
    find_extremes(table.i64, rows, host(from).data_as<std::int64_t>(), largest, to);
  }
  outputs.push_back(std::move(out));
}

void run_argmax(Backend& backend, const OpCall& call, Outputs& outputs) {
  run_extreme(backend, call, outputs, call.as<ops::Argmax>().dim, true);
}
void run_argmin(Backend& backend, const OpCall& call, Outputs& outputs) {
  run_extreme(backend, call, outputs, call.as<ops::Argmin>().dim, false);
}

}  // namespace

void set_sort(KernelTable& table) {
  table.set<ops::Sort>(run_sort);
  table.set<ops::TopK>(run_topk);
  table.set<ops::Argmax>(run_argmax);
  table.set<ops::Argmin>(run_argmin);
}

}  // namespace sinter::backend::portable
