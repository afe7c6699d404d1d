// SPDX-License-Identifier: MIT OR Apache-2.0
// The parser: one statement a line, words parted by blanks.
#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/kernel/ir/text.hpp"

namespace sinter::ir {

namespace {

std::optional<Op> op_named(std::string_view name) {
  for (int i = 0; i < op_count(); ++i) {
    if (traits_of(static_cast<Op>(i)).name == name) {
      return static_cast<Op>(i);
    }
  }
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Kernel run() {
    head();
    block(0);
    if (next_line()) {
      fail("expected the end after the closing brace");
    }
    return std::move(kernel_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(fmt::format("kernel text, line {}: {}", line_, problem));
  }

  // ---- lines and words ----

  /// Splits the next line that says something into words; false at the end of the text.
  bool next_line() {
    words_.clear();
    at_ = 0;
    while (words_.empty()) {
      if (rest_.empty()) {
        return false;
      }
      ++line_;
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      split(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }
    return true;
  }
  void split(std::string_view line) {
    line = line.substr(0, line.find('#'));
    while (true) {
      const std::size_t first = line.find_first_not_of(" \t\r");
      if (first == std::string_view::npos) {
        return;
      }
      line.remove_prefix(first);
      const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
      words_.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
  }
  [[nodiscard]] bool more() const { return at_ < words_.size(); }
  std::string_view word(std::string_view what) {
    if (!more()) {
      fail(fmt::format("expected {} at the end of the line", what));
    }
    return words_[at_++];
  }
  void expect(std::string_view text) {
    const std::string_view got = word(fmt::format("'{}'", text));
    if (got != text) {
      fail(fmt::format("expected '{}', got '{}'", text, got));
    }
  }
  bool accept(std::string_view text) {
    const bool there = more() && words_[at_] == text;
    at_ += there ? 1 : 0;
    return there;
  }
  void end_of_line() const {
    if (more()) {
      fail(fmt::format("expected the end of the line, got '{}'", words_[at_]));
    }
  }

  template <class T>
  T number(std::string_view text) const {
    T value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) {
      fail(fmt::format("expected a number, got '{}'", text));
    }
    return value;
  }
  template <class T>
  T number() {
    return number<T>(word("a number"));
  }
  DType dtype(std::string_view name) const {
    for (int i = 0; i < dtype_count; ++i) {
      if (name_of(static_cast<DType>(i)) == name) {
        return static_cast<DType>(i);
      }
    }
    fail(fmt::format("expected a dtype, got '{}'", name));
  }
  Type type() {
    const std::string_view text = word("a type");
    const std::size_t cross = text.find('x');
    Type result{dtype(text.substr(0, cross)), 1};
    if (cross != std::string_view::npos) {
      result.lanes = number<std::uint8_t>(text.substr(cross + 1));
    }
    return result;
  }

  // ---- declarations ----

  void head() {
    if (!next_line()) {
      fail("expected 'kernel', got the end of the text");
    }
    expect("kernel");
    kernel_.name = word("a name");
    expect("cube");
    for (std::uint32_t* size : {&kernel_.cube.x, &kernel_.cube.y, &kernel_.cube.z}) {
      *size = number<std::uint32_t>();
    }
    end_of_line();
    while (true) {
      if (!next_line()) {
        fail("expected '{', got the end of the text");
      }
      if (accept("{")) {
        return end_of_line();
      }
      declaration();
      end_of_line();
    }
  }

  void declaration() {
    const std::string_view what = word("a declaration");
    const std::string name(word("a name"));
    if (named(name)) {
      fail(fmt::format("'{}' is declared twice", name));
    }
    if (what == "scalar") {
      scalar_names_[name] = kernel_.scalars.size();
      kernel_.scalars.push_back({name, dtype(word("a dtype"))});
      return;
    }
    Memory memory{.name = name};
    memory.dtype = dtype(word("a dtype"));
    if (what == "buffer") {
      memory.space = Space::buffer;
      memory.size = 0;
      memory.access = access(word("read, write or read_write"));
    } else if (what == "shared" || what == "local") {
      memory.space = what == "shared" ? Space::shared : Space::local;
      memory.size = number<std::uint32_t>();
    } else {
      fail(fmt::format("expected scalar, buffer, shared or local, got '{}'", what));
    }
    memory_names_[name] = kernel_.memories.size();
    kernel_.memories.push_back(std::move(memory));
  }
  [[nodiscard]] bool named(const std::string& name) const {
    return scalar_names_.contains(name) || memory_names_.contains(name);
  }
  Access access(std::string_view text) const {
    if (text == "read") {
      return Access::read;
    }
    if (text == "write") {
      return Access::write;
    }
    if (text != "read_write") {
      fail(fmt::format("expected read, write or read_write, got '{}'", text));
    }
    return Access::read_write;
  }

  // ---- statements ----

  /// Statements up to the closing brace. True if `else` follows it.
  bool block(std::uint32_t index) {
    if (++depth_ > most_depth) {
      fail(fmt::format("more than {} blocks within each other", most_depth));
    }
    while (next_line()) {
      if (accept("}")) {
        const bool other = accept("else");
        if (other) {
          expect("{");
        }
        end_of_line();
        --depth_;
        return other;
      }
      statement(index);
    }
    fail("expected '}', got the end of the text");
  }

  void statement(std::uint32_t index) {
    Inst inst;
    std::string_view defined;
    std::string_view name = word("a statement");
    if (name == "for") {
      defined = word("a value");
      expect("=");
      inst.op = Op::for_;
    } else {
      if (name.starts_with('%')) {
        defined = name;
        expect("=");
        name = word("an instruction");
      }
      const std::optional<Op> op = op_named(name);
      if (!op) {
        fail(fmt::format("'{}' is no instruction", name));
      }
      inst.op = *op;
    }
    const OpTraits& op = traits_of(inst.op);
    const std::string_view literal = payload(inst);
    for (int i = 0; i < op.arguments; ++i) {
      inst.args[static_cast<std::size_t>(i)] = value(word("an argument"));
    }
    if (!defined.empty()) {
      expect(":");
      inst.type = type();
    }
    if (inst.op == Op::constant) {
      inst.payload = constant(inst.type.dtype, literal);
    }
    if (op.is(region)) {
      expect("{");
    }
    end_of_line();
    const Id id = kernel_.add(inst, index);
    if (!defined.empty() && !values_.emplace(defined, id).second) {
      fail(fmt::format("'{}' is defined twice", defined));
    }
    if (op.is(region)) {
      regions(id);
    }
  }

  void regions(Id id) {
    const std::uint32_t first = kernel_.add_block();
    const std::uint32_t second = kernel_.add_block();
    kernel_.insts[id].blocks = {first, second};
    if (block(first)) {
      if (kernel_.at(id).op != Op::if_ || block(second)) {
        fail("'else' without an 'if'");
      }
    }
  }

  Id value(std::string_view text) const {
    const auto found = values_.find(text);
    if (found == values_.end()) {
      fail(fmt::format("'{}' is not defined before its use", text));
    }
    return found->second;
  }

  /// Reads what belongs to the instruction itself; a constant's word waits for its type.
  std::string_view payload(Inst& inst) {
    switch (inst.op) {
      case Op::constant:
        return word("a constant");
      case Op::scalar:
        inst.payload = lookup(scalar_names_, "scalar");
        return {};
      case Op::length:
        inst.payload = lookup(memory_names_, "memory");
        return {};
      case Op::unit_pos:
      case Op::cube_pos:
      case Op::cube_count:
        inst.payload = axis();
        return {};
      case Op::extract:
      case Op::insert:
        inst.payload = number<std::uint64_t>();
        return {};
      default:
        if (traits_of(inst.op).is(memory)) {
          inst.payload = lookup(memory_names_, "memory");
        }
        return {};
    }
  }
  std::uint64_t axis() {
    const std::string_view text = word("x, y or z");
    if (text.size() != 1 || text[0] < 'x' || text[0] > 'z') {
      fail(fmt::format("expected x, y or z, got '{}'", text));
    }
    return static_cast<std::uint64_t>(text[0] - 'x');
  }
  template <class Map>
  std::uint64_t lookup(const Map& names, std::string_view what) {
    const std::string_view text = word("a name");
    const auto found = names.find(text);
    if (found == names.end()) {
      fail(fmt::format("no {} is named '{}'", what, text));
    }
    return found->second;
  }
  [[nodiscard]] std::uint64_t constant(DType dtype, std::string_view text) const {
    if (!is_floating(dtype)) {
      return is_unsigned(dtype)
                 ? constant_bits(dtype, static_cast<std::int64_t>(number<std::uint64_t>(text)))
                 : constant_bits(dtype, number<std::int64_t>(text));
    }
    if (text == "nan") {
      return constant_bits(dtype, std::numeric_limits<double>::quiet_NaN());
    }
    return dtype == DType::f64 ? constant_bits(dtype, number<double>(text))
                               : constant_bits(dtype, double{number<float>(text)});
  }

  static constexpr int most_depth = 200;

  std::string_view rest_;
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  int line_ = 0;
  int depth_ = 0;
  Kernel kernel_;
  std::map<std::string, std::uint64_t, std::less<>> scalar_names_, memory_names_;
  std::map<std::string_view, Id> values_;
};

}  // namespace

Kernel parse(std::string_view text) { return Parser(text).run(); }

}  // namespace sinter::ir
