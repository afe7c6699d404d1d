// SPDX-License-Identifier: MIT OR Apache-2.0
// Datasets: anything with size() and get(i), and the ways to make one from another.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/data/rows.hpp"
#include "sinter/data/sampler.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter::data {

/// A dataset has `size()` and `get(i)` for 0 <= i < size(). Both are const and may be called from
/// several threads at once. Copies should be cheap: those here share their items.
template <class D>
concept Dataset = requires(const D& dataset, std::int64_t i) {
  { dataset.size() } -> std::convertible_to<std::int64_t>;
  dataset.get(i);
};

template <Dataset D>
using ItemOf = std::remove_cvref_t<decltype(std::declval<const D&>().get(std::int64_t{}))>;

/// A dataset that makes whole batches faster than item by item: `batch(indices)`.
template <class D>
concept BatchDataset =
    Dataset<D> &&
    requires(const D& dataset, std::span<const std::int64_t> indices) { dataset.batch(indices); };

/// One item of several tensors, such as {image, label}; a batch of them has the same fields.
using Sample = std::vector<HostData>;

/// A vector of items.
template <class T>
class InMemoryDataset {
 public:
  explicit InMemoryDataset(std::vector<T> items)
      : items_(std::make_shared<const std::vector<T>>(std::move(items))) {}

  std::int64_t size() const { return static_cast<std::int64_t>(items_->size()); }
  /// Throws IndexError outside [0, size()).
  const T& get(std::int64_t i) const {
    check_index(i, size(), "InMemoryDataset");
    return (*items_)[static_cast<std::size_t>(i)];
  }

 private:
  std::shared_ptr<const std::vector<T>> items_;
};

/// Tensors [n, …] side by side: item `i` is row `i` of each.
class ColumnDataset {
 public:
  /// Throws ShapeError unless all columns have the same first size.
  explicit ColumnDataset(std::vector<HostData> columns);

  std::int64_t size() const { return size_; }
  const std::vector<HostData>& columns() const { return *columns_; }
  Sample get(std::int64_t i) const;
  std::vector<HostData> batch(std::span<const std::int64_t> indices) const;

 private:
  std::shared_ptr<const std::vector<HostData>> columns_;
  std::int64_t size_ = 0;
};

/// Each item passed through `f`, which must be callable from several threads at once.
template <Dataset D, class F>
class MapDataset {
 public:
  MapDataset(D dataset, F f) : dataset_(std::move(dataset)), f_(std::move(f)) {}

  std::int64_t size() const { return dataset_.size(); }
  auto get(std::int64_t i) const { return f_(dataset_.get(i)); }

 private:
  D dataset_;
  F f_;
};

/// The items at `indices`, in that order; an index may come several times.
template <Dataset D>
class SubsetDataset {
 public:
  /// Throws IndexError for an index outside the dataset.
  SubsetDataset(D dataset, std::vector<std::int64_t> indices) : dataset_(std::move(dataset)) {
    for (const std::int64_t i : indices) {
      check_index(i, dataset_.size(), "SubsetDataset");
    }
    indices_ = std::make_shared<const std::vector<std::int64_t>>(std::move(indices));
  }

  std::int64_t size() const { return static_cast<std::int64_t>(indices_->size()); }
  decltype(auto) get(std::int64_t i) const { return dataset_.get(at(i)); }
  auto batch(std::span<const std::int64_t> indices) const
    requires BatchDataset<D>
  {
    std::vector<std::int64_t> inner(indices.size());
    for (std::size_t i = 0; i < inner.size(); ++i) {
      inner[i] = at(indices[i]);
    }
    return dataset_.batch(std::span<const std::int64_t>(inner.data(), inner.size()));
  }

 private:
  std::int64_t at(std::int64_t i) const {
    check_index(i, size(), "SubsetDataset");
    return (*indices_)[static_cast<std::size_t>(i)];
  }

  D dataset_;
  std::shared_ptr<const std::vector<std::int64_t>> indices_;
};

/// The items begin … end - 1; throws IndexError unless 0 <= begin <= end <= size.
template <Dataset D>
SubsetDataset<D> partial(D dataset, std::int64_t begin, std::int64_t end) {
  check_index(begin, end + 1, "partial");
  check_index(end, dataset.size() + 1, "partial");
  std::vector<std::int64_t> indices(static_cast<std::size_t>(end - begin));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = begin + static_cast<std::int64_t>(i);
  }
  return {std::move(dataset), std::move(indices)};
}

