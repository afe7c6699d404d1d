// SPDX-License-Identifier: MIT OR Apache-2.0
// The untyped core of DataLoader. Workers take batch numbers in order and put results in a ring;
// the consumer takes them out in the same order. A new generation makes all older work void.
#include "sinter/data/loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "sinter/base/error.hpp"

namespace sinter::data {
namespace detail {

struct LoaderCore::State {
  struct Slot {
    bool ready = false;
    std::shared_ptr<void> batch;
    std::exception_ptr error;
  };

  const void* source;
  Make make;
  std::int64_t items;
  LoaderOptions options;
  std::int64_t epoch_items = 0;
  std::int64_t batches = 0;

  mutable std::mutex mutex;
  std::condition_variable work;
  std::condition_variable delivery;
  // Changed under the mutex; read without it by makers that ask whether to go on.
  sinter::detail::Atomic<std::uint64_t> generation;
  bool stop = false;
  std::uint64_t seed;
  std::int64_t epoch = 0;
  std::int64_t position = 0;  // batches delivered
  std::int64_t taken = 0;     // batches given to workers
  std::shared_ptr<const EpochOrder>
      order;  // of this epoch; null until its first batch is asked for
  std::vector<Slot> ring;
  std::vector<std::thread> workers;

  State(const void* source_, Make make_, std::int64_t items_, const LoaderOptions& options_)
      : source(source_), make(make_), items(items_), options(options_), seed(options_.seed) {}

  ~State() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
      generation.fetch_add_relaxed(1);
    }
    work.notify_all();
    for (std::thread& worker : workers) {
      worker.join();
    }
  }

  std::int64_t begin_of(std::int64_t batch) const { return batch * options.batch_size; }
  std::int64_t size_of(std::int64_t batch) const {
    return std::min(options.batch_size, epoch_items - begin_of(batch));
  }
  Slot& slot(std::int64_t batch) { return ring[static_cast<std::size_t>(batch) % ring.size()]; }
  bool has_work() const {
    return order && taken < batches && taken < position + static_cast<std::int64_t>(ring.size());
  }

  Slot produce(std::int64_t batch, const EpochOrder& from, std::uint64_t mine) const {
    Slot slot;
    slot.ready = true;
    try {
      std::vector<std::int64_t> indices(static_cast<std::size_t>(size_of(batch)));
      from.fill(begin_of(batch), indices);
      slot.batch = make(source, indices, Cancel(generation, mine));
    } catch (...) {
      slot.error = std::current_exception();
    }
    return slot;
  }

  void run_worker() {
    std::unique_lock lock(mutex);
    for (;;) {
      work.wait(lock, [&] { return stop || has_work(); });
      if (stop) {
        return;
      }
      const std::int64_t batch = taken++;
      const std::uint64_t mine = generation.load_relaxed();
      std::shared_ptr<const EpochOrder> from = order;
      lock.unlock();
      Slot made = produce(batch, *from, mine);
      from.reset();
      lock.lock();
      if (mine != generation.load_relaxed()) {
        // Void: its batch is freed without the lock.
        lock.unlock();
        made = Slot();
        lock.lock();
        continue;
      }
      slot(batch) = std::move(made);
      if (batch == position) {
        delivery.notify_one();
      }
    }
  }

  // Voids all work under way and stands at `batch` of `to`.
  void move_to(std::uint64_t new_seed, std::int64_t to, std::int64_t batch) {
    std::vector<Slot> old(ring.size());  // freed after the lock
    const std::lock_guard lock(mutex);
    generation.fetch_add_relaxed(1);
    old.swap(ring);
    order.reset();
    seed = new_seed;
    epoch = to;
    position = taken = batch;
  }

  // Lets the workers begin this epoch.
  void arm() {
    std::shared_ptr<const EpochOrder> fresh;
    if (!order && position < batches) {
      fresh = std::make_shared<const EpochOrder>(options.order, items, epoch_items, seed, epoch);
      {
        const std::lock_guard lock(mutex);
        order = std::move(fresh);
      }
      work.notify_all();
    }
  }
};

