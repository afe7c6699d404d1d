// SPDX-License-Identifier: MIT OR Apache-2.0
// Buffers, shared memory, scalars: what a kernel is called with and works on.
#pragma once

#include <string>

#include "sinter/kernel/dsl/expr.hpp"

namespace sinter::dsl {

using Index = Expr<std::uint32_t>;

/// A memory of T elements. Indices are not checked when the kernel runs, except in checked mode.
template <class T>
class Elements {
 public:
  /// One element: reading it is a load, assigning to it a store.
  class Ref {
   public:
    Ref(std::uint64_t memory, Index index) : memory_(memory), index_(index) {}
    operator Expr<T>() const {
      return Expr<T>(
          Val(Recorder::current().value(ir::Op::load, {index_.node()}, memory_, type_of<T>)));
    }
    [[nodiscard]] Expr<T> value() const { return *this; }
    void operator=(Given<T> x) const {
      Recorder::current().statement(ir::Op::store, {index_.node(), x.value.node()}, memory_, x.loc);
    }
    void operator=(const Ref& other) const { *this = Given<T>(other.value()); }
    Ref(const Ref&) = default;

   private:
    std::uint64_t memory_;
    Index index_;
  };

  Ref operator[](Index index) const { return {memory_, index}; }

  /// N elements from `index` on.
  template <int N>
  [[nodiscard]] Expr<Vec<T, N>> load(Index index) const {
    return Expr<Vec<T, N>>(
        Val(Recorder::current().value(ir::Op::load, {index.node()}, memory_, type_of<Vec<T, N>>)));
  }
  template <int N>
  void store(Index index, Expr<Vec<T, N>> value, Loc loc = Loc::here()) const {
    Recorder::current().statement(ir::Op::store, {index.node(), value.node()}, memory_, loc);
  }

  /// Each gives what was there before.
  Expr<T> atomic_add(Index index, Given<T> x) const { return atomic(ir::Op::atomic_add, index, x); }
  Expr<T> atomic_min(Index index, Given<T> x) const { return atomic(ir::Op::atomic_min, index, x); }
  Expr<T> atomic_max(Index index, Given<T> x) const { return atomic(ir::Op::atomic_max, index, x); }
  Expr<T> atomic_exchange(Index index, Given<T> x) const {
    return atomic(ir::Op::atomic_exchange, index, x);
  }
  /// Stores `wanted` where `expected` is found.
  Expr<T> atomic_compare_exchange(Index index, Expr<T> expected, Given<T> wanted) const {
    return Expr<T>(Val(Recorder::current().result(
        ir::Op::atomic_compare_exchange, {index.node(), expected.node(), wanted.value.node()},
        memory_, wanted.loc)));
  }

 protected:
  explicit Elements(std::uint64_t memory) : memory_(memory) {}
  std::uint64_t memory_;

 private:
  Expr<T> atomic(ir::Op op, Index index, Given<T> x) const {
    return Expr<T>(
        Val(Recorder::current().result(op, {index.node(), x.value.node()}, memory_, x.loc)));
  }
};

/// An argument of the kernel in device memory.
template <class T>
class Buffer : public Elements<T> {
 public:
  explicit Buffer(std::string name, ir::Access access = ir::Access::read_write)
      : Elements<T>(Recorder::current().declare(ir::Memory{.name = std::move(name),
                                                           .space = ir::Space::buffer,
                                                           .dtype = type_of<T>.dtype,
                                                           .size = 0,
                                                           .access = access})) {}
  /// Elements that were bound at the launch.
  [[nodiscard]] Index length() const {
    return Index(Val(Recorder::current().value(ir::Op::length, {}, this->memory_, ir::index_type)));
  }
};

/// Memory of one cube. What another unit wrote is seen after sync_cube().
template <class T>
class Shared : public Elements<T> {
 public:
  Shared(std::string name, std::uint32_t size)
      : Elements<T>(Recorder::current().declare(ir::Memory{.name = std::move(name),
                                                           .space = ir::Space::shared,
                                                           .dtype = type_of<T>.dtype,
                                                           .size = size})) {}
};

/// An array of one unit.
template <class T>
class Local : public Elements<T> {
 public:
  explicit Local(std::uint32_t size)
      : Elements<T>(Recorder::current().local(type_of<T>.dtype, size)) {}
};

/// A number that comes with each launch.
template <class T>
Expr<T> scalar(std::string name) {
  Recorder& recorder = Recorder::current();
  const std::uint64_t which = recorder.declare(ir::Scalar{std::move(name), type_of<T>.dtype});
  return Expr<T>(Val(recorder.value(ir::Op::scalar, {}, which, type_of<T>)));
}

}  // namespace sinter::dsl
