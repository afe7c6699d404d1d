// SPDX-License-Identifier: MIT OR Apache-2.0
// Statements, memory, and the loop over cubes.
#include "sinter/kernel/compilers/llvm/detail/emit.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <llvm-c/DebugInfo.h>

#include "sinter/kernel/compile_error.hpp"
#include "sinter/kernel/compilers/llvm/detail/arithmetic.hpp"
#include "sinter/kernel/compilers/llvm/detail/indices.hpp"

namespace sinter::llvm {

namespace {

using ir::Op;
using ir::Space;
constexpr const char* unnamed = "";

constexpr std::uint64_t most_stack_each = 4 << 10;
constexpr std::uint64_t most_stack = 32 << 10;
constexpr unsigned alignment = 64;

class Emitter {
 public:
  Emitter(LLVMContextRef context, LLVMModuleRef module, const ir::Kernel& kernel,
          const EmitOptions& options)
      : kernel_(kernel),
        b_(context, module, options.complete),
        arithmetic_(b_, options.complete, options.wide_vectors),
        never_wraps_(never_wrapping(kernel)),
        values_(kernel.insts.size()),
        bases_(kernel.memories.size()),
        lengths_(kernel.memories.size()),
        aliases_(kernel.memories.size()) {
    declare(options);
  }

  EmitResult run() {
    if (kernel_.units() != 1) {
      throw CompileError(
          fmt::format("expected a kernel of one unit a cube, got {} units", kernel_.units()));
    }
    start(entry_);
    arguments();
    memories();
    cubes();
    return result_;
  }

 private:
  // ---- the function and what it is called with ----

  void declare(const EmitOptions& options) {
    LlvmType parameters[] = {b_.pointer(), b_.integer(64), b_.integer(64), b_.pointer()};
    const LlvmType type = LLVMFunctionType(LLVMVoidTypeInContext(b_.context()), parameters, 4, 0);
    function_ = LLVMAddFunction(b_.module(), function_name, type);
    entry_ = new_block();
    string_attribute("no-builtins", "");
    if (options.wide_vectors) {
      string_attribute("prefer-vector-width", "512");
    }
    attribute(LLVMAttributeFunctionIndex, "nounwind", 0);
    for (const unsigned parameter : {1u, 4u}) {
      attribute(parameter, "noalias", 0);
    }
    attribute(4, "align", alignment);
  }
  void string_attribute(std::string_view name, std::string_view value) {
    LLVMAddAttributeAtIndex(
        function_, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(b_.context(), name.data(), static_cast<unsigned>(name.size()),
                                  value.data(), static_cast<unsigned>(value.size())));
  }
  void attribute(unsigned place, std::string_view name, std::uint64_t value) {
    const unsigned kind = LLVMGetEnumAttributeKindForName(name.data(), name.size());
    LLVMAddAttributeAtIndex(function_, place, LLVMCreateEnumAttribute(b_.context(), kind, value));
  }

  LLVMBasicBlockRef new_block() {
    return LLVMAppendBasicBlockInContext(b_.context(), function_, unnamed);
  }
  void start(LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(b_.get(), block); }
  LLVMBasicBlockRef here() { return LLVMGetInsertBlock(b_.get()); }
  void jump(LLVMBasicBlockRef to) { LLVMBuildBr(b_.get(), to); }

  Value element(LlvmType type, Value base, Value index) {
    return LLVMBuildInBoundsGEP2(b_.get(), type, base, &index, 1, unnamed);
  }
  Value load_at(LlvmType type, Value base, std::uint64_t index) {
    return LLVMBuildLoad2(b_.get(), type, element(type, base, b_.i64(index)), unnamed);
  }

