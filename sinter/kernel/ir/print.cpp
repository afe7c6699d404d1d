// SPDX-License-Identifier: MIT OR Apache-2.0
// The printer.
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "sinter/kernel/ir/text.hpp"

namespace sinter::ir {

namespace {

std::string_view word(Space space) {
  return space == Space::buffer ? "buffer" : space == Space::shared ? "shared" : "local";
}
std::string_view word(Access access) {
  return access == Access::read ? "read" : access == Access::write ? "write" : "read_write";
}

class Printer {
 public:
  Printer(const Kernel& kernel, PrintOptions options)
      : kernel_(kernel), options_(options), numbers_(kernel.insts.size(), no_id) {}

  std::string run() {
    head();
    add("{{\n");
    block(0, 1);
    add("}}\n");
    return std::move(text_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void head() {
    add("kernel {} cube {} {} {}\n", kernel_.name, kernel_.cube.x, kernel_.cube.y, kernel_.cube.z);
    for (const Scalar& scalar : kernel_.scalars) {
      add("scalar {} {}\n", scalar.name, name_of(scalar.dtype));
    }
    for (const Memory& memory : kernel_.memories) {
      add("{} {} {} ", word(memory.space), memory.name, name_of(memory.dtype));
      memory.space == Space::buffer ? add("{}\n", word(memory.access)) : add("{}\n", memory.size);
    }
  }

  void block(std::uint32_t index, int depth) {
    for (const Id id : kernel_.blocks[index]) {
      statement(id, depth);
    }
  }

  void statement(Id id, int depth) {
    const Inst& inst = kernel_.at(id);
    const OpTraits& op = traits_of(inst.op);
    add("{:{}}", "", depth * 2);
    if (inst.op == Op::for_) {
      add("for ");
      define(id);
      add(" =");
    } else if (!inst.type.is_nothing()) {
      define(id);
      add(" = {}", op.name);
    } else {
      add("{}", op.name);
    }
    payload(inst);
    for (int i = 0; i < op.arguments; ++i) {
      add(" %{}", numbers_[inst.args[static_cast<std::size_t>(i)]]);
    }
    if (!inst.type.is_nothing()) {
      add(" : {}", to_text(inst.type));
    }
    if (op.is(region)) {
      add(" {{");
    }
    if (options_.places && inst.loc.line != 0) {
      add("  # {}:{}", inst.loc.file, inst.loc.line);
    }
    add("\n");
    if (op.is(region)) {
      regions(inst, depth);
    }
  }

  void regions(const Inst& inst, int depth) {
    block(inst.blocks[0], depth + 1);
    if (inst.op == Op::if_ && !kernel_.blocks[inst.blocks[1]].empty()) {
      add("{:{}}}} else {{\n", "", depth * 2);
      block(inst.blocks[1], depth + 1);
    }
    add("{:{}}}}\n", "", depth * 2);
  }

  void define(Id id) {
    numbers_[id] = next_++;
    add("%{}", numbers_[id]);
  }

  void payload(const Inst& inst) {
    switch (inst.op) {
      case Op::constant:
        constant(inst);
        break;
      case Op::scalar:
        add(" {}", kernel_.scalars[inst.payload].name);
        break;
      case Op::length:
        add(" {}", kernel_.memories[inst.payload].name);
        break;
      case Op::unit_pos:
      case Op::cube_pos:
      case Op::cube_count:
        add(" {}", "xyz"[inst.payload]);
        break;
      case Op::extract:
      case Op::insert:
        add(" {}", inst.payload);
        break;
      default:
        if (traits_of(inst.op).is(memory)) {
          add(" {}", kernel_.memories[inst.payload].name);
        }
    }
  }

  void constant(const Inst& inst) {
    const DType dtype = inst.type.dtype;
    if (!is_floating(dtype)) {
      is_unsigned(dtype) ? add(" {}", inst.payload)
                         : add(" {}", static_cast<std::int64_t>(inst.payload));
    } else if (const double value = constant_value(dtype, inst.payload); std::isnan(value)) {
      add(" nan");
    } else if (dtype == DType::f64) {
      add(" {}", value);
    } else {
      add(" {}", static_cast<float>(value));
    }
  }

  const Kernel& kernel_;
  PrintOptions options_;
  std::vector<Id> numbers_;
  Id next_ = 0;
  std::string text_;
};

}  // namespace

std::string print(const Kernel& kernel, PrintOptions options) {
  return Printer(kernel, options).run();
}

}  // namespace sinter::ir
