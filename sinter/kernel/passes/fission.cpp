// SPDX-License-Identifier: MIT OR Apache-2.0
// A cube's units as loops, cut at barriers.
//
// The text between two barriers is a run: one loop over the units. What crosses from run to run is
// kept per unit: pure values are computed again, values that were read go through a local array,
// and so do the locals that live that long. A region with a barrier inside is entered by all units
// alike (the verifier saw to it), so it becomes a region around runs.
#include <algorithm>

#include "sinter/base/error.hpp"
#include "sinter/kernel/ir/verify.hpp"
#include "sinter/kernel/passes/copy.hpp"
#include "sinter/kernel/passes/passes.hpp"

namespace sinter::ir {

namespace {

using dsl::no_node;
using dsl::NodeId;

constexpr std::uint32_t no_run = ~std::uint32_t{0};

/// Where a kernel is cut: which regions and breaks lie between runs, and the run of everything
/// else.
struct Cuts {
  explicit Cuts(const Kernel& kernel)
      : kernel(kernel), apart(kernel.insts.size()), run(kernel.insts.size(), no_run) {
    mark(0, no_id);
    number(0);
  }

  /// Whether the block holds a barrier, or a break out of the loop `around` that holds one.
  bool mark(std::uint32_t block, Id around) {
    bool found = false;
    for (const Id id : kernel.blocks[block]) {
      const Inst& inst = kernel.at(id);
      if (inst.op == Op::barrier) {
        apart[id] = true;
      } else if (inst.op == Op::if_) {
        const bool first = mark(inst.blocks[0], around);
        apart[id] = mark(inst.blocks[1], around) || first;
      } else if (inst.op == Op::for_ || inst.op == Op::loop) {
        apart[id] = mark(inst.blocks[0], no_id);
        if (apart[id]) {
          mark(inst.blocks[0], id);  // now its breaks are known to be between runs
        }
      } else if (inst.op == Op::break_if) {
        apart[id] = around != no_id;
      }
      found = found || apart[id];
    }
    return found;
  }

  void number(std::uint32_t block) {
    ++runs;
    for (const Id id : kernel.blocks[block]) {
      if (!apart[id]) {
        inside(id);
        continue;
      }
      ++runs;
      if (traits_of(kernel.at(id).op).is(region)) {
        number(kernel.at(id).blocks[0]);
        number(kernel.at(id).blocks[1]);
        ++runs;
      }
    }
  }

  void inside(Id id) {
    run[id] = runs;
    if (traits_of(kernel.at(id).op).is(region)) {
      for (const std::uint32_t block : kernel.at(id).blocks) {
        for (const Id inner : kernel.blocks[block]) {
          inside(inner);
        }
      }
    }
  }

  const Kernel& kernel;
  std::vector<bool> apart;
  std::vector<std::uint32_t> run;
  std::uint32_t runs = 0;
};

/// Which locals need a copy per unit: those that more than one run sees, or one run more than once
/// because it stands in a region around runs, unless the run first writes it whole.
class Locals {
 public:
  explicit Locals(const Cuts& cuts)
      : cuts_(cuts), kernel_(cuts.kernel), seen_(kernel_.memories.size()) {
    block(0, false);
  }

  struct Seen {
    std::uint32_t run = no_run;
    bool kept = false;   ///< lives beyond one run
    bool fresh = false;  ///< written whole before anything else, in block `home`
    std::uint32_t home = 0;
    bool vectors = false;  ///< some access has several lanes
  };
  [[nodiscard]] const Seen& of(std::uint64_t memory) const { return seen_[memory]; }

 private:
  void block(std::uint32_t index, bool repeated) {
    open_.push_back(index);
    for (const Id id : kernel_.blocks[index]) {
      const Inst& inst = kernel_.at(id);
      if (traits_of(inst.op).is(region)) {
        block(inst.blocks[0], repeated || cuts_.apart[id]);
        block(inst.blocks[1], repeated || cuts_.apart[id]);
      } else if (traits_of(inst.op).is(memory) &&
                 kernel_.memories[inst.payload].space == Space::local) {
        access(id, inst, index, repeated);
      }
    }
    open_.pop_back();
  }

  void access(Id id, const Inst& inst, std::uint32_t index, bool repeated) {
    Seen& seen = seen_[inst.payload];
    const Type type = inst.op == Op::store ? kernel_.at(inst.args[1]).type : inst.type;
    seen.vectors = seen.vectors || type.lanes > 1;
    if (seen.run == no_run) {
      seen.run = cuts_.run[id];
      seen.fresh = inst.op == Op::store && type.lanes == kernel_.memories[inst.payload].size;
      seen.home = index;
      seen.kept = repeated && !seen.fresh;
    } else if (seen.run != cuts_.run[id] ||
               (repeated && std::find(open_.begin(), open_.end(), seen.home) == open_.end())) {
      seen.kept = true;
    }
  }

