// SPDX-License-Identifier: MIT OR Apache-2.0
// The short name of a type at compile time: no namespaces, no allocators.
#pragma once

#include <cstddef>
#include <string_view>

namespace sinter::nn {
namespace detail {

struct ShortName {
  char text[256] = {};
  std::size_t size = 0;

  constexpr void push(char c) {
    if (size < sizeof(text)) {
      text[size++] = c;
    }
  }
  constexpr std::string_view view() const { return {text, size}; }
  constexpr bool ends_with(std::string_view tail) const { return view().ends_with(tail); }

  /// Drops the qualifier that ends here: back to what encloses it, over balanced brackets.
  constexpr void drop_qualifier() {
    int depth = 0;
    while (size > 0) {
      const char c = text[size - 1];
      if (depth == 0 && (c == '<' || c == '(' || c == ',' || c == ' ')) {
        return;
      }
      depth += (c == '>' || c == ')' || c == '}') - (c == '<' || c == '(' || c == '{');
      --size;
    }
  }
};

constexpr bool starts_any(std::string_view text, const std::string_view (&heads)[6]) {
  for (std::string_view head : heads) {
    if (text.starts_with(head)) {
      return true;
    }
  }
  return false;
}

/// The end of the template argument that starts at `at`: its comma or closing bracket.
constexpr std::size_t argument_end(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (depth == 0 && (c == ',' || c == '>')) {
      return at;
    }
    depth += (c == '<') - (c == '>');
  }
  return at;
}

/// Removes qualifiers and defaulted arguments: "std::vector<a::B, std::allocator<a::B>>" gives
/// "vector<B>".
constexpr ShortName shorten(std::string_view full) {
  constexpr std::string_view defaults[6] = {", std::allocator<",   ", std::default_delete<",
                                            ", std::char_traits<", ", std::less<",
                                            ", std::hash<",        ", std::equal_to<"};
  ShortName out;
  for (std::size_t i = 0; i < full.size(); ++i) {
    const std::string_view rest = full.substr(i);
    if (starts_any(rest, defaults)) {
      i = argument_end(full, i + 1) - 1;
    } else if (rest.starts_with("::")) {
      out.drop_qualifier();
      ++i;
    } else if (rest.starts_with(" >")) {
      continue;
    } else {
      out.push(full[i]);
    }
    if (out.ends_with("basic_string<char>")) {
      out.size -= std::string_view("basic_string<char>").size();
      for (char c : std::string_view("string")) {
        out.push(c);
      }
    }
  }
  return out;
}

template <class T>
constexpr const char* spell_type() {
  return __PRETTY_FUNCTION__;
}

template <class T>
constexpr std::string_view full_type_name() {
  std::string_view name = spell_type<T>();
  name.remove_prefix(name.find("T = ") + 4);
  return name.substr(0, name.rfind(']'));
}

template <class T>
inline constexpr ShortName short_name = shorten(full_type_name<T>());

}  // namespace detail

/// The type's name without namespaces, enclosing functions and defaulted template arguments:
/// `Linear`, `vector<Linear>`. For printing; never part of a file format.
template <class T>
constexpr std::string_view type_name() {
  return detail::short_name<T>.view();
}

}  // namespace sinter::nn
