// SPDX-License-Identifier: MIT OR Apache-2.0
// What files need of JSON, without a JSON library in sight of its users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sinter::store::detail {

/// Is told what a JSON text holds, piece by piece. Each function returns whether to go on; what a
/// reader doesn't override is `wrong`.
class JsonReader {
 public:
  virtual ~JsonReader() = default;

  /// `got` is a noun: "a boolean".
  virtual bool wrong(std::string_view got) = 0;
  /// The text is no JSON, or no UTF-8, at this byte.
  virtual void damaged(std::size_t position) = 0;

  virtual bool number(std::uint64_t) { return wrong("a number"); }
  virtual bool string(std::string&&) { return wrong("a string"); }
  virtual bool key(std::string&& name) = 0;
  virtual bool start_object() { return wrong("an object"); }
  virtual bool end_object() { return true; }
  virtual bool start_array() { return wrong("an array"); }
  virtual bool end_array() { return true; }
};

/// Reads all of `text`; false when it is damaged or the reader stopped. Uses no more stack for deep
/// nesting than for none.
bool read_json(std::string_view text, JsonReader& reader);

/// Appends `value` as a JSON string; false, and nothing appended, when it is no UTF-8.
bool append_json(std::string& text, std::string_view value);

}  // namespace sinter::store::detail
