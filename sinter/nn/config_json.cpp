// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON text behind the type-erased writer and values of config_json.hpp.
#include "sinter/nn/config_json.hpp"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sinter/base/error.hpp"

namespace sinter::nn::detail {

using Json = nlohmann::ordered_json;

namespace {

template <class T>
void append_number(std::string& text, T value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  text.append(buffer, result.ptr);
}

template <class T>
void append_float(JsonWriter& writer, T value) {
  if (std::isnan(value)) {
    writer.string("nan");
  } else if (std::isinf(value)) {
    writer.string(value > 0 ? "inf" : "-inf");
  } else {
    append_number(writer.text, value);
  }
}

const Json& node_of(const void* node) { return *static_cast<const Json*>(node); }

/// What stands in the file, cut to a readable length.
std::string shown(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 40) {
    text = text.substr(0, 37) + "...";
  }
  return text;
}

const Json& nth(const Json& object, std::size_t index) {
  auto it = object.begin();
  std::advance(it, static_cast<std::ptrdiff_t>(index));
  return *it;
}

}  // namespace

void JsonWriter::new_line() {
  text += '\n';
  text.append(static_cast<std::size_t>(2 * depth_), ' ');
}

void JsonWriter::begin(char bracket) {
  text += bracket;
  ++depth_;
  first_ = true;
}

void JsonWriter::end(char bracket) {
  --depth_;
  if (!first_ && bracket == '}') {
    new_line();
  }
  text += bracket;
  first_ = false;
}

void JsonWriter::element() {
  text += first_ ? "" : ", ";
  first_ = false;
}

void JsonWriter::key(std::string_view name) {
  text += first_ ? "" : ",";
  first_ = false;
  new_line();
  string(name);
  text += ": ";
}

void JsonWriter::null() { text += "null"; }
void JsonWriter::boolean(bool value) { text += value ? "true" : "false"; }
void JsonWriter::integer(std::int64_t value) { append_number(text, value); }
void JsonWriter::natural(std::uint64_t value) { append_number(text, value); }
void JsonWriter::number(float value) { append_float(*this, value); }
void JsonWriter::number(double value) { append_float(*this, value); }

void JsonWriter::string(std::string_view value) {
  try {
    text += Json(value).dump();
  } catch (const Json::exception&) {
    throw FormatError("config_to_json: expected UTF-8 text, got the bytes " + shown(Json(value)) +
                      "; JSON can't hold them: store a readable name");
  }
}

bool JsonValue::is_null() const { return node_of(node_).is_null(); }

void JsonValue::fail(const std::string& expected) const {
  throw FormatError("config: " + (path_.empty() ? std::string("the document") : "'" + path_ + "'") +
                    " must be " + expected + ", got " + shown(node_of(node_)) +
                    "; correct the value");
}

void JsonValue::fail_unknown(const std::string& known_keys) const {
  throw FormatError("config: unknown key '" + path_ +
                    "'; expected one of: " + (known_keys.empty() ? "(none)" : known_keys));
}

bool JsonValue::boolean() const {
  if (!node_of(node_).is_boolean()) {
    fail("true or false");
  }
  return node_of(node_).get<bool>();
}

std::int64_t JsonValue::integer(std::int64_t least, std::int64_t most) const {
  const Json& json = node_of(node_);
  const bool too_large =
      json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  if (!json.is_number_integer() || too_large || json.get<std::int64_t>() < least) {
    fail("an integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return json.get<std::int64_t>();
}

std::uint64_t JsonValue::natural(std::uint64_t most) const {
  const Json& json = node_of(node_);
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most) {
    fail("an integer from 0 to " + std::to_string(most));
  }
  return json.get<std::uint64_t>();
}

double JsonValue::number(double most) const {
  const Json& json = node_of(node_);
  if (json == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (json == "inf" || json == "-inf") {
    const double infinity = std::numeric_limits<double>::infinity();
    return json == "inf" ? infinity : -infinity;
  }
  if (!json.is_number() || std::abs(json.get<double>()) > most) {
    fail("a number within the range of its type");
  }
  return json.get<double>();
}

std::string JsonValue::string() const {
  if (!node_of(node_).is_string()) {
    fail("a string");
  }
  return node_of(node_).get<std::string>();
}

std::size_t JsonValue::size(std::size_t exactly) const {
  const Json& json = node_of(node_);
  const bool any = exactly == static_cast<std::size_t>(-1);
  if (!json.is_array() || (!any && json.size() != exactly)) {
    fail(any ? "an array" : "an array of " + std::to_string(exactly) + " elements");
  }
  return json.size();
}

JsonValue JsonValue::at(std::size_t index) const {
  return {&node_of(node_)[index], join(path_, std::to_string(index))};
}

std::size_t JsonValue::members() const {
  if (!node_of(node_).is_object()) {
    fail("an object");
  }
  return node_of(node_).size();
}

std::string JsonValue::member_name(std::size_t index) const {
  auto it = node_of(node_).begin();
  std::advance(it, static_cast<std::ptrdiff_t>(index));
  return it.key();
}

JsonValue JsonValue::member(std::size_t index) const {
  return {&nth(node_of(node_), index), join(path_, member_name(index))};
}

JsonDocument::JsonDocument(std::string_view text) {
  try {
    node_ = new Json(Json::parse(text));
  } catch (const Json::exception& error) {
    throw FormatError(std::string("config: expected JSON text; ") + error.what());
  }
}

JsonDocument::~JsonDocument() { delete static_cast<Json*>(node_); }

JsonValue JsonDocument::root() const { return {node_, ""}; }

}  // namespace sinter::nn::detail
