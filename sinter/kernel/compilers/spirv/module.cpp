// SPDX-License-Identifier: MIT OR Apache-2.0
// Words of a SPIR-V module (specification, section 2).

#include "sinter/kernel/compilers/spirv/detail/module.hpp"

namespace sinter::spirv {

namespace {

constexpr std::uint32_t magic = 0x07230203;
constexpr std::uint32_t version = 0x00010500;
constexpr std::uint32_t addressing_logical = 0;
constexpr std::uint32_t model_glsl450 = 1;
constexpr std::uint32_t execution_compute = 5;

void put(Words& words, Code code, std::span<const std::uint32_t> operands) {
  words.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 |
                  static_cast<std::uint32_t>(code));
  words.insert(words.end(), operands.begin(), operands.end());
}
void put(Words& words, Code code, Operands operands) {
  put(words, code, std::span(operands.begin(), operands.size()));
}

/// Text as words: UTF-8, ended by a zero, little end first.
Words text(std::string_view text) {
  Words words(text.size() / 4 + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    words[i / 4] |= std::uint32_t{static_cast<unsigned char>(text[i])} << (8 * (i % 4));
  }
  return words;
}

Words join(Operands first, const Words& rest) {
  Words words(first);
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

void append(Words& to, const Words& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

Module::Module() : glsl_(next()) {}

Id Module::next(Id type) {
  types_.push_back(type);
  return static_cast<Id>(types_.size() - 1);
}

Words Module::assemble(Id main, std::array<std::uint32_t, 3> cube) const {
  Words words = {magic, version, 0, static_cast<std::uint32_t>(types_.size()), 0};
  for (const Capability capability : capabilities_) {
    put(words, Code::capability, {static_cast<std::uint32_t>(capability)});
  }
  for (const std::string& name : extensions_) {
    put(words, Code::extension, text(name));
  }
  put(words, Code::import, join({glsl_}, text("GLSL.std.450")));
  put(words, Code::memory_model, {addressing_logical, model_glsl450});
  Words entry = join({execution_compute, main}, text("main"));
  append(entry, interface_);
  put(words, Code::entry_point, entry);
  put(words, Code::execution_mode,
      {main, static_cast<std::uint32_t>(Mode::local_size), cube[0], cube[1], cube[2]});
  for (const auto& [mode, width] : modes_) {
    put(words, Code::execution_mode, {main, static_cast<std::uint32_t>(mode), width});
  }
  append(words, names_);
  append(words, decorations_);
  append(words, globals_);
  append(words, functions_);
  return words;
}

void Module::name(Id id, std::string_view name) { put(names_, Code::name, join({id}, text(name))); }

void Module::decorate(Id id, Decoration decoration, Operands literals) {
  put(decorations_, Code::decorate, join({id, static_cast<std::uint32_t>(decoration)}, literals));
}

void Module::decorate_member(Id id, std::uint32_t member, Decoration decoration,
                             Operands literals) {
  put(decorations_, Code::member_decorate,
      join({id, member, static_cast<std::uint32_t>(decoration)}, literals));
}

// ---- types and constants ----

Id Module::unique(Code code, Operands operands) {
  Id& id = uniques_[join({static_cast<std::uint32_t>(code)}, operands)];
  if (id == 0) {
    id = next();
    put(globals_, code, join({id}, operands));
  }
  return id;
}

Id Module::own_type(Code code, std::span<const std::uint32_t> operands) {
  const Id id = next();
  put(globals_, code, join({id}, Words(operands.begin(), operands.end())));
  return id;
}

Id Module::integer(std::uint32_t width) {
  if (width == 64) {
    need(Capability::int64);
  }
  const Id id = unique(Code::type_int, {width, 0});
  widths_[id] = width;
  return id;
}

Id Module::real(std::uint32_t width) {
  if (width == 64) {
    need(Capability::float64);
  }
  const Id id = unique(Code::type_float, {width});
  widths_[id] = width;
  return id;
}

std::uint32_t Module::width(Id type) const {
  const auto found = widths_.find(type);
  return found == widths_.end() ? 0 : found->second;
}

Id Module::constant(Id type, std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  const auto high = static_cast<std::uint32_t>(bits >> 32);
  const bool wide = width(type) == 64;
  Words key = {static_cast<std::uint32_t>(Code::constant), type, low};
  if (wide) {
    key.push_back(high);
  }
  Id& id = uniques_[key];
  if (id == 0) {
    id = next(type);
    wide ? put(globals_, Code::constant, {type, id, low, high})
         : put(globals_, Code::constant, {type, id, low});
    known_[id] = wide ? bits : low;
  }
  return id;
}

Id Module::truth(bool value) {
  const Id type = truth();
  const Code code = value ? Code::constant_true : Code::constant_false;
  Id& id = uniques_[Words{static_cast<std::uint32_t>(code), type}];
  if (id == 0) {
    id = next(type);
    put(globals_, code, {type, id});
    known_[id] = value ? 1 : 0;
  }
  return id;
}

std::optional<std::uint64_t> Module::known(Id id) const {
  const auto found = known_.find(id);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

Id Module::global(Storage storage, Id type) {
  const Id pointer_type = pointer(storage, type);
  const Id id = next(pointer_type);
  put(globals_, Code::variable, {pointer_type, id, static_cast<std::uint32_t>(storage)});
  interface_.push_back(id);
  return id;
}

Id Module::local(Id type) {
  const Id pointer_type = pointer(Storage::function, type);
  const Id id = next(pointer_type);
  put(code_->variables, Code::variable,
      {pointer_type, id, static_cast<std::uint32_t>(Storage::function)});
  return id;
}

// ---- code ----

Id Module::value(Code operation, Id type, Operands operands) {
  const Id id = next(type);
  put(code(), operation, join({type, id}, operands));
  return id;
}

void Module::effect(Code operation, Operands operands) { put(code(), operation, operands); }

Id Module::glsl(Glsl function, Operands operands) {
  const Id type = types_[*operands.begin()];
  const Id id = next(type);
  put(code(), Code::extended,
      join({type, id, glsl_, static_cast<std::uint32_t>(function)}, operands));
  return id;
}

Id Module::exact(Code operation, Operands operands) {
  const Id id = same(operation, operands);
  decorate(id, Decoration::no_contraction);
  return id;
}

void Module::begin(Id label) {
  put(code_->body, Code::label, {label});
  code_->block = label;
}

Module::Phi Module::phi(Id type, Id first, Id from) {
  const Id id = value(Code::phi, type, {first, from, 0, 0});
  return {id, code_->body.size() - 2};
}

void Module::complete(Phi phi, Id next, Id from) {
  code_->body[phi.place] = next;
  code_->body[phi.place + 1] = from;
}

Id Module::call(Id function, Id result, Operands arguments) {
  const Id id = next(result);
  put(code(), Code::function_call, join({result, id, function}, arguments));
  return id;
}

Id Module::open(Id result, std::span<const Id> parameters, Function& function) {
  Words key = {static_cast<std::uint32_t>(Code::type_function), result};
  key.insert(key.end(), parameters.begin(), parameters.end());
  Id& type = uniques_[key];
  if (type == 0) {
    type = next();
    put(globals_, Code::type_function,
        join({type, result}, Words(parameters.begin(), parameters.end())));
  }
  function.id = next(result);
  put(function.head, Code::function, {result, function.id, 0, type});
  for (const Id parameter : parameters) {
    function.parameters.push_back(next(parameter));
    put(function.head, Code::function_parameter, {parameter, function.parameters.back()});
  }
  const Id entry = next();
  put(function.head, Code::label, {entry});
  function.block = entry;
  return function.id;
}

void Module::close(Id result) {
  result != 0 ? put(code_->body, Code::return_value, {result})
              : put(code_->body, Code::return_nothing, {});
  put(code_->body, Code::function_end, {});
  for (const Words* part : {&code_->head, &code_->variables, &code_->prologue, &code_->body}) {
    append(functions_, *part);
  }
}

}  // namespace sinter::spirv
