// SPDX-License-Identifier: MIT OR Apache-2.0
// A kernel's structure as SPIR-V: `main`, its blocks, and what a launch passes.
#include "sinter/kernel/compilers/spirv/spirv.hpp"

#include <algorithm>
#include <utility>

#include "sinter/kernel/compilers/spirv/detail/memories.hpp"

namespace sinter::spirv {

using ir::Op;
using ir::Space;

namespace {

/// Instructions that stand in the kernel's blocks, with those inside regions.
template <class F>
void for_each(const ir::Kernel& kernel, F&& f) {
  for (const auto& block : kernel.blocks) {
    for (const ir::Id id : block) {
      f(kernel.at(id));
    }
  }
}

class Emitter {
 public:
  Emitter(const ir::Kernel& kernel, const Features& features)
      : kernel_(kernel),
        features_(features),
        parameters_(parameters_of(kernel, features)),
        numeric_(m_, features, kernel),
        memories_(m_, numeric_, kernel, features),
        values_(kernel.insts.size()) {}

  Words run() {
    modes();
    const Id main = m_.define(m_.nothing(), {}, [&](std::span<const Id>) {
      block(0);
      return Id{0};
    });
    m_.name(main, kernel_.name);
    return m_.assemble(main, {kernel_.cube.x, kernel_.cube.y, kernel_.cube.z});
  }

 private:
  // ---- arguments ----

  void modes() {
    const auto want = [&](bool can, Capability capability, Mode mode, std::uint32_t width) {
      if (can) {
        m_.need(capability);
        m_.mode(mode, width);
      }
    };
    want(features_.preserve_nan_f32, Capability::preserve_nan, Mode::preserve_nan, 32);
    want(features_.denorm_preserve_f32, Capability::denorm_preserve, Mode::denorm_preserve, 32);
    want(features_.round_to_even_f32, Capability::round_to_even, Mode::round_to_even, 32);
    bool wide = false;
    for_each(kernel_, [&](const ir::Inst& inst) { wide |= inst.type.dtype == DType::f64; });
    if (wide && features_.f64) {
      want(features_.preserve_nan_f64, Capability::preserve_nan, Mode::preserve_nan, 64);
      want(features_.denorm_preserve_f64, Capability::denorm_preserve, Mode::denorm_preserve, 64);
      want(features_.round_to_even_f64, Capability::round_to_even, Mode::round_to_even, 64);
    }
  }

  /// The block of words that come with the launch.
  void declare_words() {
    const std::vector<std::uint32_t> members(parameters_.words, m_.integer(32));
    const Id type = m_.own_type(Code::type_struct, members);
    m_.decorate(type, Decoration::block);
    for (std::uint32_t i = 0; i < parameters_.words; ++i) {
      m_.decorate_member(type, i, Decoration::offset, {4 * i});
    }
    word_storage_ = parameters_.in_buffer ? Storage::buffer : Storage::push_constant;
    words_ = m_.global(word_storage_, type);
    m_.name(words_, "arguments");
    if (parameters_.in_buffer) {
      m_.decorate(words_, Decoration::set, {0});
      m_.decorate(words_, Decoration::binding,
                  {static_cast<std::uint32_t>(parameters_.base.size())});
      m_.decorate(words_, Decoration::non_writable);
    }
  }

  /// Word `place` of the arguments, loaded at the start of `main`.
  Id word(std::uint32_t place) {
    if (words_ == 0) {
      declare_words();
      loaded_.resize(parameters_.words);
    }
    Id& id = loaded_[place];
    if (id == 0) {
      const Module::Prologue prologue(m_);
      const Id pointer = m_.value(Code::access_chain, m_.pointer(word_storage_, m_.integer(32)),
                                  {words_, m_.u32(place)});
      id = m_.value(Code::load, m_.integer(32), {pointer});
    }
    return id;
  }

  Id scalar(std::uint64_t which) {
    const DType dtype = kernel_.scalars[which].dtype;
    const std::uint32_t place = parameters_.scalars[which];
    const Id low = word(place);
    if (size_of(dtype) == 8) {
      const Id high = word(place + 1);
      const Id both =
          m_.value(Code::composite_construct, m_.vector(m_.integer(32), 2), {low, high});
      return m_.bitcast(numeric_.type(dtype), both);
    }
    if (dtype == DType::boolean) {
      return m_.test(Code::i_not_equal, {low, m_.u32(0)});
    }
    return m_.bitcast(numeric_.type(dtype), low);
  }

