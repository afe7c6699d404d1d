// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows of text in aligned columns.
#include "sinter/apps/table.hpp"

#include <algorithm>

namespace sinter::apps {

namespace {

struct Column {
  std::size_t width = 0;
  bool right = true;
};

std::vector<Column> columns_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<Column> columns(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      columns[i].width = std::max(columns[i].width, row[i].size());
      const bool starts_as_number = !row[i].empty() && row[i][0] >= '0' && row[i][0] <= '9';
      columns[i].right = columns[i].right && (&row == &rows.front() || starts_as_number);
    }
  }
  for (Column& column : columns) {
    column.right = column.right && rows.size() > 1;
  }
  return columns;
}

std::string padded(const std::string& cell, const Column& column) {
  const std::string space(column.width - cell.size(), ' ');
  return column.right ? space + cell : cell + space;
}

}  // namespace

std::string Table::text() const {
  const std::vector<Column> columns = columns_of(rows_);
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += (i == 0 ? "" : "  ") + padded(row[i], columns[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string Table::markdown() const {
  const std::vector<Column> columns = columns_of(rows_);
  std::string out;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += "| " + padded(row[i], columns[i]) + ' ';
    }
    out += "|\n";
    if (&row == &rows_.front()) {
      for (const Column& column : columns) {
        out += "|" + std::string(column.width + 1, '-') + (column.right ? ":" : "-");
      }
      out += "|\n";
    }
  }
  return out;
}

}  // namespace sinter::apps
