// SPDX-License-Identifier: MIT OR Apache-2.0
// Collation: how the items of a batch become one value.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sinter/data/rows.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter::data {

namespace detail {
template <class Item>
concept HasOwnCollate = requires(std::span<const Item> items) { collate(items); };
}  // namespace detail

/// How items of one type are put together. Known: HostData (stacked: [n, …]), vectors of HostData
/// (field by field), numbers (a tensor [n]), strings (a vector), pairs and tuples of these. For an
/// item type of your own write `Batch collate(std::span<const Item>)` beside it.
template <class Item>
struct Collate;

template <class Item>
concept Collatable = requires(std::span<const Item> items) { Collate<Item>()(items); };

template <class Item>
  requires detail::HasOwnCollate<Item>
struct Collate<Item> {
  auto operator()(std::span<const Item> items) const { return collate(items); }
};

template <>
struct Collate<HostData> {
  HostData operator()(std::span<const HostData> items) const { return stack_rows(items); }
};

template <>
struct Collate<std::vector<HostData>> {
  /// Throws ShapeError when the items have different numbers of fields.
  std::vector<HostData> operator()(std::span<const std::vector<HostData>> items) const;
};

template <Element T>
struct Collate<T> {
  HostData operator()(std::span<const T> items) const {
    return HostData({static_cast<std::int64_t>(items.size())}, items);
  }
};

template <>
struct Collate<std::string> {
  std::vector<std::string> operator()(std::span<const std::string> items) const {
    return {items.begin(), items.end()};
  }
};

namespace detail {
// A vector of bool has no contiguous elements, so items are kept in an array of their own.
template <std::size_t N, class Item>
auto collate_field(std::span<const Item> items) {
  using Field = std::remove_cvref_t<std::tuple_element_t<N, Item>>;
  const auto fields = std::make_unique<Field[]>(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    fields[i] = std::get<N>(items[i]);
  }
  return Collate<Field>()(std::span<const Field>(fields.get(), items.size()));
}
}  // namespace detail

template <Collatable A, Collatable B>
struct Collate<std::pair<A, B>> {
  auto operator()(std::span<const std::pair<A, B>> items) const {
    return std::pair(detail::collate_field<0>(items), detail::collate_field<1>(items));
  }
};

template <Collatable... Ts>
struct Collate<std::tuple<Ts...>> {
  auto operator()(std::span<const std::tuple<Ts...>> items) const {
    return [&]<std::size_t... N>(std::index_sequence<N...>) {
      return std::tuple(detail::collate_field<N>(items)...);
    }(std::index_sequence_for<Ts...>());
  }
};

}  // namespace sinter::data