  /// A built-in variable's value, loaded at the start of `main`.
  Id builtin(BuiltIn which, bool has_axes, std::uint64_t axis) {
    Id& all = builtins_[which];
    const Id type = has_axes ? m_.vector(m_.integer(32), 3) : m_.integer(32);
    const Module::Prologue prologue(m_);
    if (all == 0) {
      const Id variable = m_.global(Storage::input, type);
      m_.decorate(variable, Decoration::builtin, {static_cast<std::uint32_t>(which)});
      all = m_.value(Code::load, type, {variable});
    }
    return has_axes ? m_.value(Code::composite_extract, m_.integer(32),
                               {all, static_cast<std::uint32_t>(axis)})
                    : all;
  }

  // ---- structure ----

  void block(std::uint32_t index) {
    for (const ir::Id id : kernel_.blocks[index]) {
      numeric_.at(kernel_.at(id));
      statement(id);
    }
  }

  void statement(ir::Id id) {
    const ir::Inst& inst = kernel_.at(id);
    switch (inst.op) {
      case Op::if_:
        return branch(inst);
      case Op::for_:
        return count(id);
      case Op::loop:
        return loop(inst);
      case Op::break_if:
        return leave(inst);
      case Op::barrier:
        return m_.effect(Code::control_barrier,
                         {m_.u32(scope_workgroup), m_.u32(scope_workgroup), m_.u32(semantics_all)});
      default:
        return compute(id);
    }
  }

  void branch(const ir::Inst& inst) {
    const bool has_else = !kernel_.blocks[inst.blocks[1]].empty();
    const Id then = m_.label(), end = m_.label();
    const Id other = has_else ? m_.label() : end;
    m_.effect(Code::selection_merge, {end, 0});
    m_.branch(arg(inst, 0), then, other);
    m_.begin(then);
    block(inst.blocks[0]);
    m_.branch(end);
    if (has_else) {
      m_.begin(other);
      block(inst.blocks[1]);
      m_.branch(end);
    }
    m_.begin(end);
  }

  void count(ir::Id id) {
    const ir::Inst& inst = kernel_.at(id);
    const DType dtype = inst.type.dtype;
    const Id first = arg(inst, 0), last = arg(inst, 1), step = arg(inst, 2);
    const Id before = m_.block();
    const Id header = m_.label(), test = m_.label(), body = m_.label(), next = m_.label(),
             end = m_.label();
    m_.branch(header);
    m_.begin(header);
    const Module::Phi index = m_.phi(numeric_.type(dtype), first, before);
    m_.effect(Code::loop_merge, {end, next, 0});
    m_.branch(test);
    m_.begin(test);
    m_.branch(numeric_.apply(Op::lt, dtype, DType::boolean, {index.id, last, 0}), body, end);
    m_.begin(body);
    values_[id] = {index.id};
    inside(inst.blocks[0], end);
    m_.branch(next);
    m_.begin(next);
    const Id advanced = numeric_.apply(Op::add, dtype, dtype, {index.id, step, 0});
    m_.complete(index, advanced, next);
    m_.branch(header);
    m_.begin(end);
  }

  void loop(const ir::Inst& inst) {
    const Id header = m_.label(), body = m_.label(), next = m_.label(), end = m_.label();
    m_.branch(header);
    m_.begin(header);
    m_.effect(Code::loop_merge, {end, next, 0});
    m_.branch(body);
    m_.begin(body);
    inside(inst.blocks[0], end);
    m_.branch(next);
    m_.begin(next);
    m_.branch(header);
    m_.begin(end);
  }

  void inside(std::uint32_t body, Id end) {
    const Id outer = std::exchange(loop_end_, end);
    block(body);
    loop_end_ = outer;
  }

  void leave(const ir::Inst& inst) {
    const Id out = m_.label(), on = m_.label();
    m_.effect(Code::selection_merge, {on, 0});
    m_.branch(arg(inst, 0), out, on);
    m_.begin(out);
    m_.branch(loop_end_);
    m_.begin(on);
  }

