// SPDX-License-Identifier: MIT OR Apache-2.0
// Counter-based draws: no state, so any epoch and position can be asked for.
#include "sinter/data/sampler.hpp"

#include <numeric>
#include <utility>

#include "sinter/base/error.hpp"

namespace sinter::data {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

// Seed and stream go through the mixer one after the other, so that near values share nothing.
std::uint64_t key_of(std::uint64_t seed, std::uint64_t stream) {
  return mix(mix(seed + golden) + (stream + 1) * golden);
}

// The high half of a product maps 64 random bits to [0, bound); its bias is below bound / 2^64.
std::int64_t below(std::uint64_t bits, std::int64_t bound) {
  return static_cast<std::int64_t>(
      (static_cast<unsigned __int128>(bits) * static_cast<std::uint64_t>(bound)) >> 64);
}

}  // namespace

std::int64_t draw_below(std::int64_t bound, std::uint64_t seed, std::uint64_t stream,
                        std::uint64_t counter) {
  return below(mix(key_of(seed, stream) + (counter + 1) * golden), bound);
}

std::vector<std::int64_t> permutation(std::int64_t n, std::uint64_t seed, std::uint64_t stream) {
  if (n < 0) {
    throw ArgumentError("permutation: expected a size of at least 0, got " + std::to_string(n));
  }
  std::vector<std::int64_t> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), std::int64_t{0});
  const std::uint64_t key = key_of(seed, stream);
  for (std::int64_t i = n - 1; i > 0; --i) {
    const std::int64_t j = below(mix(key + static_cast<std::uint64_t>(i + 1) * golden), i + 1);
    std::swap(out[static_cast<std::size_t>(i)], out[static_cast<std::size_t>(j)]);
  }
  return out;
}

EpochOrder::EpochOrder(Order order, std::int64_t items, std::int64_t draws, std::uint64_t seed,
                       std::int64_t epoch)
    : order_(order),
      items_(items),
      draws_(order == Order::with_replacement ? draws : items),
      seed_(seed),
      epoch_(epoch) {
  if (order == Order::shuffled) {
    shuffled_ = permutation(items, seed, static_cast<std::uint64_t>(epoch));
  }
}

void EpochOrder::fill(std::int64_t begin, std::span<std::int64_t> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t at = begin + static_cast<std::int64_t>(i);
    switch (order_) {
      case Order::sequential:
        out[i] = at;
        break;
      case Order::shuffled:
        out[i] = shuffled_[static_cast<std::size_t>(at)];
        break;
      case Order::with_replacement:
        out[i] = draw_below(items_, seed_, static_cast<std::uint64_t>(epoch_),
                            static_cast<std::uint64_t>(at));
        break;
    }
  }
}

}  // namespace sinter::data
