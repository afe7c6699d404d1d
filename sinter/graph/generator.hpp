// SPDX-License-Identifier: MIT OR Apache-2.0
// Where random ops get their numbers' position from.
#pragma once

#include <cstdint>

#include "sinter/base/detail/atomic.hpp"

namespace sinter {

/// Seed and position of a counter-based random stream: the same pair gives the same numbers on
/// every backend, however often it is used.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  bool operator==(const RandomKey&) const = default;
};

/// Hands out consecutive positions of one stream. A random op takes its key when it is recorded.
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) : seed_(seed) {}

  /// Takes the next `count` numbers of the stream.
  RandomKey take(std::uint64_t count) {
    return {seed_.load_relaxed(), offset_.fetch_add_relaxed(count)};
  }
  /// Starts a new stream.
  void seed(std::uint64_t seed) { restore({seed, 0}); }
  /// Where the stream stands; `restore` continues there.
  RandomKey state() const { return {seed_.load(), offset_.load()}; }
  void restore(RandomKey key) {
    seed_.store(key.seed);
    offset_.store(key.offset);
  }

 private:
  detail::Atomic<std::uint64_t> seed_;
  detail::Atomic<std::uint64_t> offset_;
};

/// While it lives, random ops recorded by this thread use `generator` instead of their device's.
class GeneratorScope {
 public:
  explicit GeneratorScope(Generator& generator);
  ~GeneratorScope();
  GeneratorScope(const GeneratorScope&) = delete;
  GeneratorScope& operator=(const GeneratorScope&) = delete;

  /// The innermost scope's generator of this thread, or null.
  static Generator* current();

 private:
  Generator* previous_;
};

}  // namespace sinter