  // ---- values ----

  [[nodiscard]] Id arg(const ir::Inst& inst, std::size_t i, std::size_t lane = 0) const {
    const std::vector<Id>& lanes = values_[inst.args[i]];
    return lanes[lanes.size() == 1 ? 0 : lane];
  }

  void compute(ir::Id id) {
    const ir::Inst& inst = kernel_.at(id);
    if (ir::traits_of(inst.op).is(ir::memory)) {
      return access(id);
    }
    std::vector<Id> lanes(inst.type.lanes);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane] = ir::traits_of(inst.op).is(ir::together) ? plane(inst, lane) : one(inst, lane);
    }
    values_[id] = std::move(lanes);
  }

  Id one(const ir::Inst& inst, std::size_t lane) {
    switch (inst.op) {
      case Op::constant:
        return numeric_.constant(inst.type.dtype, inst.payload);
      case Op::scalar:
        return scalar(inst.payload);
      case Op::length:
        return word(parameters_.length[buffer_number(inst.payload)]);
      case Op::unit_pos:
        return builtin(BuiltIn::local_id, true, inst.payload);
      case Op::cube_pos:
        return builtin(BuiltIn::workgroup_id, true, inst.payload);
      case Op::cube_count:
        return word(parameters_.cube_count + static_cast<std::uint32_t>(inst.payload));
      case Op::plane_dim:
        m_.need(Capability::plane);
        return builtin(BuiltIn::plane_size, false, 0);
      case Op::plane_pos:
        m_.need(Capability::plane);
        return builtin(BuiltIn::plane_position, false, 0);
      case Op::extract:
        return arg(inst, 0, inst.payload);
      case Op::insert:
        return lane == inst.payload ? arg(inst, 1) : arg(inst, 0, lane);
      default:
        break;
    }
    std::array<Id, 3> args{};
    for (std::size_t i = 0; i < ir::traits_of(inst.op).arguments; ++i) {
      args[i] = arg(inst, i, lane);
    }
    const DType from = kernel_.at(inst.args[inst.op == Op::select ? 1 : 0]).type.dtype;
    return numeric_.apply(inst.op, from, inst.type.dtype, args);
  }

  [[nodiscard]] std::size_t buffer_number(std::uint64_t memory) const {
    return static_cast<std::size_t>(std::count_if(
        kernel_.memories.begin(), kernel_.memories.begin() + static_cast<std::ptrdiff_t>(memory),
        [](const ir::Memory& m) { return m.space == Space::buffer; }));
  }