  const Cuts& cuts_;
  const Kernel& kernel_;
  std::vector<Seen> seen_;
  std::vector<std::uint32_t> open_;
};

class Fission {
 public:
  explicit Fission(const Kernel& from)
      : from_(from),
        cuts_(from),
        locals_(cuts_),
        to_(from.name),
        spills_(from.insts.size(), no_spill),
        known_(from.insts.size(), no_node),
        uniform_(from.insts.size(), no_node) {}

  Kernel run() {
    const dsl::Recorder::Scope scope(to_);
    declare();
    find_spills(0);
    sequence(0);
    return to_.finish();
  }

 private:
  static constexpr std::uint64_t no_spill = ~std::uint64_t{0};

  void declare() {
    to_.kernel().scalars = from_.scalars;
    for (std::size_t i = 0; i < from_.memories.size(); ++i) {
      Memory memory = from_.memories[i];
      if (memory.space == Space::local && locals_.of(i).kept) {
        memory.size *= from_.units();
      }
      if (memory.space == Space::shared) {
        memory.space = Space::local;
      }
      to_.declare(memory);
    }
  }

  // ---- what crosses from one run to another ----

  void find_spills(std::uint32_t block) {
    for (const Id id : from_.blocks[block]) {
      const Inst& inst = from_.at(id);
      if (!traits_of(inst.op).is(pure)) {
        for (std::size_t i = 0; i < traits_of(inst.op).arguments; ++i) {
          reach(inst.args[i], cuts_.run[id]);
        }
      }
      if (traits_of(inst.op).is(region)) {
        find_spills(inst.blocks[0]);
        find_spills(inst.blocks[1]);
      }
    }
  }

  /// `id` is wanted in `run`: what it was read from must be there.
  void reach(Id id, std::uint32_t run) {
    const Inst& inst = from_.at(id);
    const OpTraits& op = traits_of(inst.op);
    if (op.is(pure) || op.is(together)) {
      for (std::size_t i = 0; i < op.arguments; ++i) {
        reach(inst.args[i], run);
      }
    } else if (!op.is(region) && cuts_.run[id] != run && spills_[id] == no_spill) {
      spills_[id] = to_.local(inst.type.dtype, from_.units() * inst.type.lanes);
    }
  }

  // ---- between runs ----

  void sequence(std::uint32_t block) {
    std::vector<Id> run;
    for (const Id id : from_.blocks[block]) {
      if (!cuts_.apart[id]) {
        run.push_back(id);
        continue;
      }
      emit_run(run);
      run.clear();
      between(id);
    }
    emit_run(run);
  }

  void between(Id id) {
    const Inst& inst = from_.at(id);
    if (inst.op == Op::barrier) {
      return;
    }
    forget();
    unit_ = to_.constant(index_type, 0);
    positions_ = {unit_, unit_, unit_};
    const NodeArgs args = args_of(inst);
    if (inst.op == Op::break_if) {
      copy_value(to_, inst, args, 0);
      return;
    }
    copy_region(to_, inst, args, [&](int which, NodeId value) {
      uniform_[id] = value;
      sequence(inst.blocks[static_cast<std::size_t>(which)]);
    });
  }

  // ---- a run ----

  void emit_run(const std::vector<Id>& run) {
    const bool idle = std::all_of(run.begin(), run.end(),
                                  [&](Id id) { return traits_of(from_.at(id).op).is(pure); });
    if (idle) {
      return;
    }
    forget();
    const NodeId zero = to_.constant(index_type, 0);
    positions_ = {zero, zero, zero};
    unit_ = zero;
    over_axis(2, run);
  }

  void over_axis(int axis, const std::vector<Id>& run) {
    if (axis < 0) {
      block(run);
      return;
    }
    const auto a = static_cast<std::size_t>(axis);
    const std::uint32_t size = from_.cube[a];
    if (size == 1) {
      over_axis(axis - 1, run);
      return;
    }
    const Id loop = to_.statement(
        Op::for_,
        {to_.constant(index_type, 0), to_.constant(index_type, size), to_.constant(index_type, 1)});
    to_.enter(loop, 0);
    positions_[a] = to_.node_of(loop);
    const NodeId outer = unit_;
    unit_ = to_.value(Op::add,
                      {to_.value(Op::mul, {outer, to_.constant(index_type, size)}), positions_[a]});
    over_axis(axis - 1, run);
    unit_ = outer;
    to_.leave();
  }

