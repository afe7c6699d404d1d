// SPDX-License-Identifier: MIT OR Apache-2.0
// DataLoader: batches of a dataset, made ahead by worker threads, in an order that can be resumed.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/base/detail/atomic.hpp"
#include "sinter/data/collate.hpp"
#include "sinter/data/dataset.hpp"
#include "sinter/data/sampler.hpp"

namespace sinter::data {

struct LoaderOptions {
  std::int64_t batch_size = 32;
  /// Leaves out the last batch of an epoch when it isn't full.
  bool drop_last = false;
  Order order = Order::sequential;
  std::uint64_t seed = 0;
  /// Threads that make batches, kept for the loader's life; 0 makes them in `next()`.
  int num_workers = 0;
  /// Batches that each worker may be ahead of the consumer.
  int prefetch = 2;
  /// Draws in an epoch of Order::with_replacement; 0 means as many as items.
  std::int64_t draws = 0;
};

/// Where a loader stands; restoring it gives exactly the batches that were to come.
struct LoaderState {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  /// Batches of this epoch already taken.
  std::int64_t position = 0;
  /// What the position is counted in; a loader that differs refuses the state.
  std::int64_t items = 0;
  std::int64_t batch_size = 0;
  std::int64_t draws = 0;
  Order order = Order::sequential;
  bool drop_last = false;

  bool operator==(const LoaderState&) const = default;
  /// One line of text, for a record's metadata.
  std::string str() const;
  /// The inverse of `str()`; throws FormatError.
  static LoaderState from_str(std::string_view text);
};

namespace detail {

/// Tells the maker of a batch that nobody wants it any more.
class Cancel {
 public:
  Cancel(const sinter::detail::Atomic<std::uint64_t>& generation, std::uint64_t mine)
      : generation_(generation), mine_(mine) {}
  bool operator()() const { return generation_.load_relaxed() != mine_; }

 private:
  const sinter::detail::Atomic<std::uint64_t>& generation_;
  std::uint64_t mine_;
};

/// The part of a loader that knows no types: order, workers, delivery.
class LoaderCore {
 public:
  /// Makes the batch of `indices`; may return null once `cancel()` holds.
  using Make = std::shared_ptr<void> (*)(const void* source, std::span<const std::int64_t> indices,
                                         const Cancel& cancel);

  LoaderCore(const void* source, Make make, std::int64_t items, const LoaderOptions& options);
  ~LoaderCore();

  std::shared_ptr<void> next();
  void start_epoch(std::int64_t epoch);
  LoaderState state() const;
  void restore(const LoaderState& state);
  std::int64_t num_items() const;
  std::int64_t num_batches() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

/// The collation of `Collate<Item>`, or the dataset's own `batch(indices)` where it has one.
struct DefaultCollate {
  template <class Item>
  auto operator()(std::span<const Item> items) const {
    return Collate<Item>()(items);
  }
};

/// Gives a dataset's batches. One loop is one epoch; the next loop is the next one:
///
///     DataLoader loader(dataset, {.batch_size = 64, .order = Order::shuffled, .num_workers = 2});
///     for (int epoch = 0; epoch < 10; ++epoch) {
///       for (auto& batch : loader) { … }
///     }
///
/// The batches depend on the options and the epoch, never on the number of workers. An exception
/// of the dataset or the collation comes out of `next()` in place of its batch; the loader then
/// goes on with the batch after it. A loop left early goes on where it was: `start_epoch` drops
/// the rest. A loader is used by one thread at a time.
template <Dataset D, class C = DefaultCollate>
class DataLoader {
  using Item = ItemOf<D>;
  static constexpr bool by_dataset = BatchDataset<D> && std::is_same_v<C, DefaultCollate>;
  static constexpr bool by_default = std::is_same_v<C, DefaultCollate>;
  static_assert(by_dataset || !by_default || Collatable<Item>,
                "sinter::data::DataLoader: there is no collate for this dataset's item type. Write "
                "`Batch collate(std::span<const Item> items)` in the item's namespace, or pass a "
                "function of std::span<const Item> as the loader's third argument");

  static auto batch_type() {
    if constexpr (by_dataset) {
      using B = decltype(std::declval<const D&>().batch(std::span<const std::int64_t>()));
      return std::type_identity<std::remove_cvref_t<B>>();
    } else if constexpr (!by_default || Collatable<Item>) {
      using B = decltype(std::declval<const C&>()(std::span<const Item>()));
      return std::type_identity<std::remove_cvref_t<B>>();
    } else {
      return std::type_identity<int>();
    }
  }

 public:
  using Batch = typename decltype(batch_type())::type;

  /// Throws ArgumentError for options that make no sense.
  explicit DataLoader(D dataset, const LoaderOptions& options = {}, C collate = {})
      : source_(std::make_unique<const Source>(Source{std::move(dataset), std::move(collate)})),
        core_(std::make_unique<detail::LoaderCore>(source_.get(), &make, source_->dataset.size(),
                                                   options)) {}

  /// The next batch; nullopt once at the end of each epoch, after which the next epoch starts.
  std::optional<Batch> next() {
    const std::shared_ptr<void> batch = core_->next();
    if (!batch) {
      return std::nullopt;
    }
    return std::move(*static_cast<Batch*>(batch.get()));
  }

  class Iterator {
   public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    Batch& operator*() const { return *loader_->current_; }
    Iterator& operator++() {
      loader_->current_ = loader_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !loader_->current_; }

   private:
    friend DataLoader;
    explicit Iterator(DataLoader* loader) : loader_(loader) { ++*this; }
    DataLoader* loader_;
  };
  /// The batches left in this epoch.
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

  const D& dataset() const { return source_->dataset; }
  /// Batches in one epoch.
  std::int64_t num_batches() const { return core_->num_batches(); }
  /// Items in one epoch, as delivered.
  std::int64_t num_items() const { return core_->num_items(); }

  /// Drops what is left of the current epoch and begins `epoch`.
  void start_epoch(std::int64_t epoch) { core_->start_epoch(epoch); }
  LoaderState state() const { return core_->state(); }
  /// Throws ArgumentError when the state is of a loader with other items, batch size or order.
  void restore(const LoaderState& state) { core_->restore(state); }

 private:
  struct Source {
    D dataset;
    C collate;
  };

  static std::shared_ptr<void> make(const void* source, std::span<const std::int64_t> indices,
                                    const detail::Cancel& cancel) {
    const auto& [dataset, collate] = *static_cast<const Source*>(source);
    if constexpr (by_dataset) {
      return std::make_shared<Batch>(dataset.batch(indices));
    } else if constexpr (!by_default || Collatable<Item>) {
      std::vector<Item> items;
      items.reserve(indices.size());
      for (const std::int64_t i : indices) {
        if (cancel()) {
          return nullptr;
        }
        items.push_back(dataset.get(i));
      }
      return std::make_shared<Batch>(collate(std::span<const Item>(items)));
    } else {
      return nullptr;
    }
  }

  std::unique_ptr<const Source> source_;
  // After the source: its workers stop before the dataset goes.
  std::unique_ptr<detail::LoaderCore> core_;
  std::optional<Batch> current_;
};

template <class D, class C = DefaultCollate>
DataLoader(D, LoaderOptions = {}, C = {}) -> DataLoader<D, C>;

}  // namespace sinter::data