/// All items in an order drawn once from `seed`.
template <Dataset D>
SubsetDataset<D> shuffled(D dataset, std::uint64_t seed) {
  const std::int64_t size = dataset.size();
  return {std::move(dataset), permutation(size, seed)};
}

/// `count` items drawn once from `seed`, each any item with the same chance.
template <Dataset D>
SubsetDataset<D> sampled(D dataset, std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count > 0 ? count : 0));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    check_index(0, dataset.size(), "sampled");
    indices[i] = draw_below(dataset.size(), seed, 0, i);
  }
  return {std::move(dataset), std::move(indices)};
}

/// Two disjoint random parts that together hold every item; the first has `first_size` items.
template <Dataset D>
std::pair<SubsetDataset<D>, SubsetDataset<D>> split(D dataset, std::int64_t first_size,
                                                    std::uint64_t seed) {
  check_index(first_size, dataset.size() + 1, "split");
  const std::vector<std::int64_t> order = permutation(dataset.size(), seed);
  const auto middle = order.begin() + first_size;
  return {SubsetDataset<D>(dataset, {order.begin(), middle}),
          SubsetDataset<D>(dataset, {middle, order.end()})};
}

/// Datasets of one item type, one after the other.
template <Dataset... Ds>
class ConcatDataset {
 public:
  using Item = ItemOf<std::tuple_element_t<0, std::tuple<Ds...>>>;
  static_assert((std::is_same_v<Item, ItemOf<Ds>> && ...),
                "ConcatDataset: all datasets must have the same item type");

  explicit ConcatDataset(Ds... datasets) : datasets_(std::move(datasets)...) {}

  std::int64_t size() const {
    return std::apply([](const Ds&... all) { return (all.size() + ...); }, datasets_);
  }
  Item get(std::int64_t i) const {
    check_index(i, size(), "ConcatDataset");
    return get_from<0>(i);
  }

 private:
  template <std::size_t N>
  Item get_from(std::int64_t i) const {
    const auto& part = std::get<N>(datasets_);
    if constexpr (N + 1 < sizeof...(Ds)) {
      const std::int64_t size = part.size();
      return i < size ? Item(part.get(i)) : get_from<N + 1>(i - size);
    } else {
      return part.get(i);
    }
  }

  std::tuple<Ds...> datasets_;
};

/// Runs of `length` neighbouring items, the first of each `stride` after the one before; only whole
/// runs, so a dataset shorter than `length` has none.
template <Dataset D>
class WindowsDataset {
 public:
  /// Throws ArgumentError unless `length` and `stride` are at least 1.
  WindowsDataset(D dataset, std::int64_t length, std::int64_t stride = 1)
      : dataset_(std::move(dataset)), length_(length), stride_(stride) {
    if (length < 1 || stride < 1) {
      throw ArgumentError("WindowsDataset: length and stride must be at least 1, got " +
                          std::to_string(length) + " and " + std::to_string(stride));
    }
  }

  std::int64_t size() const {
    const std::int64_t items = dataset_.size();
    return items < length_ ? 0 : (items - length_) / stride_ + 1;
  }
  std::vector<ItemOf<D>> get(std::int64_t i) const {
    check_index(i, size(), "WindowsDataset");
    std::vector<ItemOf<D>> window;
    window.reserve(static_cast<std::size_t>(length_));
    for (std::int64_t j = 0; j < length_; ++j) {
      window.push_back(dataset_.get(i * stride_ + j));
    }
    return window;
  }

 private:
  D dataset_;
  std::int64_t length_;
  std::int64_t stride_;
};

/// Any dataset of items `T`, for code that shouldn't depend on how it is made.
template <class T>
class AnyDataset {
 public:
  template <Dataset D>
    requires(!std::is_same_v<D, AnyDataset>)
  AnyDataset(D dataset) : held_(std::make_shared<const Held<D>>(std::move(dataset))) {}

  std::int64_t size() const { return held_->size(); }
  T get(std::int64_t i) const { return held_->get(i); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual std::int64_t size() const = 0;
    virtual T get(std::int64_t i) const = 0;
  };
  template <class D>
  struct Held final : Base {
    explicit Held(D d) : dataset(std::move(d)) {}
    std::int64_t size() const override { return dataset.size(); }
    T get(std::int64_t i) const override { return dataset.get(i); }
    D dataset;
  };
  std::shared_ptr<const Base> held_;
};

}  // namespace sinter::data