  void access(ir::Id id) {
    const ir::Inst& inst = kernel_.at(id);
    const std::uint64_t memory = inst.payload;
    const Id base =
        memories_.is_buffer(memory) ? word(parameters_.base[buffer_number(memory)]) : Id{0};
    const Id index = arg(inst, 0);
    if (inst.op == Op::load) {
      for (std::uint32_t lane = 0; lane < inst.type.lanes; ++lane) {
        values_[id].push_back(memories_.load(memory, base, index, lane));
      }
    } else if (inst.op == Op::store) {
      const std::size_t lanes = values_[inst.args[1]].size();
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        memories_.store(memory, base, index, lane, arg(inst, 1, lane));
      }
    } else {
      const bool compares = inst.op == Op::atomic_compare_exchange;
      values_[id] = {memories_.atomic(inst.op, memory, base, index, arg(inst, 1),
                                      compares ? arg(inst, 2) : Id{0})};
    }
  }

  // ---- planes ----

  void need_plane(bool can, Capability capability, const char* what) {
    if (!can) {
      numeric_.refuse(std::string("the device has no ") + what + " of planes");
    }
    m_.need(Capability::plane);
    m_.need(capability);
  }

  Id plane(const ir::Inst& inst, std::size_t lane) {
    const DType dtype = inst.type.dtype;
    const Id x = arg(inst, 0, lane);
    const Id scope = m_.u32(scope_plane);
    if ((dtype == DType::i64 || dtype == DType::u64) && !features_.plane_i64) {
      numeric_.refuse("the device has no 64-bit integers in planes; use i32 or u32");
    }
    if (inst.op == Op::plane_shuffle || inst.op == Op::plane_broadcast) {
      need_plane(features_.plane_shuffle, Capability::plane_shuffle, "shuffles");
      return m_.value(Code::plane_shuffle, m_.type_of(x), {scope, x, arg(inst, 1)});
    }
    if (dtype == DType::boolean) {
      need_plane(features_.plane_vote, Capability::plane_vote, "votes");
      return m_.test(inst.op == Op::plane_any ? Code::plane_any : Code::plane_all, {scope, x});
    }
    need_plane(features_.plane_arithmetic, Capability::plane_arithmetic, "sums");
    const Id result = m_.value(reduction(inst.op, dtype), m_.type_of(x), {scope, 0, x});
    if (is_floating(dtype) && inst.op != Op::plane_sum) {
      // NaN in one unit is NaN in all; the device's own minimum may pass over it.
      need_plane(features_.plane_vote, Capability::plane_vote, "votes");
      const Id bad = m_.test(Code::plane_any, {scope, numeric_.is_nan(x)});
      const std::uint64_t nan = dtype == DType::f64 ? 0x7ff8ull << 48 : 0x7fc00000;
      return m_.select(bad, numeric_.constant(dtype, nan), result);
    }
    return numeric_.narrow(dtype, result);
  }

  Code reduction(Op op, DType dtype) const {
    const bool real = is_floating(dtype), plain = is_unsigned(dtype);
    switch (op) {
      case Op::plane_sum:
        return real ? Code::plane_f_add : Code::plane_i_add;
      case Op::plane_min:
        return real ? Code::plane_f_min : plain ? Code::plane_u_min : Code::plane_s_min;
      case Op::plane_max:
        return real ? Code::plane_f_max : plain ? Code::plane_u_max : Code::plane_s_max;
      case Op::plane_any:
      case Op::plane_all:
        if (real) {
          numeric_.refuse("not an instruction on floats");
        }
        return op == Op::plane_any ? Code::plane_bit_or : Code::plane_bit_and;
      default:
        numeric_.refuse("not an instruction of planes");
    }
  }

  const ir::Kernel& kernel_;
  const Features& features_;
  Parameters parameters_;
  Module m_;
  Numeric numeric_;
  Memories memories_;
  std::vector<std::vector<Id>> values_;  ///< lanes of each instruction
  std::map<BuiltIn, Id> builtins_;
  std::vector<Id> loaded_;
  Storage word_storage_ = Storage::push_constant;
  Id words_ = 0;
  Id loop_end_ = 0;
};

}  // namespace

Parameters parameters_of(const ir::Kernel& kernel, const Features& features) {
  Parameters result;
  std::vector<bool> measured(kernel.memories.size());
  bool counts_cubes = false;
  for_each(kernel, [&](const ir::Inst& inst) {
    counts_cubes = counts_cubes || inst.op == Op::cube_count;
    if (inst.op == Op::length) {
      measured[inst.payload] = true;
    }
  });
  const auto take = [&](std::uint32_t words) {
    return std::exchange(result.words, result.words + words);
  };
  for (std::size_t i = 0; i < kernel.memories.size(); ++i) {
    if (kernel.memories[i].space == Space::buffer) {
      result.base.push_back(take(1));
      result.length.push_back(measured[i] ? take(1) : Parameters::none);
    }
  }
  for (const ir::Scalar& scalar : kernel.scalars) {
    result.scalars.push_back(take(size_of(scalar.dtype) == 8 ? 2 : 1));
  }
  if (counts_cubes) {
    result.cube_count = take(3);
  }
  result.in_buffer = 4 * result.words > features.push_bytes;
  return result;
}

std::uint64_t shared_bytes_of(const ir::Kernel& kernel) {
  std::uint64_t bytes = 0;
  for (const ir::Memory& memory : kernel.memories) {
    if (memory.space == Space::shared) {
      bytes += std::uint64_t{memory.size} * std::max<std::size_t>(size_of(memory.dtype), 4);
    }
  }
  return bytes;
}

std::vector<std::uint32_t> compile(const ir::Kernel& kernel, const Features& features) {
  return Emitter(kernel, features).run();
}

}  // namespace sinter::spirv
