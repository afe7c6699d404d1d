// SPDX-License-Identifier: MIT OR Apache-2.0
// Buffers, shared and local memories, and atomics.
#include <fmt/format.h>

#include "sinter/kernel/compilers/spirv/detail/memories.hpp"

namespace sinter::spirv {

using ir::Op;
using ir::Space;

namespace {

bool is_atomic(Op op) {
  const ir::OpTraits& traits = ir::traits_of(op);
  return traits.is(ir::reads) && traits.is(ir::writes) && traits.is(ir::memory);
}

std::uint32_t bytes_of(DType dtype) { return static_cast<std::uint32_t>(size_of(dtype)); }

}  // namespace

Memories::Memories(Module& module, Numeric& numeric, const ir::Kernel& kernel,
                   const Features& features)
    : m_(module),
      numeric_(numeric),
      kernel_(kernel),
      features_(features),
      cells_(kernel.memories.size()) {
  collect_atomics();
  std::uint32_t binding = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    plan(i);
    declare(i, binding);
    binding += kernel.memories[i].space == Space::buffer ? 1 : 0;
  }
}

void Memories::collect_atomics() {
  for (const auto& block : kernel_.blocks) {
    for (const ir::Id id : block) {
      const ir::Inst& inst = kernel_.at(id);
      if (is_atomic(inst.op)) {
        cells_[inst.payload].atomics.insert(inst.op);
      }
      has_barrier_ = has_barrier_ || inst.op == Op::barrier;
    }
  }
}

/// How the elements of a memory are kept.
void Memories::plan(std::size_t memory) {
  const ir::Memory& what = kernel_.memories[memory];
  Cell& cell = cells_[memory];
  const std::uint32_t bytes = bytes_of(what.dtype);
  const bool has_atomics = !cell.atomics.empty();
  if (bytes < 4) {
    const bool stored = bytes == 1 ? features_.storage8 : features_.storage16;
    if (what.space == Space::buffer) {
      cell.bits = true;
      cell.packed = has_atomics || !stored;
      cell.element = m_.integer(cell.packed ? 32 : 8 * bytes);
      if (!cell.packed) {
        m_.need(bytes == 1 ? Capability::storage8 : Capability::storage16);
      }
      return;
    }
    cell.bits = has_atomics || what.dtype == DType::boolean;
    cell.element = cell.bits ? m_.integer(32) : numeric_.type(what.dtype);
    return;
  }
  const bool adds_only =
      cell.atomics.size() == 1 && cell.atomics.contains(Op::atomic_add) &&
      what.dtype == DType::f32 &&
      (what.space == Space::buffer ? features_.buffer_f32_add : features_.shared_f32_add);
  cell.bits = is_floating(what.dtype) && has_atomics && !adds_only;
  cell.element = cell.bits ? m_.integer(8 * bytes) : numeric_.type(what.dtype);
}

void Memories::declare(std::size_t memory, std::uint32_t binding) {
  const ir::Memory& what = kernel_.memories[memory];
  Cell& cell = cells_[memory];
  if (what.space == Space::buffer) {
    declare_buffer(memory, binding);
  } else {
    cell.single = what.size == 1;
    const Id type = cell.single ? cell.element : m_.array(cell.element, what.size);
    if (what.space == Space::shared) {
      cell.variable = m_.global(Storage::workgroup, type);
      m_.name(cell.variable, what.name);
    }
  }
}

void Memories::declare_buffer(std::size_t memory, std::uint32_t binding) {
  const ir::Memory& what = kernel_.memories[memory];
  Cell& cell = cells_[memory];
  const std::uint32_t stride = cell.packed ? 4 : bytes_of(what.dtype);
  const std::uint32_t element[] = {cell.element};
  const Id array = m_.own_type(Code::type_runtime_array, element);
  const std::uint32_t member[] = {array};
  const Id block = m_.own_type(Code::type_struct, member);
  m_.decorate(array, Decoration::array_stride, {stride});
  m_.decorate(block, Decoration::block);
  m_.decorate_member(block, 0, Decoration::offset, {0});
  cell.variable = m_.global(Storage::buffer, block);
  m_.name(cell.variable, what.name);
  m_.decorate(cell.variable, Decoration::set, {0});
  m_.decorate(cell.variable, Decoration::binding, {binding});
  // Two arguments may be one tensor.
  m_.decorate(cell.variable, Decoration::aliased);
  if (what.access == ir::Access::read) {
    m_.decorate(cell.variable, Decoration::non_writable);
  } else if (has_barrier_) {
    m_.decorate(cell.variable, Decoration::coherent);
  }
}

