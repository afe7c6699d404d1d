// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of the loader: order, workers, errors, resume, shutdown.
#include "sinter/data/loader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "sinter/base/error.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/data/images.hpp"

namespace sinter::data {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Item i is i; hands out anything the tests want to know or to go wrong.
struct Numbers {
  std::int64_t count = 0;
  void (*on_get)(std::int64_t) = nullptr;

  std::int64_t size() const { return count; }
  std::int64_t get(std::int64_t i) const {
    if (on_get) {
      on_get(i);
    }
    return i;
  }
};

std::vector<std::int64_t> items_of(const HostData& batch) {
  const auto items = batch.as<std::int64_t>();
  return {items.begin(), items.end()};
}

template <class Loader>
std::vector<std::vector<std::int64_t>> epoch_of(Loader& loader) {
  std::vector<std::vector<std::int64_t>> batches;
  for (const HostData& batch : loader) {
    batches.push_back(items_of(batch));
  }
  return batches;
}

std::vector<std::size_t> sizes(const std::vector<std::vector<std::int64_t>>& batches) {
  std::vector<std::size_t> out;
  for (const auto& batch : batches) {
    out.push_back(batch.size());
  }
  return out;
}

using Sizes = std::vector<std::size_t>;

TEST(Thread_Cases, DAT_02_last_batches) {
  for (const int workers : {0, 1, 3}) {
    const auto run = [&](std::int64_t items, bool drop) {
      DataLoader loader(Numbers{items},
                        {.batch_size = 4, .drop_last = drop, .num_workers = workers});
      Sizes first = sizes(epoch_of(loader));
      EXPECT_EQ(first, sizes(epoch_of(loader)));
      EXPECT_EQ(static_cast<std::int64_t>(first.size()), loader.num_batches());
      return first;
    };
    EXPECT_EQ(run(10, false), (Sizes{4, 4, 2}));
    EXPECT_EQ(run(10, true), (Sizes{4, 4}));
    EXPECT_EQ(run(8, false), (Sizes{4, 4}));
    EXPECT_EQ(run(8, true), (Sizes{4, 4}));
    EXPECT_EQ(run(3, true), (Sizes{}));
    EXPECT_EQ(run(0, false), (Sizes{}));
    EXPECT_EQ(run(0, true), (Sizes{}));
  }
  EXPECT_EQ(DataLoader(Numbers{10}, {.batch_size = 4}).num_items(), 10);
  EXPECT_EQ(DataLoader(Numbers{10}, {.batch_size = 4, .drop_last = true}).num_items(), 8);
}

std::mutex seen_mutex;
std::set<std::thread::id> seen_threads;
std::multiset<std::int64_t> seen_items;

TEST(Thread_Cases, DAT_01_workers_live_over_epochs) {
  seen_threads.clear();
  DataLoader loader(Numbers{200,
                            [](std::int64_t i) {
                              const std::lock_guard lock(seen_mutex);
                              seen_threads.insert(std::this_thread::get_id());
                              seen_items.insert(i);
                            }},
                    {.batch_size = 8, .order = Order::shuffled, .num_workers = 3});
  [[maybe_unused]] std::size_t resident = 0;
  for (int epoch = 0; epoch < 200; ++epoch) {
    seen_items.clear();
    std::set<std::int64_t> items;
    for (const auto& batch : epoch_of(loader)) {
      items.insert(batch.begin(), batch.end());
    }
    ASSERT_EQ(items.size(), 200u);
    ASSERT_EQ(seen_items.size(), 200u);
    if (epoch == 20) {
      resident = os::resident_bytes();
    }
  }
  // A loader that made its workers anew would have shown new ids (or the caller's own).
  EXPECT_LE(seen_threads.size(), 3u);
  EXPECT_FALSE(seen_threads.contains(std::this_thread::get_id()));
#ifndef __SANITIZE_ADDRESS__  // which keeps freed memory for a while
  EXPECT_LT(os::resident_bytes(), resident + (4u << 20));
#endif
}

TEST(Thread_Cases, DAT_08_same_batches_for_any_worker_count) {
  for (const Order order : {Order::sequential, Order::shuffled, Order::with_replacement}) {
    std::vector<std::vector<std::vector<std::int64_t>>> expected;
    for (const int workers : {0, 1, 2, 8}) {
      DataLoader loader(Numbers{103},
                        {.batch_size = 5, .order = order, .seed = 42, .num_workers = workers});
      std::vector<std::vector<std::vector<std::int64_t>>> epochs;
      for (int epoch = 0; epoch < 3; ++epoch) {
        epochs.push_back(epoch_of(loader));
      }
      if (workers == 0) {
        expected = epochs;
        EXPECT_EQ(expected[0] == expected[1], order == Order::sequential);
      }
      EXPECT_EQ(epochs, expected) << workers;
    }
  }
}

// The least of several runs: what the loader itself needs, whatever else the machine does.
template <class F>
double least_milliseconds(F run) {
  double least = 1e9;
  for (int i = 0; i < 7; ++i) {
    least = std::min(least, run());
  }
  return least;
}

TEST(Thread_Cases, DAT_06_shutdown_is_fast) {
  const double empty = least_milliseconds([] {
    const auto start = Clock::now();
    DataLoader loader(Numbers{0}, {.num_workers = 8});
    EXPECT_EQ(epoch_of(loader).size(), 0u);
    return milliseconds_since(start);
  });
  EXPECT_LT(empty, 50);
  // Slow items under way: at most one per worker is waited for.
  const double busy = least_milliseconds([] {
    auto loader = std::make_unique<DataLoader<Numbers>>(
        Numbers{10'000,
                [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }},
        LoaderOptions{.batch_size = 2, .num_workers = 8});
    (void)loader->next();
    const auto start = Clock::now();
    loader.reset();
    return milliseconds_since(start);
  });
  EXPECT_LT(busy, 50);
}

TEST(Thread_Loader, unwanted_batches_stop_between_items) {
  // The batches after the first take 20 s each, unless their makers give up.
  DataLoader loader(Numbers{100'000,
                            [](std::int64_t i) {
                              if (i >= 10'000) {
                                std::this_thread::sleep_for(std::chrono::milliseconds(2));
                              }
                            }},
                    {.batch_size = 10'000, .num_workers = 2});
  const auto start = Clock::now();
  (void)loader.next();
  loader.start_epoch(5);
  EXPECT_EQ(items_of(*loader.next())[1], 1);
  EXPECT_EQ(loader.state().epoch, 5);
  EXPECT_LT(milliseconds_since(start), 10'000);
}

TEST(Thread_Loader, errors_come_in_their_place) {
  for (const int workers : {0, 1, 4}) {
    DataLoader loader(Numbers{20,
                              [](std::int64_t i) {
                                if (i == 9) {
                                  throw IoError("item nine is gone");
                                }
                              }},
                      {.batch_size = 4, .num_workers = workers});
    for (int epoch = 0; epoch < 2; ++epoch) {
      EXPECT_EQ(items_of(*loader.next())[0], 0);
      EXPECT_EQ(items_of(*loader.next())[0], 4);
      try {
        (void)loader.next();
        FAIL();
      } catch (const IoError& error) {
        EXPECT_STREQ(error.what(), "item nine is gone");
      }
      EXPECT_EQ(items_of(*loader.next())[0], 12);
      EXPECT_EQ(items_of(*loader.next())[0], 16);
      EXPECT_FALSE(loader.next().has_value());
    }
  }
}

TEST(Thread_Loader, resumes_exactly) {
  for (const int workers : {0, 2}) {
    const LoaderOptions options{
        .batch_size = 3, .order = Order::shuffled, .seed = 9, .num_workers = workers};
    for (int stop = 0; stop <= 25; ++stop) {
      DataLoader first(Numbers{20}, options);
      for (int i = 0; i < stop; ++i) {
        (void)first.next();
      }
      LoaderOptions other = options;
      other.seed = 1234;
      other.num_workers = 1;
      DataLoader second(Numbers{20}, other);
      (void)second.next();
      second.restore(LoaderState::from_str(first.state().str()));
      EXPECT_EQ(second.state(), first.state());
      for (int i = 0; i < 18; ++i) {
        const auto a = first.next();
        const auto b = second.next();
        ASSERT_EQ(a.has_value(), b.has_value());
        if (a) {
          ASSERT_TRUE(*a == *b);
        }
      }
    }
  }
}

TEST(Loader, refuses_foreign_states) {
  DataLoader loader(Numbers{20}, {.batch_size = 3});
  const LoaderState good = loader.state();
  const auto refused = [&](auto change) {
    LoaderState state = good;
    change(state);
    EXPECT_THROW(loader.restore(state), ArgumentError);
  };
  refused([](LoaderState& s) { s.batch_size = 4; });
  refused([](LoaderState& s) { s.items = 21; });
  refused([](LoaderState& s) { s.order = Order::shuffled; });
  refused([](LoaderState& s) { s.position = 8; });
  refused([](LoaderState& s) { s.position = -1; });
  refused([](LoaderState& s) { s.epoch = -1; });
  EXPECT_EQ(LoaderState::from_str(good.str()), good);
  const std::string text_of_good = good.str();
  for (const std::string& text : std::vector<std::string>{
           "", "seed", "seed x", text_of_good + " ", text_of_good + "2", " " + text_of_good,
           text_of_good.substr(0, text_of_good.size() - 1)}) {
    EXPECT_THROW((void)LoaderState::from_str(text), FormatError) << text;
  }
}

TEST(Loader, refuses_bad_options) {
  EXPECT_THROW(DataLoader(Numbers{1}, {.batch_size = 0}), ArgumentError);
  EXPECT_THROW(DataLoader(Numbers{1}, {.num_workers = -1}), ArgumentError);
  EXPECT_THROW(DataLoader(Numbers{1}, {.num_workers = 1, .prefetch = 0}), ArgumentError);
}

TEST(Thread_Loader, a_loop_left_early_goes_on) {
  DataLoader loader(Numbers{10}, {.batch_size = 2, .num_workers = 2});
  for (const HostData& batch : loader) {
    if (items_of(batch)[0] == 2) {
      break;
    }
  }
  EXPECT_EQ(epoch_of(loader)[0], (std::vector<std::int64_t>{4, 5}));
  (void)loader.next();
  loader.start_epoch(0);
  EXPECT_EQ(epoch_of(loader).size(), 5u);
}

TEST(Thread_Loader, draws_set_the_length_of_an_epoch) {
  DataLoader loader(
      Numbers{3},
      {.batch_size = 4, .order = Order::with_replacement, .num_workers = 1, .draws = 10});
  EXPECT_EQ(sizes(epoch_of(loader)), (Sizes{4, 4, 2}));
  DataLoader empty(Numbers{0}, {.order = Order::with_replacement, .draws = 10});
  EXPECT_EQ(epoch_of(empty).size(), 0u);
}

TEST(Thread_Loader, own_collate_and_move_only_batches) {
  DataLoader loader(Numbers{5}, {.batch_size = 2, .num_workers = 2},
                    [](std::span<const std::int64_t> items) {
                      return std::make_unique<std::size_t>(items.size());
                    });
  auto moved = std::move(loader);
  std::size_t total = 0;
  while (auto batch = moved.next()) {
    total += **batch;
  }
  EXPECT_EQ(total, 5u);
}

TEST(Thread_Loader, image_batches_equal_single_items) {
  HostData images({10, 2, 3}, DType::u8);
  HostData labels({10}, DType::u8);
  for (std::size_t i = 0; i < 60; ++i) {
    images.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 4);
    labels.as<std::uint8_t>()[i / 6] = static_cast<std::uint8_t>(i / 6);
  }
  const ImageDataset dataset(images, labels, {.mean = {0.5f}, .std = {0.25f}});
  const LoaderOptions options{
      .batch_size = 4, .order = Order::shuffled, .seed = 1, .num_workers = 2};
  DataLoader whole(dataset, options);
  DataLoader subset(shuffled(dataset, 0), LoaderOptions{.batch_size = 4});
  DataLoader single(MapDataset(dataset, [](ImageItem item) { return item; }), options);
  while (auto a = whole.next()) {
    const auto b = single.next();
    EXPECT_TRUE(a->images == b->images);
    EXPECT_TRUE(a->labels == b->labels);
    EXPECT_EQ(a->images.shape(), Shape({a->size(), 1, 2, 3}));
    const double expected = (static_cast<double>(a->labels.int_at(0)) * 24 / 255 - 0.5) / 0.25;
    EXPECT_NEAR(a->images.at(0), expected, 1e-5);
  }
  static_assert(std::is_same_v<decltype(subset)::Batch, ImageBatch>);
  EXPECT_EQ(subset.next()->labels.int_at(0), permutation(10, 0)[0]);
}

}  // namespace
}  // namespace sinter::data
