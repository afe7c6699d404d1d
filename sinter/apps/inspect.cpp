// SPDX-License-Identifier: MIT OR Apache-2.0
// `sinter inspect FILE`: the tensors and metadata of a record.
#include <fmt/format.h>

#include "sinter/apps/commands.hpp"
#include "sinter/apps/table.hpp"
#include "sinter/store/record.hpp"

namespace sinter::apps {

namespace {

std::string size_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

/// Text from a file, safe to show: control characters could change the terminal.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 200;
  std::string out;
  for (const char c : text.substr(0, longest)) {
    const auto code = static_cast<unsigned char>(c);
    out += code < 0x20 || code == 0x7f ? fmt::format("\\x{:02x}", code) : std::string(1, c);
  }
  return text.size() > longest ? out + " …" : out;
}

}  // namespace

int inspect_record(const std::string& path) {
  const store::RecordSummary summary = store::summary(path);
  Table table({"name", "dtype", "shape", "size"});
  for (const store::TensorInfo& tensor : summary.tensors) {
    table.add({shown(tensor.name), std::string(name_of(tensor.dtype)), tensor.shape.str(),
               size_text(tensor.bytes)});
  }
  for (const store::Alias& alias : summary.aliases) {
    table.add({shown(alias.name), "", "is " + shown(alias.of), ""});
  }
  if (!summary.tensors.empty()) {
    fmt::print("{}\n", table.text());
  }
  for (const auto& [key, value] : summary.metadata) {
    fmt::print("{}: {}\n", shown(key), shown(value));
  }
  fmt::print("{} tensor{}, {} elements, {}\n", summary.tensors.size(),
             summary.tensors.size() == 1 ? "" : "s", summary.elements,
             size_text(summary.file_bytes));
  return 0;
}

}  // namespace sinter::apps
