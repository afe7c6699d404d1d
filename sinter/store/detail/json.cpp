// SPDX-License-Identifier: MIT OR Apache-2.0
// The one file of this folder that compiles the JSON library, which takes longer than all others.
#include "sinter/store/detail/json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace sinter::store::detail {
namespace {

class Adapter : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Adapter(JsonReader& reader) : reader_(reader) {}

  bool null() override { return reader_.wrong("null"); }
  bool boolean(bool) override { return reader_.wrong("a boolean"); }
  bool number_integer(number_integer_t) override { return reader_.wrong("a negative number"); }
  bool number_unsigned(number_unsigned_t value) override { return reader_.number(value); }
  bool number_float(number_float_t, const string_t&) override {
    return reader_.wrong("a number that is no 64-bit integer");
  }
  bool string(string_t& value) override { return reader_.string(std::move(value)); }
  bool binary(binary_t&) override { return reader_.wrong("binary data"); }
  bool start_object(std::size_t) override { return reader_.start_object(); }
  bool key(string_t& name) override { return reader_.key(std::move(name)); }
  bool end_object() override { return reader_.end_object(); }
  bool start_array(std::size_t) override { return reader_.start_array(); }
  bool end_array() override { return reader_.end_array(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    reader_.damaged(position);
    return false;
  }

 private:
  JsonReader& reader_;
};

}  // namespace

bool read_json(std::string_view text, JsonReader& reader) {
  Adapter adapter(reader);
  return nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &adapter);
}

bool append_json(std::string& text, std::string_view value) {
  try {
    text += nlohmann::json(value).dump();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
  return true;
}

}  // namespace sinter::store::detail
