// SPDX-License-Identifier: MIT OR Apache-2.0
// The order in which a loader visits a dataset: a function of seed, epoch and position alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sinter::data {

/// sequential: 0, 1, 2 …; shuffled: each item once, in a new order every epoch;
/// with_replacement: every draw is any item with the same chance.
enum class Order : std::uint8_t { sequential, shuffled, with_replacement };

/// A uniform number of [0, bound) that depends on its arguments only; `bound` > 0.
[[nodiscard]] std::int64_t draw_below(std::int64_t bound, std::uint64_t seed, std::uint64_t stream,
                                      std::uint64_t counter);

/// A uniformly drawn permutation of 0 … n - 1 (Fisher-Yates); the same for the same arguments.
[[nodiscard]] std::vector<std::int64_t> permutation(std::int64_t n, std::uint64_t seed,
                                                    std::uint64_t stream = 0);

/// The indices of one epoch.
class EpochOrder {
 public:
  /// `draws` indices into `items` items; sequential and shuffled orders have as many as items.
  EpochOrder(Order order, std::int64_t items, std::int64_t draws, std::uint64_t seed,
             std::int64_t epoch);

  std::int64_t size() const { return draws_; }
  /// The indices at positions begin … begin + out.size() - 1.
  void fill(std::int64_t begin, std::span<std::int64_t> out) const;

 private:
  Order order_;
  std::int64_t items_;
  std::int64_t draws_;
  std::uint64_t seed_;
  std::int64_t epoch_;
  std::vector<std::int64_t> shuffled_;
};

}  // namespace sinter::data
