// SPDX-License-Identifier: MIT OR Apache-2.0
// A result as a JSON object on one line, and as a line of the table.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "benches/bench.hpp"

namespace sinter::bench {
namespace {

std::string number(double value) {
  if (!std::isfinite(value)) {
    return "null";
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

std::string number(const std::optional<double>& value) { return value ? number(*value) : "null"; }

std::optional<double> share(const Result& result) {
  if (!result.ours || !result.limit) {
    return std::nullopt;
  }
  return *result.limit / *result.ours;
}

/// Four significant digits without an exponent.
std::string shown(const std::optional<double>& value) {
  if (!value) {
    return "-";
  }
  const int decimals =
      *value <= 0 ? 0 : std::clamp(3 - static_cast<int>(std::floor(std::log10(*value))), 0, 7);
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f", decimals, *value);
  return text;
}

std::string shown_error(const std::optional<double>& error) {
  if (!error) {
    return "-";
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.1e", *error);
  return text;
}

}  // namespace

std::string to_json(const Result& result, const Options& options) {
  std::string peers;
  for (const auto& [name, ms] : result.peers) {
    peers += (peers.empty() ? "\"" : ",\"") + name + "\":" + number(ms);
  }
  return "{\"bench\":\"" + result.bench + "\",\"device\":\"" + options.device +
         "\",\"threads\":" + std::to_string(options.threads) +
         ",\"ours_ms\":" + number(result.ours) + ",\"ours_min_ms\":" + number(result.ours_min) +
         ",\"peer_ms\":{" + peers + "},\"limit_ms\":" + number(result.limit) + ",\"limit\":\"" +
         result.limit_name + "\",\"share\":" + number(share(result)) +
         ",\"max_rel_err\":" + number(result.error) + ",\"load\":" + number(result.load) + "}";
}

std::string table_header() {
  char line[200];
  std::snprintf(line, sizeof(line), "%-22s %10s %10s %10s %10s %6s %9s %5s  %s", "row", "ours",
                "min", "best peer", "limit", "share", "error", "load", "peers");
  return line;
}

std::string to_table_line(const Result& result) {
  std::optional<double> best;
  std::string peers;
  for (const auto& [name, ms] : result.peers) {
    best = best ? std::min(*best, ms) : ms;
    peers += name + " " + shown(ms) + "  ";
  }
  char line[200];
  std::snprintf(line, sizeof(line), "%-22s %10s %10s %10s %10s %6s %9s %5.1f  ",
                result.bench.c_str(), shown(result.ours).c_str(), shown(result.ours_min).c_str(),
                shown(best).c_str(), shown(result.limit).c_str(),
                share(result) ? shown(std::round(*share(result) * 1000) / 1000).c_str() : "-",
                shown_error(result.error).c_str(), result.load);
  std::string text = line + peers;
  if (!result.note.empty()) {
    text += "(" + result.note.substr(0, result.note.find_last_not_of("; ") + 1) + ")";
  }
  return text;
}

}  // namespace sinter::bench
