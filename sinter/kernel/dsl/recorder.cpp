// SPDX-License-Identifier: MIT OR Apache-2.0
// Placement of floating values, folding, and what is wrong with a recording.
#include "sinter/kernel/dsl/recorder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/kernel/ir/fold.hpp"
#include "sinter/kernel/ir/verify.hpp"

namespace sinter::dsl {

namespace {

thread_local Recorder* recorder_of_thread = nullptr;

bool same(const ir::Inst& a, const ir::Inst& b) {
  return a.op == b.op && a.type == b.type && a.payload == b.payload && a.args == b.args;
}

}  // namespace

Recorder::Recorder(std::string name) {
  kernel_.name = std::move(name);
  open_.push_back({0, 0, 0});
}

Recorder& Recorder::current() {
  if (recorder_of_thread == nullptr) {
    throw ArgumentError(
        "kernel language: used outside of a recording; call it inside dsl::record()");
  }
  return *recorder_of_thread;
}

Recorder::Scope::Scope(Recorder& recorder) : before_(recorder_of_thread) {
  recorder_of_thread = &recorder;
}
Recorder::Scope::~Scope() { recorder_of_thread = before_; }

std::uint64_t Recorder::hash_of(const ir::Inst& inst) const {
  std::uint64_t hash = 1469598103934665603u;
  const auto mix = [&](std::uint64_t word) { hash = (hash ^ word) * 1099511628211u; };
  mix(static_cast<std::uint64_t>(inst.op));
  mix(static_cast<std::uint64_t>(inst.type.dtype) << 8 | inst.type.lanes);
  mix(inst.payload);
  for (std::size_t i = 0; i < ir::traits_of(inst.op).arguments; ++i) {
    mix(nodes_[inst.args[i]].hash);
  }
  return hash ^ hash >> 32;
}

NodeId Recorder::append(ir::Inst inst) {
  nodes_.push_back({inst, ir::no_id, 0, hash_of(inst)});
  return static_cast<NodeId>(nodes_.size() - 1);
}

NodeId Recorder::constant(ir::Type type, std::uint64_t bits) {
  const NodeId one = value(ir::Op::constant, {}, bits, {type.dtype, 1});
  return type.lanes == 1 ? one : value(ir::Op::splat, {one}, 0, type);
}

NodeId Recorder::value(ir::Op op, std::initializer_list<NodeId> args, std::uint64_t payload,
                       ir::Type given, Loc loc) {
  const ir::OpTraits& traits = ir::traits_of(op);
  SINTER_ASSERT(args.size() == traits.arguments);
  ir::Inst inst;
  inst.op = op;
  inst.payload = payload;
  inst.loc = loc;
  std::copy(args.begin(), args.end(), inst.args.begin());
  ir::Type types[3];
  for (std::size_t i = 0; i < args.size(); ++i) {
    types[i] = type_of(inst.args[i]);
  }
  const ir::Typing typing = ir::type_of(op, types, given);
  if (!typing.problem.empty()) {
    throw DTypeError(fmt::format("{}: {}", ir::traits_of(op).name, typing.problem));
  }
  inst.type = typing.type;
  if (!traits.is(ir::pure)) {
    const NodeId node = append(inst);
    pending_.push_back(node);
    return node;
  }
  if (traits.is(ir::commutative) && goes_second(inst.args[0], inst.args[1])) {
    std::swap(inst.args[0], inst.args[1]);
  }
  if (NodeId folded = no_node; fold(inst, folded)) {
    return folded;
  }
  std::vector<NodeId>& bucket = known_[hash_of(inst)];
  for (const NodeId node : bucket) {
    if (same(nodes_[node].inst, inst)) {
      return node;
    }
  }
  bucket.push_back(append(inst));
  return bucket.back();
}

bool Recorder::goes_second(NodeId a, NodeId b) const {
  const bool a_known = nodes_[a].inst.op == ir::Op::constant;
  const bool b_known = nodes_[b].inst.op == ir::Op::constant;
  return a_known != b_known ? a_known : nodes_[a].hash > nodes_[b].hash;
}

bool Recorder::fold(const ir::Inst& inst, NodeId& out) {
  std::array<ir::Known, 3> known;
  const std::size_t count = ir::traits_of(inst.op).arguments;
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId arg = inst.args[i];
    const ir::Inst* from = &nodes_[arg].inst;
    known[i] = {arg, from->type, {}};
    if (from->op == ir::Op::splat) {
      from = &nodes_[from->args[0]].inst;
    }
    if (from->op == ir::Op::constant) {
      known[i].bits = from->payload;
    }
  }
  // A splat of a constant is how a vector constant is written.
  if (inst.op == ir::Op::splat && inst.type.lanes > 1) {
    return false;
  }
  const ir::Folded folded = ir::fold(inst.op, inst.type, {known.data(), count});
  if (!folded.found()) {
    return false;
  }
  out = folded.bits ? constant(inst.type, *folded.bits)
                    : inst.args[static_cast<std::size_t>(folded.argument)];
  return true;
}

// ---- placement ----

bool Recorder::is_open(std::uint32_t scope) const {
  return std::any_of(open_.begin(), open_.end(),
                     [&](const OpenBlock& block) { return block.scope == scope; });
}