  /// Everything is read from the call once, before any buffer is written.
  void arguments() {
    const Value call = LLVMGetParam(function_, 0);
    const Value buffers = load_at(b_.pointer(), call, 0);
    const Value lengths = load_at(b_.pointer(), call, 1);
    const Value scalars = load_at(b_.pointer(), call, 2);
    arithmetic_.set_helpers(load_at(b_.pointer(), call, 3));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      counts_[axis] = load_at(b_.integer(32), call, 8 + axis);
    }
    std::uint64_t buffer = 0;
    for (std::size_t i = 0; i < bases_.size(); ++i) {
      if (kernel_.memories[i].space == Space::buffer) {
        bases_[i] = load_at(b_.pointer(), buffers, buffer);
        lengths_[i] = load_at(b_.integer(64), lengths, buffer++);
      }
    }
    for (std::size_t i = 0; i < kernel_.scalars.size(); ++i) {
      scalars_.push_back(scalar(kernel_.scalars[i].dtype, load_at(b_.integer(64), scalars, i)));
    }
  }
  Value scalar(DType dtype, Value bits) {
    if (dtype == DType::f64) {
      return b_.bitcast(bits, b_.f64());
    }
    if (is_floating(dtype)) {
      return b_.bitcast(LLVMBuildTrunc(b_.get(), bits, b_.integer(32), unnamed), b_.f32());
    }
    return b_.cast(DType::u64, dtype, bits);
  }

  /// Small memories lie on the stack, where LLVM makes registers of them; the others in scratch.
  void memories() {
    std::uint64_t stack = 0;
    std::vector<std::size_t> in_scratch;
    for (std::size_t i = 0; i < bases_.size(); ++i) {
      const ir::Memory& memory = kernel_.memories[i];
      if (memory.space == Space::buffer) {
        continue;
      }
      const LlvmType type = b_.in_local(memory.dtype);
      const std::uint64_t bytes = memory.size * bytes_of(memory);
      if (bytes <= most_stack_each && stack + bytes <= most_stack) {
        stack += bytes;
        bases_[i] = LLVMBuildAlloca(b_.get(), LLVMArrayType2(type, memory.size), unnamed);
        LLVMSetAlignment(bases_[i], alignment);
        continue;
      }
      bases_[i] = element(b_.integer(8), LLVMGetParam(function_, 3), b_.i64(result_.scratch_bytes));
      result_.scratch_bytes += (bytes + alignment - 1) / alignment * alignment;
      in_scratch.push_back(i);
    }
    tell_apart(in_scratch);
  }
  static std::uint64_t bytes_of(const ir::Memory& memory) {
    return is_floating(memory.dtype) ? std::max<std::size_t>(size_of(memory.dtype), 4)
                                     : size_of(memory.dtype);
  }

  /// Metadata by which memories in scratch don't overlap each other.
  void tell_apart(const std::vector<std::size_t>& memories) {
    const LLVMContextRef context = b_.context();
    const auto node = [&](std::vector<LLVMMetadataRef> parts) {
      return LLVMMDNodeInContext2(context, parts.data(), parts.size());
    };
    const auto word = [&](const std::string& text) {
      return LLVMMDStringInContext2(context, text.data(), text.size());
    };
    const LLVMMetadataRef domain = node({word("scratch")});
    std::vector<LLVMMetadataRef> scopes;
    for (const std::size_t i : memories) {
      scopes.push_back(node({word(fmt::format("memory {}", i)), domain}));
    }
    for (std::size_t k = 0; k < memories.size(); ++k) {
      std::vector<LLVMMetadataRef> others = scopes;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
      aliases_[memories[k]] = {LLVMMetadataAsValue(context, node({scopes[k]})),
                               LLVMMetadataAsValue(context, node(others))};
    }
  }

  // ---- cubes ----

  /// Cubes first to last - 1, the position kept by increments.
  void cubes() {
    const LLVMBuilderRef builder = b_.get();
    const Value first = LLVMGetParam(function_, 1);
    const Value last = LLVMGetParam(function_, 2);
    const LLVMBasicBlockRef setup = new_block();
    const LLVMBasicBlockRef cube = new_block();
    const LLVMBasicBlockRef end = new_block();
    LLVMBuildCondBr(builder, b_.compare(LLVMIntULT, first, last), setup, end);

    start(setup);
    const Value row = LLVMBuildZExt(builder, counts_[0], b_.integer(64), unnamed);
    const Value rows = LLVMBuildZExt(builder, counts_[1], b_.integer(64), unnamed);
    const Value rest = LLVMBuildUDiv(builder, first, row, unnamed);
    const auto narrow = [&](Value x) {
      return LLVMBuildTrunc(builder, x, b_.integer(32), unnamed);
    };
    Value initial[3] = {narrow(LLVMBuildURem(builder, first, row, unnamed)),
                        narrow(LLVMBuildURem(builder, rest, rows, unnamed)),
                        narrow(LLVMBuildUDiv(builder, rest, rows, unnamed))};
    jump(cube);

    start(cube);
    const Value number = LLVMBuildPhi(builder, b_.integer(64), unnamed);
    const std::size_t axes = axes_used();
    for (std::size_t axis = 0; axis < axes; ++axis) {
      positions_[axis] = LLVMBuildPhi(builder, b_.integer(32), unnamed);
    }
    block(0, nullptr);

    const Value next = LLVMBuildAdd(builder, number, b_.i64(1), unnamed);
    LLVMSetNUW(next, 1);
    Value following[3];
    step_position(following, axes);
    const LLVMBasicBlockRef latch = here();
    LLVMBuildCondBr(builder, b_.compare(LLVMIntULT, next, last), cube, end);
    incoming(number, first, setup, next, latch);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      incoming(positions_[axis], initial[axis], setup, following[axis], latch);
    }
    start(end);
    LLVMBuildRetVoid(builder);
  }

