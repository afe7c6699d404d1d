// SPDX-License-Identifier: MIT OR Apache-2.0
// What the machine can do at this moment: arithmetic and memory, measured between a row's rounds.
#pragma once

#include <cstddef>
#include <memory>

namespace sinter::bench {

/// The kinds of memory traffic, each with a limit of its own.
enum class Traffic { read, copy, update };

/// Rates of all threads together. Each call measures a few milliseconds of work.
class Probe {
 public:
  explicit Probe(int threads);
  ~Probe();

  /// Fused multiply-adds on the widest vectors, 2 operations each, per second.
  double f32_flops();
  /// The same for i8 products summed in i32; without such instructions, `f32_flops`.
  double int8_ops();
  /// Bytes read, read and written past the caches, or read and written in place, per second.
  double bytes(Traffic traffic);

  /// Frees the probes' memory until it is used again.
  void release();

  /// The instruction set that the arithmetic is measured on.
  const char* isa() const;

 private:
  struct Memory;

  double bytes_of_slice(Traffic traffic);

  int threads_;
  std::unique_ptr<Memory> memory_;  // Made at first use.
};

}  // namespace sinter::bench