ir::Id Recorder::place(NodeId id, Loc loc) {
  if (nodes_[id].placed != ir::no_id) {
    if (!is_open(nodes_[id].scope)) {
      fail(loc, "a value that was read inside a block is used outside of it; keep it in a Var");
    }
    return nodes_[id].placed;
  }
  ir::Inst inst = nodes_[id].inst;
  for (std::size_t i = 0; i < ir::traits_of(inst.op).arguments; ++i) {
    inst.args[i] = place(inst.args[i], loc);
  }
  if (inst.loc.line == 0) {
    inst.loc = loc;
  }
  nodes_[id].placed = kernel_.add(inst, open_.back().block);
  nodes_[id].scope = open_.back().scope;
  placed_.push_back(id);
  return nodes_[id].placed;
}

void Recorder::flush(Loc loc) {
  std::vector<NodeId> loads = std::exchange(pending_, {});
  std::stable_sort(loads.begin(), loads.end(),
                   [&](NodeId a, NodeId b) { return nodes_[a].hash < nodes_[b].hash; });
  for (const NodeId node : loads) {
    place(node, loc);
  }
}

ir::Id Recorder::statement(ir::Op op, std::initializer_list<NodeId> args, std::uint64_t payload,
                           Loc loc) {
  ir::Inst inst;
  inst.op = op;
  inst.payload = payload;
  inst.loc = loc;
  ir::Type types[3];
  std::size_t i = 0;
  for (const NodeId arg : args) {
    types[i] = type_of(arg);
    inst.args[i++] = place(arg, loc);
  }
  flush(loc);
  const ir::Typing typing = ir::type_of(op, types, {});
  if (!typing.problem.empty()) {
    throw DTypeError(fmt::format("{}: {}", ir::traits_of(op).name, typing.problem));
  }
  inst.type = typing.type;
  if (ir::traits_of(op).is(ir::region)) {
    inst.blocks[0] = kernel_.add_block();
    inst.blocks[1] = kernel_.add_block();
  }
  return kernel_.add(inst, open_.back().block);
}

NodeId Recorder::result(ir::Op op, std::initializer_list<NodeId> args, std::uint64_t payload,
                        Loc loc) {
  return node_of(statement(op, args, payload, loc));
}

NodeId Recorder::node_of(ir::Id placed) {
  Node node{kernel_.at(placed), placed, open_.back().scope, 0};
  // Statements keep their order: their place in it tells them apart.
  node.hash = (std::uint64_t{placed} + 1) * 0x9e3779b97f4a7c15u;
  nodes_.push_back(node);
  return static_cast<NodeId>(nodes_.size() - 1);
}

void Recorder::enter(ir::Id region, int which) {
  open_.push_back(
      {kernel_.at(region).blocks[static_cast<std::size_t>(which)], ++scopes_, placed_.size()});
}

void Recorder::leave() {
  flush({});
  const OpenBlock block = open_.back();
  open_.pop_back();
  // Pure values are placed again where they are needed outside; what was read stays read there.
  for (std::size_t i = block.mark; i < placed_.size(); ++i) {
    Node& node = nodes_[placed_[i]];
    if (ir::traits_of(node.inst.op).is(ir::pure)) {
      node.placed = ir::no_id;
    }
  }
  placed_.resize(block.mark);
}

// ---- declarations and the end ----

std::uint64_t Recorder::declare(ir::Memory memory) {
  for (const ir::Memory& other : kernel_.memories) {
    if (other.name == memory.name) {
      throw ArgumentError(
          fmt::format("kernel {}: {} is declared twice", kernel_.name, memory.name));
    }
  }
  kernel_.memories.push_back(std::move(memory));
  return kernel_.memories.size() - 1;
}

std::uint64_t Recorder::declare(ir::Scalar scalar) {
  kernel_.scalars.push_back(std::move(scalar));
  return kernel_.scalars.size() - 1;
}

std::uint64_t Recorder::local(DType dtype, std::uint32_t size) {
  // A kernel that is copied brings names along.
  const auto taken = [&](const std::string& name) {
    return std::any_of(kernel_.memories.begin(), kernel_.memories.end(),
                       [&](const ir::Memory& memory) { return memory.name == name; });
  };
  while (taken(fmt::format("v{}", locals_))) {
    ++locals_;
  }
  return declare(ir::Memory{.name = fmt::format("v{}", locals_++),
                            .space = ir::Space::local,
                            .dtype = dtype,
                            .size = size});
}

void Recorder::fail(Loc loc, const std::string& problem) {
  problems_.push_back(fmt::format("{}:{}: {}", loc.file, loc.line, problem));
}

ir::Kernel Recorder::finish() {
  flush({});
  if (problems_.empty()) {
    problems_ = ir::verify(kernel_);
  }
  if (!problems_.empty()) {
    std::string text = fmt::format("kernel {} was not recorded:", kernel_.name);
    for (const std::string& problem : problems_) {
      text += "\n  " + problem;
    }
    throw ArgumentError(text);
  }
  return std::move(kernel_);
}

}  // namespace sinter::dsl
