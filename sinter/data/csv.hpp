// SPDX-License-Identifier: MIT OR Apache-2.0
// Tables of text: CSV as RFC 4180 has it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/types/host_data.hpp"

namespace sinter::data {

struct CsvOptions {
  char separator = ',';
  /// Whether the first line holds the names of the columns.
  bool header = true;
};

/// A table of text fields; every row has one field for each column.
class CsvTable {
 public:
  /// Without a header the columns are called "0", "1", ….
  const std::vector<std::string>& columns() const { return columns_; }
  /// Rows, without the header.
  std::int64_t size() const { return rows_; }
  /// Throws IndexError.
  std::string_view at(std::int64_t row, std::int64_t column) const;
  /// The number of the column called `name`; throws ArgumentError listing those there are.
  std::int64_t column(std::string_view name) const;
  /// Columns as numbers [size(), columns]; all columns when none is named. Throws FormatError
  /// naming the row and column of a field that is no number.
  HostData numbers(std::span<const std::string_view> names = {}, DType dtype = DType::f32) const;

 private:
  friend CsvTable parse_csv(std::string_view, std::string_view, const CsvOptions&);

  std::string origin_;
  std::vector<std::string> columns_;
  // Fields lie in one text, each from the end of the one before.
  std::string text_;
  std::vector<std::size_t> ends_;
  std::int64_t rows_ = 0;
};

/// Throws IoError, or FormatError with the line for a row with another number of fields, a quote
/// that isn't closed, or text around a quoted field.
[[nodiscard]] CsvTable read_csv(const std::string& path, const CsvOptions& options = {});

/// As above from memory; `origin` stands for the file's name in messages.
[[nodiscard]] CsvTable parse_csv(std::string_view text, std::string_view origin,
                                 const CsvOptions& options = {});

}  // namespace sinter::data
