// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows of text in aligned columns.
#pragma once

#include <string>
#include <vector>

namespace sinter::apps {

/// The first row is the head. Columns that hold only numbers below it are flushed right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const;
  std::string markdown() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sinter::apps
