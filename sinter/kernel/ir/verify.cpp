// SPDX-License-Identifier: MIT OR Apache-2.0
// The verifier: the written rules of docs/ir.md, one function a rule.
#include "sinter/kernel/ir/verify.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/kernel/ir/text.hpp"

namespace sinter::ir {

namespace {

constexpr std::size_t most_problems = 20;
constexpr std::uint32_t most_units = 1024;

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel),
        visible_(kernel.insts.size()),
        used_(kernel.insts.size()),
        seen_(kernel.blocks.size()) {}

  std::vector<std::string> run() {
    declarations();
    if (kernel_.blocks.empty()) {
      problems_.push_back("the kernel has no block");
    } else {
      block(0, 0);
    }
    if (problems_.empty()) {
      varying_ = varying(kernel_);
      gathering(0, false);
    }
    return std::move(problems_);
  }

 private:
  template <class... Args>
  void report(const Inst& inst, fmt::format_string<Args...> format, Args&&... args) {
    if (problems_.size() < most_problems) {
      const std::string place =
          inst.loc.line == 0 ? std::string() : fmt::format("{}:{}: ", inst.loc.file, inst.loc.line);
      problems_.push_back(place + std::string(traits_of(inst.op).name) + ": " +
                          fmt::format(format, std::forward<Args>(args)...));
    }
  }

  void declarations() {
    for (const std::uint32_t size : {kernel_.cube.x, kernel_.cube.y, kernel_.cube.z}) {
      if (size == 0 || size > most_units) {
        problems_.push_back(
            fmt::format("a cube's side is 1 to {} units, got {}", most_units, size));
        return;
      }
    }
    if (std::uint64_t{kernel_.cube.x} * kernel_.cube.y * kernel_.cube.z > most_units) {
      problems_.push_back(fmt::format("a cube has at most {} units", most_units));
    }
    for (const Memory& memory : kernel_.memories) {
      if (is_fp8(memory.dtype)) {
        problems_.push_back(fmt::format("{}: fp8 is stored as u8 and unpacked", memory.name));
      }
      if (memory.space != Space::buffer && memory.size == 0) {
        problems_.push_back(fmt::format("{}: expected at least one element", memory.name));
      }
    }
  }

  void block(std::uint32_t index, int loops) {
    if (index >= kernel_.blocks.size() || seen_[index]) {
      problems_.push_back(fmt::format("block {} is missing or entered from two places", index));
      return;
    }
    seen_[index] = true;
    const std::vector<Id>& ids = kernel_.blocks[index];
    for (const Id id : ids) {
      if (id >= kernel_.insts.size() || used_[id]) {
        problems_.push_back(fmt::format("instruction {} is missing or stands in two places", id));
        return;
      }
      instruction(id, loops);
    }
    for (const Id id : ids) {
      visible_[id] = false;
    }
  }

  void instruction(Id id, int loops) {
    const Inst& inst = kernel_.at(id);
    if (arguments(inst) && payload(inst)) {
      types(inst);
    }
    visible_[id] = used_[id] = true;
    if (inst.op == Op::break_if && loops == 0) {
      report(inst, "no loop to leave");
    }
    if (traits_of(inst.op).is(region)) {
      const int inner = loops + (inst.op == Op::if_ ? 0 : 1);
      block(inst.blocks[0], inner);
      block(inst.blocks[1], inner);
    }
    if (inst.op == Op::for_) {
      visible_[id] = false;  // the index lives in the body only
    }
  }

  bool arguments(const Inst& inst) {
    for (std::size_t i = 0; i < traits_of(inst.op).arguments; ++i) {
      const Id arg = inst.args[i];
      if (arg >= kernel_.insts.size() || !visible_[arg]) {
        report(inst, "argument {} is a value of another scope; keep it in a Var", i + 1);
        return false;
      }
      if (kernel_.at(arg).type.is_nothing()) {
        report(inst, "argument {} has no value", i + 1);
        return false;
      }
    }
    return true;
  }

  bool payload(const Inst& inst) {
    const OpTraits& op = traits_of(inst.op);
    const bool names_memory = op.is(memory) || inst.op == Op::length;
    constexpr std::uint64_t unbounded = ~std::uint64_t{0};  // a constant's bits may be these too
    std::uint64_t bound = unbounded;
    if (names_memory) {
      bound = kernel_.memories.size();
    } else if (inst.op == Op::scalar) {
      bound = kernel_.scalars.size();
    } else if (inst.op == Op::unit_pos || inst.op == Op::cube_pos || inst.op == Op::cube_count) {
      bound = 3;
    } else if (inst.op == Op::extract || inst.op == Op::insert) {
      bound = kernel_.at(inst.args[0]).type.lanes;
    }
    if (bound != unbounded && inst.payload >= bound) {
      report(inst, "number {} of {} there are", inst.payload, bound);
      return false;
    }
    return !names_memory || access(inst);
  }