Memories::Cell& Memories::cell(std::uint64_t memory) {
  Cell& cell = cells_[memory];
  if (cell.variable == 0) {
    const ir::Memory& what = kernel_.memories[memory];
    cell.variable = m_.local(cell.single ? cell.element : m_.array(cell.element, what.size));
    m_.name(cell.variable, what.name);
  }
  return cell;
}

Id Memories::element_index(Id base, Id index, std::uint32_t offset) {
  if (offset != 0) {
    index = m_.same(Code::i_add, {index, m_.u32(offset)});
  }
  return base == 0 ? index : m_.same(Code::i_add, {base, index});
}

Id Memories::pointer(const Cell& cell, Space space, Id index) {
  if (space == Space::buffer) {
    return m_.value(Code::access_chain, m_.pointer(Storage::buffer, cell.element),
                    {cell.variable, m_.u32(0), index});
  }
  if (cell.single) {
    return cell.variable;
  }
  const Storage storage = space == Space::shared ? Storage::workgroup : Storage::function;
  return m_.value(Code::access_chain, m_.pointer(storage, cell.element), {cell.variable, index});
}

Memories::Place Memories::place(const Cell& cell, DType dtype, Id index) {
  const bool bytes = size_of(dtype) == 1;
  const Id word = m_.same(Code::shift_right_logical, {index, m_.u32(bytes ? 2 : 1)});
  const Id part = m_.same(Code::bit_and, {index, m_.u32(bytes ? 3 : 1)});
  return {pointer(cell, Space::buffer, word),
          m_.same(Code::shift_left, {part, m_.u32(bytes ? 3 : 4)})};
}

Id Memories::narrow_mask(DType dtype) { return m_.u32(size_of(dtype) == 1 ? 0xff : 0xffff); }

Id Memories::load(std::uint64_t memory, Id base, Id index, std::uint32_t offset) {
  const ir::Memory& what = kernel_.memories[memory];
  const Cell& cell = this->cell(memory);
  const Id at = element_index(base, index, offset);
  if (cell.packed) {
    const auto [word, shift] = place(cell, what.dtype, at);
    const Id all = m_.value(Code::load, m_.integer(32), {word});
    const Id bits = m_.same(Code::shift_right_logical, {all, shift});
    return numeric_.from_bits(what.dtype, m_.same(Code::bit_and, {bits, narrow_mask(what.dtype)}));
  }
  Id bits = m_.value(Code::load, cell.element, {pointer(cell, what.space, at)});
  if (!cell.bits) {
    return bits;
  }
  if (m_.width(cell.element) < 32) {
    bits = m_.value(Code::u_convert, m_.integer(32), {bits});
  }
  return numeric_.from_bits(what.dtype, bits);
}

void Memories::store(std::uint64_t memory, Id base, Id index, std::uint32_t offset, Id value) {
  const ir::Memory& what = kernel_.memories[memory];
  const Cell& cell = this->cell(memory);
  const Id at = element_index(base, index, offset);
  if (cell.packed) {
    // Other units may write the word's other elements at the same time.
    const auto [word, shift] = place(cell, what.dtype, at);
    const Id bits = m_.same(Code::shift_left, {numeric_.to_bits(what.dtype, value), shift});
    const Id mask = m_.same(Code::shift_left, {narrow_mask(what.dtype), shift});
    const Id others = m_.same(Code::bit_not, {mask});
    const Id scope = m_.u32(scope_device), relaxed = m_.u32(0);
    m_.value(Code::atomic_and, m_.integer(32), {word, scope, relaxed, others});
    m_.value(Code::atomic_or, m_.integer(32), {word, scope, relaxed, bits});
    return;
  }
  if (cell.bits) {
    value = numeric_.to_bits(what.dtype, value);
    if (m_.width(cell.element) < 32) {
      value = m_.value(Code::u_convert, cell.element, {value});
    }
  }
  m_.effect(Code::store, {pointer(cell, what.space, at), value});
}

// ---- atomics ----

namespace {

Code native_code(Op op, DType dtype) {
  const bool plain = is_unsigned(dtype);
  switch (op) {
    case Op::atomic_add:
      return dtype == DType::f32 ? Code::atomic_f_add : Code::atomic_i_add;
    case Op::atomic_min:
      return plain ? Code::atomic_u_min : Code::atomic_s_min;
    case Op::atomic_max:
      return plain ? Code::atomic_u_max : Code::atomic_s_max;
    default:
      return Code::atomic_exchange;
  }
}

}  // namespace

bool Memories::is_native(const Cell& cell, const ir::Memory& memory, Op op) const {
  if (cell.packed || size_of(memory.dtype) < 4) {
    return false;
  }
  return !cell.bits || op == Op::atomic_exchange;
}

