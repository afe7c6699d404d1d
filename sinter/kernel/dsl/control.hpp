// SPDX-License-Identifier: MIT OR Apache-2.0
// Recorded control flow. Native `if` and `for` run while recording: they choose and unroll.
#pragma once

#include <functional>

#include "sinter/kernel/dsl/memory.hpp"

namespace sinter::dsl {

namespace detail {

struct End {};

/// A recorded block as a range-for that runs its body `passes` times on the host. A body left by
/// `break`, `return` or an exception is reported with the line of the statement.
class Passes {
 public:
  Passes(ir::Id region, int passes, const char* what, Loc loc);
  ~Passes();
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;

  [[nodiscard]] ir::Id region() const { return region_; }
  [[nodiscard]] int pass() const { return pass_; }
  [[nodiscard]] bool ended() const { return pass_ == passes_; }
  void next();
  End end() const { return {}; }

 private:
  ir::Id region_;
  int passes_;
  int pass_ = 0;
  const char* what_;
  Loc loc_;
};

/// Goes through the passes of a recorded statement; `current()` is what the body sees.
template <class Of>
struct PassIterator {
  Of* of;
  auto operator*() const { return of->current(); }
  void operator++() { of->next(); }
  bool operator!=(End) const { return !of->ended(); }
};

}  // namespace detail

/// for (auto i : range(n)) …: i counts from 0, or from `first` by `step`, while below `last`.
template <class T = std::uint32_t>
class range : public detail::Passes {
 public:
  range(Expr<T> last, Loc loc = Loc::here()) : range(Expr<T>(T(0)), last, Expr<T>(T(1)), loc) {}
  range(Expr<T> first, Expr<T> last, Loc loc = Loc::here())
      : range(first, last, Expr<T>(T(1)), loc) {}
  range(Expr<T> first, Expr<T> last, Expr<T> step, Loc loc = Loc::here())
      : Passes(Recorder::current().statement(ir::Op::for_, {first.node(), last.node(), step.node()},
                                             0, loc),
               1, "for", loc),
        index_(Val(Recorder::current().node_of(region()))) {}

  [[nodiscard]] Expr<T> current() const { return index_; }
  detail::PassIterator<range> begin() { return {this}; }

 private:
  Expr<T> index_;
};
template <class T>
range(Expr<T>) -> range<T>;

/// for (auto round : forever()) …: until a break_if.
class forever : public detail::Passes {
 public:
  explicit forever(Loc loc = Loc::here());
  [[nodiscard]] int current() const { return 0; }
  detail::PassIterator<forever> begin() { return {this}; }
};

/// Leaves the innermost recorded loop where `condition` holds.
void break_if(Given<bool> condition);

/// The two passes of KERNEL_IF: true for the first block, false for the one after `else`.
class Branches : public detail::Passes {
 public:
  Branches(Expr<bool> condition, Loc loc = Loc::here());
  [[nodiscard]] bool current() const { return pass() == 0; }
  detail::PassIterator<Branches> begin() { return {this}; }
};

/// KERNEL_IF (condition) { … } else { … }: both blocks are recorded.
#define KERNEL_IF(...)                                                       \
  for (const bool sinter_first_block : ::sinter::dsl::Branches(__VA_ARGS__)) \
    if (sinter_first_block)

// ---- where a unit is ----

enum class Axis : std::uint8_t { x, y, z };

/// Place of the unit in its cube, below the cube's size.
Index unit_pos(Axis axis = Axis::x);
/// Place of the cube in the launch.
Index cube_pos(Axis axis = Axis::x);
/// Cubes of the launch.
Index cube_count(Axis axis = Axis::x);
/// Units of the cube: known while recording.
std::uint32_t cube_dim(Axis axis = Axis::x);
/// cube_pos * cube_dim + unit_pos.
Index absolute_pos(Axis axis = Axis::x);
/// Units of a plane, and the place within it.
Index plane_dim();
Index plane_pos();

/// All units of the cube meet here; what they wrote before is seen after. Stands where all units
/// come by: not in a block that only some of them enter.
void sync_cube(Loc loc = Loc::here());

// plane_sum(x), plane_min(x), plane_max(x) are instructions like any (expr.hpp).

/// x of the unit at place `from` of the plane.
template <class T>
Expr<T> plane_shuffle(Expr<T> x, Index from) {
  return Expr<T>(Val(Recorder::current().value(ir::Op::plane_shuffle, {x.node(), from.node()})));
}

// ---- recording ----

struct KernelOptions {
  ir::Extent cube;  ///< units, 1024 in all
};

/// Runs `body` once and gives the kernel that it recorded. Throws ArgumentError with every problem,
/// each with its file and line: a native `break` or `return` out of a recorded block, a value used
/// outside the block that read it, a barrier that some units may miss.
///
/// Example:
///   ir::Kernel k = dsl::record("scale", {.cube = {256}}, [] {
///     dsl::Buffer<float> x("x");
///     auto i = dsl::absolute_pos();
///     KERNEL_IF (i < x.length()) { x[i] = x[i].value() * 2.0f; }
///   });
[[nodiscard]] ir::Kernel record(std::string name, KernelOptions options,
                                const std::function<void()>& body);

}  // namespace sinter::dsl