  bool access(const Inst& inst) {
    const OpTraits& op = traits_of(inst.op);
    const Memory& memory = kernel_.memories[inst.payload];
    if (inst.op == Op::length) {
      if (memory.space != Space::buffer) {
        report(inst, "{} is no buffer", memory.name);
      }
      return memory.space == Space::buffer;
    }
    if ((op.is(writes) && memory.access == Access::read) ||
        (op.is(reads) && memory.access == Access::write)) {
      report(inst, "{} is not declared for that access", memory.name);
      return false;
    }
    if (op.is(reads) && op.is(writes) && memory.space == Space::local) {
      report(inst, "{} is local: no other unit sees it", memory.name);
      return false;
    }
    const Type value = op.arguments > 1 ? kernel_.at(inst.args[1]).type : inst.type;
    if (value.dtype != memory.dtype || (op.is(reads) && op.is(writes) && value.lanes != 1)) {
      report(inst, "{} holds {}, got {}", memory.name, name_of(memory.dtype), to_text(value));
      return false;
    }
    return true;
  }

  void types(const Inst& inst) {
    Type args[3];
    for (std::size_t i = 0; i < traits_of(inst.op).arguments; ++i) {
      args[i] = kernel_.at(inst.args[i]).type;
    }
    const Typing typing = type_of(inst.op, args, inst.type);
    if (!typing.problem.empty()) {
      report(inst, "{}", typing.problem);
    } else if (typing.type != inst.type) {
      report(inst, "gives {}, but is declared {}", to_text(typing.type), to_text(inst.type));
    } else {
      shape_of_type(inst, args[0]);
    }
  }

  void shape_of_type(const Inst& inst, Type first) {
    const Type type = inst.type;
    const bool has_value = traits_of(inst.op).rule != TypeRule::nothing;
    if (has_value && (type.lanes == 0 || type.lanes > most_lanes || is_fp8(type.dtype))) {
      report(inst, "{} is no type of a value", to_text(type));
    } else if (inst.op == Op::cast && type.lanes != first.lanes) {
      report(inst, "from {} to {}: the lanes differ", to_text(first), to_text(type));
    } else if (inst.op == Op::bitcast &&
               (type.lanes != first.lanes || size_of(type.dtype) != size_of(first.dtype))) {
      report(inst, "from {} to {}: the sizes differ", to_text(first), to_text(type));
    } else if (inst.op == Op::splat && first != Type{type.dtype, 1}) {
      report(inst, "from {} to {}: expected one lane of that dtype", to_text(first), to_text(type));
    } else if (inst.op == Op::for_ && (type.lanes != 1 || !is_integer(type.dtype))) {
      report(inst, "counts with one integer, got {}", to_text(type));
    } else if ((inst.op == Op::if_ || inst.op == Op::break_if) && first != truth_type) {
      report(inst, "expected one truth value, got {}", to_text(first));
    } else if (has_value && traits_of(inst.op).arguments == 0 && type.lanes != 1) {
      report(inst, "has one lane; splat it");
    }
  }

  /// Reports what all units must reach, but some may not.
  void gathering(std::uint32_t index, bool apart) {
    for (const Id id : kernel_.blocks[index]) {
      const Inst& inst = kernel_.at(id);
      if (inst.op == Op::barrier && apart) {
        report(inst, "some units may not reach it: it stands where units part");
      }
      if (traits_of(inst.op).is(region)) {
        gathering(inst.blocks[0], apart || varying_[id]);
        gathering(inst.blocks[1], apart || varying_[id]);
      }
    }
  }

  const Kernel& kernel_;
  std::vector<bool> visible_;
  std::vector<bool> used_;  // stands in a block already
  std::vector<bool> seen_;
  std::vector<bool> varying_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> verify(const Kernel& kernel) { return Verifier(kernel).run(); }

void require_valid(const Kernel& kernel, std::string_view after) {
  const std::vector<std::string> problems = verify(kernel);
  if (problems.empty()) {
    return;
  }
  std::string text = fmt::format("{} left an illegal kernel:\n", after);
  for (const std::string& problem : problems) {
    text += "  " + problem + "\n";
  }
  throw InternalError(text + print(kernel));
}

}  // namespace sinter::ir