Id Memories::atomic(Op op, std::uint64_t memory, Id base, Id index, Id a, Id b) {
  const ir::Memory& what = kernel_.memories[memory];
  const Cell& cell = this->cell(memory);
  const bool shared = what.space == Space::shared;
  if (size_of(what.dtype) == 8) {
    if (!(shared ? features_.shared_i64_atomics : features_.buffer_i64_atomics)) {
      numeric_.refuse("the device has no 64-bit atomics there; use 32 bits");
    }
    m_.need(Capability::int64_atomics);
  }
  const Id at = element_index(base, index, 0);
  if (!is_native(cell, what, op)) {
    return swap(op, memory, at, a, b);
  }
  const Id scope = m_.u32(shared ? scope_workgroup : scope_device);
  const Id relaxed = m_.u32(0);
  const Id place = pointer(cell, what.space, at);
  if (op == Op::atomic_compare_exchange) {
    return m_.value(Code::atomic_compare_exchange, cell.element,
                    {place, scope, relaxed, relaxed, b, a});
  }
  if (what.dtype == DType::f32 && op == Op::atomic_add) {
    m_.need(Capability::atomic_float32_add);
    m_.extension("SPV_EXT_shader_atomic_float_add");
  }
  const Id bits = cell.bits ? numeric_.to_bits(what.dtype, a) : a;
  const Id old = m_.value(native_code(op, what.dtype), cell.element, {place, scope, relaxed, bits});
  return cell.bits ? numeric_.from_bits(what.dtype, old) : old;
}

Id Memories::changed(Op op, DType dtype, Id value, Id a, Id b) {
  switch (op) {
    case Op::atomic_add:
      return numeric_.apply(Op::add, dtype, dtype, {value, a, 0});
    case Op::atomic_min:
      return numeric_.apply(Op::min, dtype, dtype, {value, a, 0});
    case Op::atomic_max:
      return numeric_.apply(Op::max, dtype, dtype, {value, a, 0});
    case Op::atomic_compare_exchange: {
      const Id bits = numeric_.to_bits(dtype, value);
      const Id found = m_.test(Code::i_equal, {bits, numeric_.to_bits(dtype, a)});
      return m_.select(found, b, value);
    }
    default:
      return a;
  }
}

/// Any other change: computed from what is there, and tried until nobody came between.
Id Memories::swap(Op op, std::uint64_t memory, Id index, Id a, Id b) {
  const ir::Memory& what = kernel_.memories[memory];
  const Cell& cell = this->cell(memory);
  const Id scope = m_.u32(what.space == Space::shared ? scope_workgroup : scope_device);
  const Id relaxed = m_.u32(0);
  const auto [word, shift] =
      cell.packed ? place(cell, what.dtype, index) : Place{pointer(cell, what.space, index), 0};
  const auto decode = [&](Id bits) {
    if (cell.packed) {
      bits = m_.same(Code::shift_right_logical, {bits, shift});
      bits = m_.same(Code::bit_and, {bits, narrow_mask(what.dtype)});
    }
    return cell.bits ? numeric_.from_bits(what.dtype, bits) : bits;
  };
  const auto encode = [&](Id old, Id value) {
    Id bits = cell.bits ? numeric_.to_bits(what.dtype, value) : value;
    if (cell.packed) {
      const Id mask = m_.same(Code::shift_left, {narrow_mask(what.dtype), shift});
      const Id others = m_.same(Code::bit_and, {old, m_.same(Code::bit_not, {mask})});
      bits = m_.same(Code::bit_or, {others, m_.same(Code::shift_left, {bits, shift})});
    }
    return bits;
  };
  const Id first = m_.value(Code::atomic_load, cell.element, {word, scope, relaxed});
  const Id before = m_.block();
  const Id header = m_.label(), again = m_.label(), end = m_.label();
  m_.branch(header);
  m_.begin(header);
  const Module::Phi old = m_.phi(cell.element, first, before);
  m_.effect(Code::loop_merge, {end, again, 0});
  const Id body = m_.label();
  m_.branch(body);
  m_.begin(body);
  const Id seen = m_.value(Code::atomic_compare_exchange, cell.element,
                           {word, scope, relaxed, relaxed,
                            encode(old.id, changed(op, what.dtype, decode(old.id), a, b)), old.id});
  const Id done = m_.test(Code::i_equal, {seen, old.id});
  m_.branch(again);
  m_.begin(again);
  m_.complete(old, seen, again);
  m_.branch(done, end, header);
  m_.begin(end);
  return decode(old.id);
}

}  // namespace sinter::spirv