  void block(const std::vector<Id>& ids) {
    for (const Id id : ids) {
      const Inst& inst = from_.at(id);
      if (traits_of(inst.op).is(region)) {
        copy_region(to_, inst, args_of(inst), [&](int which, NodeId value) {
          remember(id, value);
          block(from_.blocks[inst.blocks[static_cast<std::size_t>(which)]]);
        });
      } else if (!traits_of(inst.op).is(pure)) {
        const NodeId value = effect(inst);
        remember(id, value);
        if (spills_[id] != no_spill) {
          to_.statement(Op::store, {spilled_at(inst.type.lanes), value}, spills_[id], inst.loc);
        }
      }
    }
  }

  NodeId effect(const Inst& inst) {
    NodeArgs args = args_of(inst);
    if (traits_of(inst.op).is(together)) {
      return args[0];  // a plane of one unit
    }
    if (traits_of(inst.op).is(memory)) {
      args[0] = index_in(inst.payload, args[0]);
      const OpTraits& op = traits_of(inst.op);
      if (op.is(reads) && op.is(writes) && from_.memories[inst.payload].space == Space::shared) {
        return alone(inst, args);
      }
    }
    return copy_value(to_, inst, args, inst.payload);
  }

  NodeId index_in(std::uint64_t memory, NodeId index) {
    const Memory& from = from_.memories[memory];
    if (from.space != Space::local || !locals_.of(memory).kept) {
      return index;
    }
    // Units side by side, unless vectors want the elements of one unit side by side.
    const bool vectors = locals_.of(memory).vectors;
    const NodeId across = to_.constant(index_type, vectors ? from.size : from_.units());
    return to_.value(
        Op::add, {vectors ? index : unit_, to_.value(Op::mul, {vectors ? unit_ : index, across})});
  }

  /// An atomic on memory that nobody else touches at the same time.
  NodeId alone(const Inst& inst, const NodeArgs& args) {
    const NodeId before = to_.value(Op::load, {args[0]}, inst.payload, inst.type, inst.loc);
    NodeId after = args[1];
    if (inst.op == Op::atomic_compare_exchange) {
      after = to_.value(Op::select, {to_.value(Op::eq, {before, args[1]}), args[2], before});
    } else if (inst.op != Op::atomic_exchange) {
      const Op step = inst.op == Op::atomic_add   ? Op::add
                      : inst.op == Op::atomic_min ? Op::min
                                                  : Op::max;
      after = to_.value(step, {before, args[1]});
    }
    to_.statement(Op::store, {args[0], after}, inst.payload, inst.loc);
    return before;
  }

  // ---- values ----

  NodeArgs args_of(const Inst& inst) {
    NodeArgs args{no_node, no_node, no_node};
    for (std::size_t i = 0; i < traits_of(inst.op).arguments; ++i) {
      args[i] = value_of(inst.args[i]);
    }
    return args;
  }

  NodeId value_of(Id id) {
    if (known_[id] == no_node) {
      remember(id, find(id));
    }
    return known_[id];
  }

  NodeId find(Id id) {
    const Inst& inst = from_.at(id);
    if (uniform_[id] != no_node) {
      return uniform_[id];
    }
    switch (inst.op) {
      case Op::unit_pos:
        return positions_[inst.payload];
      case Op::plane_dim:
        return to_.constant(index_type, 1);
      case Op::plane_pos:
        return to_.constant(index_type, 0);
      default:
        break;
    }
    if (traits_of(inst.op).is(together)) {
      return value_of(inst.args[0]);
    }
    if (!traits_of(inst.op).is(pure)) {
      SINTER_ASSERT(spills_[id] != no_spill);
      return to_.value(Op::load, {spilled_at(inst.type.lanes)}, spills_[id], inst.type, inst.loc);
    }
    return copy_value(to_, inst, args_of(inst), inst.payload);
  }

  NodeId spilled_at(std::uint32_t lanes) {
    return to_.value(Op::mul, {unit_, to_.constant(index_type, lanes)});
  }

  void remember(Id id, NodeId node) {
    known_[id] = node;
    touched_.push_back(id);
  }
  void forget() {
    for (const Id id : touched_) {
      known_[id] = no_node;
    }
    touched_.clear();
  }

  const Kernel& from_;
  const Cuts cuts_;
  const Locals locals_;
  dsl::Recorder to_;
  std::vector<std::uint64_t> spills_;  ///< the array that keeps a value from run to run
  std::vector<NodeId> known_;          ///< in the run at hand
  std::vector<NodeId> uniform_;        ///< indices of loops around runs
  std::vector<Id> touched_;
  std::array<NodeId, 3> positions_{};
  NodeId unit_ = no_node;
};

}  // namespace

void units_to_loops(Kernel& kernel) { kernel = Fission(kernel).run(); }

}  // namespace sinter::ir