LoaderCore::LoaderCore(const void* source, Make make, std::int64_t items,
                       const LoaderOptions& options) {
  if (options.batch_size < 1 || options.num_workers < 0 || options.prefetch < 1 ||
      options.draws < 0) {
    throw ArgumentError(fmt::format(
        "DataLoader: expected batch_size >= 1, num_workers >= 0, prefetch >= 1 and draws >= 0; got "
        "{}, {}, {} and {}",
        options.batch_size, options.num_workers, options.prefetch, options.draws));
  }
  state_ = std::make_unique<State>(source, make, items, options);
  State& s = *state_;
  const bool redraws = options.order == Order::with_replacement && items > 0;
  s.epoch_items = redraws && options.draws > 0 ? options.draws : items;
  const std::int64_t rest = s.epoch_items % options.batch_size;
  s.batches = s.epoch_items / options.batch_size + (rest != 0 && !options.drop_last ? 1 : 0);
  // More slots than batches would never be used.
  const std::int64_t slots = static_cast<std::int64_t>(options.num_workers) * options.prefetch;
  s.ring.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, std::min(slots, s.batches))));
  try {
    for (int i = 0; i < options.num_workers; ++i) {
      s.workers.emplace_back([&s] { s.run_worker(); });
    }
  } catch (const std::system_error& error) {
    throw RuntimeError(fmt::format("DataLoader: could not start worker {} of {}: {}",
                                   s.workers.size() + 1, options.num_workers, error.what()));
  }
}

LoaderCore::~LoaderCore() = default;

std::shared_ptr<void> LoaderCore::next() {
  State& s = *state_;
  if (s.position >= s.batches) {
    s.move_to(s.seed, s.epoch + 1, 0);
    return nullptr;
  }
  s.arm();
  State::Slot slot;
  if (s.workers.empty()) {
    slot = s.produce(s.position, *s.order, s.generation.load_relaxed());
    ++s.position;
  } else {
    {
      std::unique_lock lock(s.mutex);
      State::Slot& front = s.slot(s.position);
      s.delivery.wait(lock, [&] { return front.ready; });
      slot = std::exchange(front, State::Slot());
      ++s.position;
    }
    s.work.notify_one();
  }
  if (slot.error) {
    std::rethrow_exception(std::exchange(slot.error, nullptr));
  }
  return std::move(slot.batch);
}

void LoaderCore::start_epoch(std::int64_t epoch) {
  if (epoch < 0) {
    throw ArgumentError(fmt::format("DataLoader: expected an epoch of at least 0, got {}", epoch));
  }
  state_->move_to(state_->seed, epoch, 0);
}

LoaderState LoaderCore::state() const {
  const State& s = *state_;
  return {.seed = s.seed,
          .epoch = s.epoch,
          .position = s.position,
          .items = s.items,
          .batch_size = s.options.batch_size,
          .draws = s.epoch_items,
          .order = s.options.order,
          .drop_last = s.options.drop_last};
}

void LoaderCore::restore(const LoaderState& to) {
  LoaderState expected = state();
  expected.seed = to.seed;
  expected.epoch = to.epoch;
  expected.position = to.position;
  if (!(to == expected) || to.epoch < 0 || to.position < 0 || to.position > num_batches()) {
    throw ArgumentError(
        fmt::format("DataLoader::restore: the state `{}` is of another loader; "
                    "this one stands at `{}`",
                    to.str(), state().str()));
  }
  state_->move_to(to.seed, to.epoch, to.position);
}

std::int64_t LoaderCore::num_items() const {
  const State& s = *state_;
  return s.options.drop_last ? s.batches * s.options.batch_size : s.epoch_items;
}
std::int64_t LoaderCore::num_batches() const { return state_->batches; }

}  // namespace detail

std::string LoaderState::str() const {
  return fmt::format(
      "seed {} epoch {} position {} items {} batch_size {} draws {} order {} "
      "drop_last {}",
      seed, epoch, position, items, batch_size, draws, static_cast<int>(order), drop_last ? 1 : 0);
}

LoaderState LoaderState::from_str(std::string_view text) {
  LoaderState out;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto bad = [&](std::string_view name) {
    return FormatError(fmt::format("LoaderState: expected `{} <number>` at byte {} of `{}`", name,
                                   at - text.data(), text.substr(0, 300)));
  };
  const auto read = [&](std::string_view name, auto lowest, auto highest, auto& value) {
    const std::string label = fmt::format("{}{} ", at == text.data() ? "" : " ", name);
    if (!std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(label)) {
      throw bad(name);
    }
    const auto [stop, error] = std::from_chars(at + label.size(), end, value);
    if (error != std::errc() || value < lowest || value > highest) {
      throw bad(name);
    }
    at = stop;
  };
  int order_number = 0;
  int drop = 0;
  read("seed", std::uint64_t{0}, UINT64_MAX, out.seed);
  read("epoch", std::int64_t{0}, INT64_MAX, out.epoch);
  read("position", std::int64_t{0}, INT64_MAX, out.position);
  read("items", std::int64_t{0}, INT64_MAX, out.items);
  read("batch_size", std::int64_t{1}, INT64_MAX, out.batch_size);
  read("draws", std::int64_t{0}, INT64_MAX, out.draws);
  read("order", 0, 2, order_number);
  read("drop_last", 0, 1, drop);
  if (at != end) {
    throw bad("end of text instead of");
  }
  out.order = static_cast<Order>(order_number);
  out.drop_last = drop != 0;
  return out;
}

}  // namespace sinter::data
