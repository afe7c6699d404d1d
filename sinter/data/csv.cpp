// SPDX-License-Identifier: MIT OR Apache-2.0
// A single pass over the text, field by field.
#include "sinter/data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/data/rows.hpp"

namespace sinter::data {
namespace {

class Reader {
 public:
  Reader(std::string_view text, std::string_view origin, char separator)
      : text_(text), origin_(origin), separator_(separator) {}

  bool at_end() const { return at_ >= text_.size(); }
  std::int64_t line() const { return line_; }

  // Appends one field to `out`; true when its row goes on after it.
  bool field(std::string& out) {
    if (!at_end() && text_[at_] == '"') {
      quoted(out);
    } else {
      const std::size_t end = std::min(text_.find_first_of(stops(), at_), text_.size());
      out += text_.substr(at_, end - at_);
      at_ = end;
    }
    if (at_end()) {
      return false;
    }
    if (text_[at_] == separator_) {
      ++at_;
      return true;
    }
    if (text_[at_] == '\r') {
      at_ += text_.substr(at_).starts_with("\r\n") ? 2 : 1;
    } else if (text_[at_] == '\n') {
      ++at_;
    } else {
      fail("has text after a quoted field; write a quote inside a field twice");
    }
    ++line_;
    return false;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("{}: line {} {}", origin_, line_, what));
  }

 private:
  std::string_view stops() {
    stops_[0] = separator_;
    return {stops_, 3};
  }

  void quoted(std::string& out) {
    const std::int64_t first = line_;
    for (++at_;; ++at_) {
      if (at_end()) {
        line_ = first;
        fail("has a quote that is never closed");
      }
      if (text_[at_] == '"' && !text_.substr(at_ + 1).starts_with('"')) {
        ++at_;
        return;
      }
      at_ += text_[at_] == '"' ? 1 : 0;
      line_ += text_[at_] == '\n' ? 1 : 0;
      out += text_[at_];
    }
  }

  std::string_view text_;
  std::string_view origin_;
  char separator_;
  char stops_[3] = {',', '\n', '\r'};
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == text.npos ? std::string_view()
                            : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::string_view CsvTable::at(std::int64_t row, std::int64_t column) const {
  const auto width = static_cast<std::int64_t>(columns_.size());
  check_index(row, rows_, "CsvTable row");
  check_index(column, width, "CsvTable column");
  const auto i = static_cast<std::size_t>(row * width + column);
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(text_).substr(begin, ends_[i] - begin);
}

std::int64_t CsvTable::column(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) {
    throw ArgumentError(fmt::format("{}: there is no column `{}`; there are {}", origin_, name,
                                    fmt::join(columns_, ", ")));
  }
  return found - columns_.begin();
}

HostData CsvTable::numbers(std::span<const std::string_view> names, DType dtype) const {
  std::vector<std::int64_t> picked;
  for (std::size_t i = 0; i < (names.empty() ? columns_.size() : names.size()); ++i) {
    picked.push_back(names.empty() ? static_cast<std::int64_t>(i) : column(names[i]));
  }
  HostData out({rows_, static_cast<std::int64_t>(picked.size())}, dtype);
  std::byte* to = out.bytes().data();
  for (std::int64_t row = 0; row < rows_; ++row) {
    for (const std::int64_t column : picked) {
      const std::string_view field = trim(at(row, column));
      const char* const end = field.data() + field.size();
      // Integers up to 64 bits stay exact: they don't pass through a double.
      std::int64_t integer = 0;
      double number = 0;
      if (const auto [stop, error] = std::from_chars(field.data(), end, integer);
          error == std::errc() && stop == end) {
        convert_elements(&integer, DType::i64, to, dtype, 1);
      } else if (const auto [last, fault] = std::from_chars(field.data(), end, number);
                 fault == std::errc() && last == end) {
        convert_elements(&number, DType::f64, to, dtype, 1);
      } else {
        throw FormatError(fmt::format("{}: row {}, column `{}`: expected a number, got `{}`",
                                      origin_, row, columns_[static_cast<std::size_t>(column)],
                                      field.substr(0, 80)));
      }
      to += size_of(dtype);
    }
  }
  return out;
}

CsvTable parse_csv(std::string_view text, std::string_view origin, const CsvOptions& options) {
  if (text.starts_with("\xef\xbb\xbf")) {
    text.remove_prefix(3);
  }
  CsvTable table;
  table.origin_ = origin;
  Reader reader(text, origin, options.separator);
  if (options.header && !reader.at_end()) {
    bool more = true;
    while (more) {
      std::string name;
      more = reader.field(name);
      table.columns_.push_back(std::move(name));
    }
  }
  while (!reader.at_end()) {
    const std::int64_t line = reader.line();
    std::size_t fields = 0;
    bool more = true;
    while (more) {
      more = reader.field(table.text_);
      table.ends_.push_back(table.text_.size());
      ++fields;
    }
    if (table.columns_.empty()) {
      for (std::size_t i = 0; i < fields; ++i) {
        table.columns_.push_back(std::to_string(i));
      }
    }
    if (fields != table.columns_.size()) {
      throw FormatError(fmt::format("{}: the row at line {} has {} fields, expected {}", origin,
                                    line, fields, table.columns_.size()));
    }
    ++table.rows_;
  }
  return table;
}

CsvTable read_csv(const std::string& path, const CsvOptions& options) {
  return parse_csv(os::read_file(path), path, options);
}

}  // namespace sinter::data
