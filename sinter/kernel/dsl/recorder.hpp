// SPDX-License-Identifier: MIT OR Apache-2.0
// What C++ code does while a kernel is recorded.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <vector>

#include "sinter/kernel/ir/ir.hpp"

namespace sinter::dsl {

using ir::Loc;
using NodeId = std::uint32_t;
inline constexpr NodeId no_node = ~NodeId{0};

/// Builds one kernel. Values float: a pure one is put into the kernel where a statement first needs
/// it, so that the text does not depend on the order in which C++ evaluates arguments; a load is
/// put before the next statement at the latest. Equal values are one, known ones are folded.
class Recorder {
 public:
  explicit Recorder(std::string name);

  /// The recorder of this thread; throws ArgumentError outside of record().
  static Recorder& current();

  NodeId constant(ir::Type type, std::uint64_t bits);
  /// A value. Throws DTypeError if the arguments' types don't go together.
  NodeId value(ir::Op op, std::initializer_list<NodeId> args, std::uint64_t payload = 0,
               ir::Type given = {}, Loc loc = {});
  /// A statement, after everything it needs.
  ir::Id statement(ir::Op op, std::initializer_list<NodeId> args, std::uint64_t payload = 0,
                   Loc loc = {});
  /// A statement with a value, like an atomic.
  NodeId result(ir::Op op, std::initializer_list<NodeId> args, std::uint64_t payload, Loc loc);

  /// Opens the first or second block of `region`, until leave().
  void enter(ir::Id region, int which);
  void leave();
  /// The value of a statement: of a `for`, inside its body, the index.
  NodeId node_of(ir::Id placed);

  std::uint64_t declare(ir::Memory memory);
  std::uint64_t declare(ir::Scalar scalar);
  std::uint64_t local(DType dtype, std::uint32_t size);

  [[nodiscard]] ir::Type type_of(NodeId node) const { return nodes_[node].inst.type; }
  void fail(Loc loc, const std::string& problem);
  ir::Kernel& kernel() { return kernel_; }
  /// The finished kernel. Throws ArgumentError with all that went wrong, a line each.
  ir::Kernel finish();

  /// Makes this the recorder of the thread for a scope.
  class Scope {
   public:
    explicit Scope(Recorder& recorder);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Recorder* before_;
  };

 private:
  struct Node {
    ir::Inst inst;  ///< arguments are nodes
    ir::Id placed = ir::no_id;
    std::uint32_t scope = 0;  ///< where it was placed
    /// Of what the value is, not of when it was recorded: whatever is ordered is ordered by it, so
    /// that no order depends on how a compiler evaluates arguments.
    std::uint64_t hash = 0;
  };
  struct OpenBlock {
    std::uint32_t block;
    std::uint32_t scope;
    std::size_t mark;  ///< nodes placed before it was opened
  };

  NodeId append(ir::Inst inst);
  [[nodiscard]] std::uint64_t hash_of(const ir::Inst& inst) const;
  /// Of two arguments that may be exchanged: constants go second.
  [[nodiscard]] bool goes_second(NodeId a, NodeId b) const;
  bool fold(const ir::Inst& inst, NodeId& out);
  ir::Id place(NodeId node, Loc loc);
  void flush(Loc loc);
  [[nodiscard]] bool is_open(std::uint32_t scope) const;

  ir::Kernel kernel_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::vector<NodeId>> known_;  ///< pure nodes by their hash
  std::vector<OpenBlock> open_;
  std::vector<NodeId> placed_;
  std::vector<NodeId> pending_;  ///< loads that no statement has followed yet
  std::uint32_t scopes_ = 0;
  int locals_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace sinter::dsl