  /// Positions are carried from x on, as far as the kernel asks for them.
  [[nodiscard]] std::size_t axes_used() const {
    std::size_t axes = 0;
    for (const ir::Inst& inst : kernel_.insts) {
      if (inst.op == Op::cube_pos) {
        axes = std::max<std::size_t>(axes, inst.payload + 1);
      }
    }
    return axes;
  }

  void step_position(Value* following, std::size_t axes) {
    const Value zero = LLVMConstInt(b_.integer(32), 0, 0);
    const Value one = LLVMConstInt(b_.integer(32), 1, 0);
    Value carries = nullptr;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const Value stepped = LLVMBuildAdd(b_.get(), positions_[axis], one, unnamed);
      const Value moved =
          carries == nullptr ? stepped : b_.select(carries, stepped, positions_[axis]);
      const Value full = b_.compare(LLVMIntEQ, moved, counts_[axis]);
      following[axis] = axis == 2 ? moved : b_.select(full, zero, moved);
      carries = full;
    }
  }

  static void incoming(Value phi, Value a, LLVMBasicBlockRef from_a, Value b,
                       LLVMBasicBlockRef from_b) {
    Value values[] = {a, b};
    LLVMBasicBlockRef blocks[] = {from_a, from_b};
    LLVMAddIncoming(phi, values, blocks, 2);
  }

  // ---- statements ----

  /// `out` is where break_if goes.
  void block(std::uint32_t index, LLVMBasicBlockRef out) {
    for (const ir::Id id : kernel_.blocks[index]) {
      try {
        statement(id, out);
      } catch (const CompileError& error) {
        const ir::Loc loc = kernel_.at(id).loc;
        if (loc.line == 0) {
          throw;
        }
        throw CompileError(fmt::format("{} (recorded at {}:{})", error.what(), loc.file, loc.line));
      }
    }
  }

  void statement(ir::Id id, LLVMBasicBlockRef out) {
    const ir::Inst& inst = kernel_.at(id);
    switch (inst.op) {
      case Op::if_:
        return branch(inst, out);
      case Op::for_:
        return count(id);
      case Op::loop:
        return repeat(inst);
      case Op::break_if: {
        const LLVMBasicBlockRef next = new_block();
        LLVMBuildCondBr(b_.get(), argument(inst, 0), out, next);
        return start(next);
      }
      case Op::store:
        return store(inst);
      case Op::barrier:
        throw CompileError("barrier: a cube of one unit has none to wait for");
      default:
        values_[id] = value(id, inst);
    }
  }

  void branch(const ir::Inst& inst, LLVMBasicBlockRef out) {
    const LLVMBasicBlockRef then = new_block();
    const LLVMBasicBlockRef other = new_block();
    const LLVMBasicBlockRef join = new_block();
    // "Any lane" is how the rare cases of formulas are asked for: one test, and expected to fail.
    const ir::Id lanes = all_lanes_of(inst.args[0]);
    if (lanes == ir::no_id) {
      LLVMBuildCondBr(b_.get(), argument(inst, 0), then, other);
    } else {
      const Value mask = values_[lanes];
      const Value any = b_.call("llvm.vector.reduce.or", {LLVMTypeOf(mask)}, {mask});
      mark_rare(LLVMBuildCondBr(b_.get(), any, then, other));
    }
    start(then);
    block(inst.blocks[0], out);
    jump(join);
    start(other);
    block(inst.blocks[1], out);
    jump(join);
    start(join);
  }

  /// The vector whose lanes `id` is the bit_or of, all of them; no_id if it is anything else.
  [[nodiscard]] ir::Id all_lanes_of(ir::Id id) const {
    std::uint32_t seen = 0;
    ir::Id vector = ir::no_id;
    std::vector<ir::Id> open{id};
    while (!open.empty()) {
      const ir::Inst& inst = kernel_.at(open.back());
      open.pop_back();
      if (inst.op == Op::bit_or) {
        open.insert(open.end(), {inst.args[0], inst.args[1]});
      } else if (inst.op == Op::extract && (vector == ir::no_id || vector == inst.args[0])) {
        vector = inst.args[0];
        seen |= 1u << inst.payload;
      } else {
        return ir::no_id;
      }
    }
    const std::uint32_t all = (1u << kernel_.at(vector).type.lanes) - 1;
    return seen == all ? vector : ir::no_id;
  }

  void mark_rare(Value jump) {
    const LLVMContextRef context = b_.context();
    const auto weight = [&](std::uint64_t w) {
      return LLVMValueAsMetadata(LLVMConstInt(b_.integer(32), w, 0));
    };
    constexpr std::string_view name = "branch_weights";
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(context, name.data(), name.size()), weight(1),
                               weight(4000)};
    LLVMSetMetadata(jump, LLVMGetMDKindIDInContext(context, "prof", 4),
                    LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, parts, 3)));
  }

  /// A loop that LLVM's vectoriser should leave alone: the rest of one over vectors, or one whose
  /// length it can't know.
  void leave_scalar(Value jump) {
    const LLVMContextRef context = b_.context();
    const auto property = [&](std::string_view name) {
      LLVMMetadataRef parts[] = {LLVMMDStringInContext2(context, name.data(), name.size()),
                                 LLVMValueAsMetadata(LLVMConstInt(b_.integer(32), 1, 0))};
      return LLVMMDNodeInContext2(context, parts, 2);
    };
    // A loop's properties begin with themselves, which tells loops apart.
    const LLVMMetadataRef self = LLVMTemporaryMDNode(context, nullptr, 0);
    LLVMMetadataRef parts[] = {self, property("llvm.loop.vectorize.width"),
                               property("llvm.loop.interleave.count")};
    const LLVMMetadataRef loop = LLVMMDNodeInContext2(context, parts, 3);
    LLVMMetadataReplaceAllUsesWith(self, loop);
    LLVMSetMetadata(jump, LLVMGetMDKindIDInContext(context, "llvm.loop", 9),
                    LLVMMetadataAsValue(context, loop));
  }
  [[nodiscard]] bool is_constant(ir::Id id) const { return kernel_.at(id).op == Op::constant; }

  void count(ir::Id id) {
    const ir::Inst& inst = kernel_.at(id);
    const bool is_counted =
        is_constant(inst.args[0]) && is_constant(inst.args[1]) && is_constant(inst.args[2]);
    result_.has_loops = true;
    result_.has_counted_loops |= is_counted;
    const bool is_signed = !is_unsigned(inst.type.dtype);
    const LLVMBasicBlockRef before = here();
    const LLVMBasicBlockRef head = new_block();
    const LLVMBasicBlockRef body = new_block();
    const LLVMBasicBlockRef out = new_block();
    jump(head);
    start(head);
    const Value index = LLVMBuildPhi(b_.get(), b_.in_register(inst.type), unnamed);
    values_[id] = index;
    const Value goes_on = b_.compare(is_signed ? LLVMIntSLT : LLVMIntULT, index, argument(inst, 1));
    LLVMBuildCondBr(b_.get(), goes_on, body, out);
    start(body);
    block(inst.blocks[0], out);
    const Value next = LLVMBuildAdd(b_.get(), index, argument(inst, 2), unnamed);
    if (LLVMIsABinaryOperator(next) != nullptr) {
      is_signed ? LLVMSetNSW(next, 1) : LLVMSetNUW(next, 1);
    }
    incoming(index, argument(inst, 0), before, next, here());
    const Value again = LLVMBuildBr(b_.get(), head);
    if (!is_counted) {
      leave_scalar(again);
    }
    start(out);
  }

  void repeat(const ir::Inst& inst) {
    result_.has_loops = true;
    const LLVMBasicBlockRef body = new_block();
    const LLVMBasicBlockRef out = new_block();
    jump(body);
    start(body);
    block(inst.blocks[0], out);
    jump(body);
    start(out);
  }

  // ---- values ----

  Value argument(const ir::Inst& inst, std::size_t i) const { return values_[inst.args[i]]; }

  Value value(ir::Id id, const ir::Inst& inst) {
    const DType dtype = inst.type.dtype;
    switch (inst.op) {
      case Op::constant:
        return b_.constant(dtype, inst.payload);
      case Op::scalar:
        return scalars_[inst.payload];
      case Op::length:
        return b_.cast(DType::u64, dtype, lengths_[inst.payload]);
      case Op::unit_pos:
      case Op::plane_pos:
        return b_.constant(dtype, 0);
      case Op::plane_dim:
        return b_.constant(dtype, 1);
      case Op::cube_pos:
        return b_.cast(DType::u32, dtype, positions_[inst.payload]);
      case Op::cube_count:
        return b_.cast(DType::u32, dtype, counts_[inst.payload]);
      case Op::load:
        return load(inst);
      default:
        break;
    }
    const ir::OpTraits& op = ir::traits_of(inst.op);
    if (op.is(ir::memory)) {
      return atomic(inst);
    }
    if (op.is(ir::together)) {
      return argument(inst, 0);  // a plane is one unit
    }
    Args args{};
    for (std::size_t i = 0; i < op.arguments; ++i) {
      args[i] = argument(inst, i);
    }
    const DType from = kernel_.at(inst.args[inst.op == Op::select ? 1 : 0]).type.dtype;
    const Value result = arithmetic_.build(inst, from, args);
    if (never_wraps_[id] && LLVMIsABinaryOperator(result) != nullptr) {
      LLVMSetNUW(result, 1);
    }
    return result;
  }

  // ---- memory ----

  [[nodiscard]] const ir::Memory& memory_of(const ir::Inst& inst) const {
    return kernel_.memories[inst.payload];
  }
  LlvmType stored(const ir::Memory& memory) const {
    return memory.space == Space::buffer ? b_.in_buffer(memory.dtype) : b_.in_local(memory.dtype);
  }
  Value address(const ir::Inst& inst) {
    const Value index = LLVMBuildZExt(b_.get(), argument(inst, 0), b_.integer(64), unnamed);
    return element(stored(memory_of(inst)), bases_[inst.payload], index);
  }
  /// A value as memory holds it, and back.
  Value packed(const ir::Memory& memory, Value value) {
    const bool is_same = memory.space != Space::buffer && memory.dtype != DType::boolean;
    return is_same ? value : b_.to_buffer(memory.dtype, value);
  }
  Value unpacked(const ir::Memory& memory, Value value) {
    const bool is_same = memory.space != Space::buffer && memory.dtype != DType::boolean;
    return is_same ? value : b_.from_buffer(memory.dtype, value);
  }
  unsigned alignment_of(const ir::Memory& memory) const {
    return static_cast<unsigned>(memory.space == Space::buffer ? size_of(memory.dtype)
                                                               : bytes_of(memory));
  }
  void describe(const ir::Inst& inst, Value access) {
    LLVMSetAlignment(access, alignment_of(memory_of(inst)));
    const auto& [own, others] = aliases_[inst.payload];
    if (own != nullptr) {
      LLVMSetMetadata(access, LLVMGetMDKindIDInContext(b_.context(), "alias.scope", 11), own);
      LLVMSetMetadata(access, LLVMGetMDKindIDInContext(b_.context(), "noalias", 7), others);
    }
  }

  Value load(const ir::Inst& inst) {
    const LlvmType type = Builder::wide(stored(memory_of(inst)), inst.type.lanes);
    const Value raw = LLVMBuildLoad2(b_.get(), type, address(inst), unnamed);
    describe(inst, raw);
    return unpacked(memory_of(inst), raw);
  }
  void store(const ir::Inst& inst) {
    const Value raw = packed(memory_of(inst), argument(inst, 1));
    describe(inst, LLVMBuildStore(b_.get(), raw, address(inst)));
  }

  // ---- atomics ----

  Value atomic(const ir::Inst& inst) {
    const ir::Memory& memory = memory_of(inst);
    if (memory.space != Space::buffer) {
      throw CompileError(fmt::format("{}: {} is seen by one unit alone; expected a buffer",
                                     ir::traits_of(inst.op).name, memory.name));
    }
    const unsigned bits = 8 * static_cast<unsigned>(size_of(memory.dtype));
    const Value place = address(inst);
    const Value operand = b_.bitcast(packed(memory, argument(inst, 1)), b_.integer(bits));
    if (inst.op == Op::atomic_compare_exchange) {
      const Value wanted = b_.bitcast(packed(memory, argument(inst, 2)), b_.integer(bits));
      const Value pair = exchange(place, operand, wanted);
      return from_bits(memory, LLVMBuildExtractValue(b_.get(), pair, 0, unnamed));
    }
    if (inst.op == Op::atomic_exchange || !is_floating(memory.dtype)) {
      const Value old = LLVMBuildAtomicRMW(b_.get(), action(inst.op, memory.dtype), place, operand,
                                           LLVMAtomicOrderingMonotonic, 0);
      return from_bits(memory, old);
    }
    return attempt(inst, place, bits);
  }
  Value from_bits(const ir::Memory& memory, Value bits) {
    return unpacked(memory, b_.bitcast(bits, stored(memory)));
  }
  static LLVMAtomicRMWBinOp action(Op op, DType dtype) {
    const bool is_signed = !is_unsigned(dtype);
    switch (op) {
      case Op::atomic_add:
        return LLVMAtomicRMWBinOpAdd;
      case Op::atomic_min:
        return is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
      case Op::atomic_max:
        return is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
      default:
        return LLVMAtomicRMWBinOpXchg;
    }
  }
  Value exchange(Value place, Value expected, Value wanted) {
    return LLVMBuildAtomicCmpXchg(b_.get(), place, expected, wanted, LLVMAtomicOrderingMonotonic,
                                  LLVMAtomicOrderingMonotonic, 0);
  }

  /// Computes the new value from the old one until nobody came between.
  Value attempt(const ir::Inst& inst, Value place, unsigned bits) {
    const ir::Memory& memory = memory_of(inst);
    const Value seen = LLVMBuildLoad2(b_.get(), b_.integer(bits), place, unnamed);
    LLVMSetOrdering(seen, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(seen, bits / 8);
    const LLVMBasicBlockRef before = here();
    const LLVMBasicBlockRef again = new_block();
    const LLVMBasicBlockRef done = new_block();
    jump(again);
    start(again);
    const Value old = LLVMBuildPhi(b_.get(), b_.integer(bits), unnamed);
    const Op op = inst.op == Op::atomic_add   ? Op::add
                  : inst.op == Op::atomic_min ? Op::min
                                              : Op::max;
    const Value old_value = from_bits(memory, old);
    const Value next = arithmetic_.binary(op, memory.dtype, old_value, argument(inst, 1));
    const Value pair = exchange(place, old, b_.bitcast(packed(memory, next), b_.integer(bits)));
    incoming(old, seen, before, LLVMBuildExtractValue(b_.get(), pair, 0, unnamed), here());
    LLVMBuildCondBr(b_.get(), LLVMBuildExtractValue(b_.get(), pair, 1, unnamed), done, again);
    start(done);
    return old_value;
  }

  struct Alias {
    Value own = nullptr;
    Value others = nullptr;
  };

  const ir::Kernel& kernel_;
  Builder b_;
  Arithmetic arithmetic_;
  std::vector<bool> never_wraps_;
  std::vector<Value> values_;
  std::vector<Value> bases_, lengths_;  // of memories
  std::vector<Alias> aliases_;
  std::vector<Value> scalars_;
  std::array<Value, 3> counts_{}, positions_{};
  Value function_ = nullptr;
  LLVMBasicBlockRef entry_ = nullptr;
  EmitResult result_;
};

}  // namespace

EmitResult emit(LLVMContextRef context, LLVMModuleRef module, const ir::Kernel& kernel,
                const EmitOptions& options) {
  return Emitter(context, module, kernel, options).run();
}

}  // namespace sinter::llvm
