// SPDX-License-Identifier: MIT OR Apache-2.0
// A SPIR-V module that grows: types and constants are unique, code goes to the function at hand.
#pragma once

#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/kernel/compilers/spirv/detail/codes.hpp"

namespace sinter::spirv {

using Id = std::uint32_t;
using Words = std::vector<std::uint32_t>;
using Operands = std::initializer_list<std::uint32_t>;

class Module {
 public:
  Module();

  /// The whole: one entry point `main` with the given cube, every global variable in its interface.
  [[nodiscard]] Words assemble(Id main, std::array<std::uint32_t, 3> cube) const;

  void need(Capability capability) { capabilities_.insert(capability); }
  void extension(std::string_view name) { extensions_.emplace(name); }
  void mode(Mode mode, std::uint32_t width) { modes_.emplace(mode, width); }
  void name(Id id, std::string_view name);
  void decorate(Id id, Decoration decoration, Operands literals = {});
  void decorate_member(Id id, std::uint32_t member, Decoration decoration, Operands literals);

  // ---- types and constants ----

  [[nodiscard]] Id nothing() { return unique(Code::type_void, {}); }
  [[nodiscard]] Id truth() { return unique(Code::type_bool, {}); }
  [[nodiscard]] Id integer(std::uint32_t width);
  [[nodiscard]] Id real(std::uint32_t width);
  [[nodiscard]] Id vector(Id of, std::uint32_t lanes) {
    return unique(Code::type_vector, {of, lanes});
  }
  [[nodiscard]] Id pair(Id of) { return unique(Code::type_struct, {of, of}); }
  [[nodiscard]] Id array(Id of, std::uint32_t size) {
    return unique(Code::type_array, {of, u32(size)});
  }
  [[nodiscard]] Id pointer(Storage storage, Id to) {
    return unique(Code::type_pointer, {static_cast<std::uint32_t>(storage), to});
  }
  /// A type that is equal to no other: it carries decorations.
  [[nodiscard]] Id own_type(Code code, std::span<const std::uint32_t> operands);
  [[nodiscard]] Id constant(Id type, std::uint64_t bits);
  [[nodiscard]] Id u32(std::uint32_t value) { return constant(integer(32), value); }
  [[nodiscard]] Id truth(bool value);
  [[nodiscard]] std::uint32_t width(Id type) const;
  /// The bits of a constant number.
  [[nodiscard]] std::optional<std::uint64_t> known(Id id) const;
  [[nodiscard]] Id type_of(Id id) const { return types_[id]; }

  /// A variable of the module.
  Id global(Storage storage, Id type);
  /// A variable of the function at hand.
  Id local(Id type);

  // ---- code ----

  Id value(Code code, Id type, Operands operands);
  void effect(Code code, Operands operands);
  /// The result has the type of the first operand.
  Id same(Code code, Operands operands) { return value(code, types_[*operands.begin()], operands); }
  Id test(Code code, Operands operands) { return value(code, truth(), operands); }
  Id select(Id mask, Id a, Id b) { return value(Code::select, types_[a], {mask, a, b}); }
  Id bitcast(Id type, Id x) { return types_[x] == type ? x : value(Code::bitcast, type, {x}); }
  /// Of the type of the first operand.
  Id glsl(Glsl function, Operands operands);
  /// Arithmetic on floats that may not be contracted.
  Id exact(Code code, Operands operands);

  [[nodiscard]] Id label() { return next(); }
  void begin(Id label);
  /// The block that code goes to.
  [[nodiscard]] Id block() const { return code_->block; }
  void branch(Id to) { effect(Code::branch, {to}); }
  void branch(Id condition, Id then, Id other) {
    effect(Code::branch_conditional, {condition, then, other});
  }
  /// A phi whose second way in is set later.
  struct Phi {
    Id id;
    std::size_t place;
  };
  Phi phi(Id type, Id first, Id from);
  void complete(Phi phi, Id next, Id from);

  /// Code that stands before all else of the function at hand, until the scope ends.
  class Prologue {
   public:
    explicit Prologue(Module& module) : module_(module) { module_.code_->in_prologue = true; }
    ~Prologue() { module_.code_->in_prologue = false; }

   private:
    Module& module_;
  };

  /// Defines a function: `body` gets the parameters and gives the result (0 for none).
  template <class Body>
  Id define(Id result, std::span<const Id> parameters, Body&& body) {
    Function function;
    Function* const before = std::exchange(code_, &function);
    const Id id = open(result, parameters, function);
    close(body(std::span<const Id>(function.parameters)));
    code_ = before;
    return id;
  }
  /// The helper function of that name, defined by `body` at the first call.
  template <class Body>
  Id call(const std::string& helper, Id result, Operands arguments, Body&& body) {
    Id& id = helpers_[helper];
    if (id == 0) {
      Words parameters;
      for (const Id argument : arguments) {
        parameters.push_back(types_[argument]);
      }
      const Id defined = define(result, parameters, body);
      name(defined, helper);
      helpers_[helper] = defined;
    }
    return call(helpers_[helper], result, arguments);
  }

 private:
  struct Function {
    Id id = 0;
    Words head, variables, prologue, body, parameters;
    Id block = 0;
    bool in_prologue = false;
  };

  Id next(Id type = 0);
  Id unique(Code code, Operands operands);
  Id call(Id function, Id result, Operands arguments);
  Id open(Id result, std::span<const Id> parameters, Function& function);
  void close(Id result);
  Words& code() { return code_->in_prologue ? code_->prologue : code_->body; }

  std::vector<Id> types_{0};  ///< of each id
  std::set<Capability> capabilities_{Capability::shader};
  std::set<std::string> extensions_;
  std::set<std::pair<Mode, std::uint32_t>> modes_;
  std::map<Words, Id> uniques_;
  std::map<Id, std::uint64_t> known_;
  std::map<Id, std::uint32_t> widths_;
  std::map<std::string, Id> helpers_;
  Id glsl_;
  Words interface_, names_, decorations_, globals_, functions_;
  Function* code_ = nullptr;
};

}  // namespace sinter::spirv
