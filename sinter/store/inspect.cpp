// SPDX-License-Identifier: MIT OR Apache-2.0
// Formatting of a record's summary as a table.
#include "sinter/store/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sinter::store {
namespace {

// Names come from files: nothing in them may move a terminal's cursor or break the table.
std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  if (text.size() > most) {
    // Cut between characters: a UTF-8 sequence's later bytes look like 10xxxxxx.
    std::size_t kept = most;
    while (kept > 0 && (static_cast<unsigned char>(text[kept]) & 0xc0) == 0x80 && !out.empty()) {
      out.pop_back();
      --kept;
    }
    out += "…";
  }
  return out;
}

// Columns on screen: UTF-8's later bytes take none.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string size_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string plural(std::uint64_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

using Row = std::array<std::string, 4>;

std::string table(const std::vector<Row>& rows) {
  std::array<std::size_t, 4> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width(row[i]));
    }
  }
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      out += row[i];
      out.append(widths[i] - width(row[i]) + 2, ' ');
    }
    out.append(widths[3] - width(row[3]), ' ');
    out += row[3] + '\n';
  }
  return out;
}

}  // namespace

std::string inspect_text(const std::string& path, const RecordSummary& summary) {
  constexpr std::size_t longest_name = 100;
  constexpr std::size_t longest_text = 200;
  std::string out = fmt::format("{}: {}, {}, {}\n", path, plural(summary.tensors.size(), "tensor"),
                                plural(summary.elements, "element"), size_text(summary.file_bytes));
  if (!summary.tensors.empty()) {
    std::vector<Row> rows{{"name", "dtype", "shape", "bytes"}};
    for (const TensorInfo& tensor : summary.tensors) {
      rows.push_back({printable(tensor.name, longest_name), std::string(name_of(tensor.dtype)),
                      tensor.shape.str(), size_text(tensor.bytes)});
    }
    out += table(rows);
  }
  if (!summary.aliases.empty()) {
    out += "tied\n";
    for (const Alias& alias : summary.aliases) {
      out += fmt::format("  {} = {}\n", printable(alias.name, longest_name),
                         printable(alias.of, longest_name));
    }
  }
  if (!summary.metadata.empty()) {
    out += "metadata\n";
    for (const auto& [key, value] : summary.metadata) {
      out +=
          fmt::format("  {}: {}\n", printable(key, longest_name), printable(value, longest_text));
    }
  }
  return out;
}

std::string inspect(const std::string& path) { return inspect_text(path, summary(path)); }

}  // namespace sinter::store
