// SPDX-License-Identifier: MIT OR Apache-2.0
// A number that threads share, without <atomic>: that header brings threads and error codes along,
// and would be a tenth of what every public header costs to read.
#pragma once

namespace sinter::detail {

/// Loads acquire, stores release, sums are of one order with both, unless the name says relaxed.
template <class T>
class Atomic {
 public:
  Atomic() = default;
  explicit Atomic(T value) : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load() const noexcept { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  T load_relaxed() const noexcept { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
  void store(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELEASE); }
  void store_relaxed(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELAXED); }
  /// Both give the value from before.
  T fetch_add_relaxed(T by) noexcept { return __atomic_fetch_add(&value_, by, __ATOMIC_RELAXED); }
  T fetch_sub(T by) noexcept { return __atomic_fetch_sub(&value_, by, __ATOMIC_ACQ_REL); }

 private:
  // By itself, so that eight bytes need no lock on 32-bit processors either.
  alignas(sizeof(T)) T value_ = 0;
};

}  // namespace sinter::detail
