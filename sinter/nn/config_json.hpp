// SPDX-License-Identifier: MIT OR Apache-2.0
// Hyper-parameters (plain structs) to and from JSON text.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "sinter/nn/visit.hpp"

namespace sinter::nn {

namespace detail {

/// Writes JSON text piece by piece; the caller's types never reach it.
class JsonWriter {
 public:
  void begin(char bracket);
  void end(char bracket);
  /// Starts the next element of an array.
  void element();
  /// Starts the next member of an object.
  void key(std::string_view name);
  void null();
  void boolean(bool value);
  void integer(std::int64_t value);
  void natural(std::uint64_t value);
  void number(float value);
  void number(double value);
  void string(std::string_view value);

  std::string text;

 private:
  void new_line();

  int depth_ = 0;
  bool first_ = true;
};

/// A value inside a parsed document, with the path that error messages name.
class JsonValue {
 public:
  JsonValue(const void* node, std::string path) : node_(node), path_(std::move(path)) {}

  bool is_null() const;
  bool boolean() const;
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  std::uint64_t natural(std::uint64_t most) const;
  double number(double most) const;
  std::string string() const;
  /// The length of an array; `exactly` is the length that it must have, or npos for any.
  std::size_t size(std::size_t exactly) const;
  JsonValue at(std::size_t index) const;
  /// The number of members of an object.
  std::size_t members() const;
  std::string member_name(std::size_t index) const;
  JsonValue member(std::size_t index) const;
  [[noreturn]] void fail_unknown(const std::string& known_keys) const;

 private:
  [[noreturn]] void fail(const std::string& expected) const;

  const void* node_;
  std::string path_;
};

/// Owns the parsed text.
class JsonDocument {
 public:
  explicit JsonDocument(std::string_view text);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;
  JsonValue root() const;

 private:
  void* node_;
};

template <class T>
void write_json(JsonWriter& writer, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    writer.boolean(value);
  } else if constexpr (std::is_enum_v<T>) {
    writer.integer(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    writer.integer(value);
  } else if constexpr (std::is_integral_v<T>) {
    writer.natural(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    writer.number(value);
  } else if constexpr (Text<T>) {
    writer.string(value);
  } else if constexpr (OptionalLike<T>) {
    if (value.has_value()) {
      write_json(writer, *value);
    } else {
      writer.null();
    }
  } else if constexpr (Sequence<T>) {
    writer.begin('[');
    for (const auto& element : value) {
      writer.element();
      write_json(writer, static_cast<const typename T::value_type&>(element));
    }
    writer.end(']');
  } else {
    static_assert(Reflectable<T>,
                  "a config holds numbers, bools, enums, strings, and structs, "
                  "sequences or optionals of them");
    writer.begin('{');
    for_each_field(value, [&](std::string_view name, const auto& field) {
      writer.key(name);
      write_json(writer, field);
    });
    writer.end('}');
  }
}

template <class T>
void read_json(const JsonValue& json, T& value);

template <class T>
void read_number(const JsonValue& json, T& value) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    value = static_cast<T>(json.number(static_cast<double>(Limits::max())));
  } else if constexpr (std::is_signed_v<T>) {
    value = static_cast<T>(json.integer(Limits::min(), Limits::max()));
  } else {
    value = static_cast<T>(json.natural(Limits::max()));
  }
}

template <class T>
void read_sequence(const JsonValue& json, T& value) {
  using Element = typename T::value_type;
  if constexpr (requires { value.resize(1); }) {
    const std::size_t size = json.size(static_cast<std::size_t>(-1));
    value.clear();
    for (std::size_t i = 0; i < size; ++i) {
      Element element{};
      read_json(json.at(i), element);
      value.push_back(static_cast<Element&&>(element));
    }
  } else {
    const std::size_t size = json.size(value.size());
    for (std::size_t i = 0; i < size; ++i) {
      read_json(json.at(i), value[i]);
    }
  }
}

template <class T>
void read_struct(const JsonValue& json, T& value) {
  const std::size_t members = json.members();
  for (std::size_t i = 0; i < members; ++i) {
    const std::string name = json.member_name(i);
    std::string known;
    bool found = false;
    for_each_field(value, [&](std::string_view field_name, auto& field) {
      known += known.empty() ? "" : ", ";
      known += field_name;
      if (field_name == name) {
        found = true;
        read_json(json.member(i), field);
      }
    });
    if (!found) {
      json.member(i).fail_unknown(known);
    }
  }
}

template <class T>
void read_json(const JsonValue& json, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = json.boolean();
  } else if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> number{};
    read_number(json, number);
    value = static_cast<T>(number);
  } else if constexpr (std::is_arithmetic_v<T>) {
    read_number(json, value);
  } else if constexpr (Text<T>) {
    value = json.string();
  } else if constexpr (OptionalLike<T>) {
    if (json.is_null()) {
      value.reset();
    } else {
      read_json(json, value.emplace());
    }
  } else if constexpr (Sequence<T>) {
    read_sequence(json, value);
  } else {
    read_struct(json, value);
  }
}

}  // namespace detail

/// The config as indented JSON, one member per field, enums as their number; infinities and NaN
/// are the strings "inf", "-inf", "nan", which JSON's numbers lack.
template <Reflectable T>
std::string config_to_json(const T& config) {
  detail::JsonWriter writer;
  detail::write_json(writer, config);
  return static_cast<std::string&&>(writer.text);
}

/// Reads what `config_to_json` writes. Members that the text lacks keep the values that `T{}`
/// gives them. Throws FormatError for text that isn't JSON, and for an unknown, mistyped or
/// out-of-range member, naming its path and the type expected.
template <Reflectable T>
T config_from_json(std::string_view text) {
  const detail::JsonDocument document(text);
  T config{};
  detail::read_json(document.root(), config);
  return config;
}

}  // namespace sinter::nn
