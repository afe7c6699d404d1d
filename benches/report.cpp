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

/// `a` over `b`, where both are there.
std::optional<Figure> ratio(const std::optional<Figure>& a, const std::optional<Figure>& b) {
  if (!a || !b) {
    return std::nullopt;
  }
  return Figure{.median = a->median / b->median, .best = a->best / b->best};
}

std::string number(const std::optional<double>& value) { return value ? number(*value) : "null"; }

std::optional<double> median(const std::optional<Figure>& figure) {
  return figure ? std::optional(figure->median) : std::nullopt;
}

std::optional<double> best(const std::optional<Figure>& figure) {
  return figure ? std::optional(figure->best) : std::nullopt;
}

/// The peer with the smallest median.
std::optional<Figure> best_peer(const Result& result) {
  std::optional<Figure> found;
  for (const auto& [name, figure] : result.peers) {
    if (!found || figure.median < found->median) {
      found = figure;
    }
  }
  return found;
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

std::string shown_ratio(const std::optional<double>& value) {
  if (!value) {
    return "-";
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", *value);
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
  std::string medians;
  std::string bests;
  for (const auto& [name, figure] : result.peers) {
    const std::string key = (medians.empty() ? "\"" : ",\"") + name + "\":";
    medians += key + number(figure.median);
    bests += key + number(figure.best);
  }
  const std::optional<Figure> share = ratio(result.limit, result.ours);
  const std::optional<Figure> to_peer = ratio(result.ours, best_peer(result));
  return "{\"bench\":\"" + result.bench + "\",\"device\":\"" + options.device +
         "\",\"threads\":" + std::to_string(options.threads) + ",\"clock\":\"" +
         (options.cpu_clock() ? "cpu" : "wall") + "\",\"ours_ms\":" + number(median(result.ours)) +
         ",\"ours_min_ms\":" + number(best(result.ours)) + ",\"peer_ms\":{" + medians +
         "},\"peer_min_ms\":{" + bests + "},\"ratio\":" + number(median(to_peer)) +
         ",\"ratio_min\":" + number(best(to_peer)) +
         ",\"limit_ms\":" + number(median(result.limit)) +
         ",\"limit_min_ms\":" + number(best(result.limit)) + ",\"limit\":\"" + result.limit_name +
         "\",\"share\":" + number(median(share)) + ",\"share_min\":" + number(best(share)) +
         ",\"max_rel_err\":" + number(result.error) + ",\"load\":" + number(result.load) + "}";
}

std::string table_header() {
  char line[200];
  std::snprintf(line, sizeof(line), "%-19s %9s %9s %9s %9s %6s %6s %9s %7s %6s %6s %8s %4s  %s",
                "row", "ours", "min", "peer", "min", "ratio", "min", "limit", "of", "share", "min",
                "error", "load", "peers, median/min");
  return line;
}

std::string to_table_line(const Result& result) {
  std::string peers;
  for (const auto& [name, figure] : result.peers) {
    peers += name + " " + shown(figure.median) + "/" + shown(figure.best) + "  ";
  }
  const std::optional<Figure> peer = best_peer(result);
  const std::optional<Figure> share = ratio(result.limit, result.ours);
  const std::optional<Figure> to_peer = ratio(result.ours, peer);
  char line[300];
  std::snprintf(line, sizeof(line), "%-19s %9s %9s %9s %9s %6s %6s %9s %7s %6s %6s %8s %4.1f  ",
                result.bench.c_str(), shown(median(result.ours)).c_str(),
                shown(best(result.ours)).c_str(), shown(median(peer)).c_str(),
                shown(best(peer)).c_str(), shown_ratio(median(to_peer)).c_str(),
                shown_ratio(best(to_peer)).c_str(), shown(median(result.limit)).c_str(),
                result.limit ? result.limit_name.c_str() : "-", shown_ratio(median(share)).c_str(),
                shown_ratio(best(share)).c_str(), shown_error(result.error).c_str(), result.load);
  std::string text = line + peers;
  if (!result.note.empty()) {
    text += "(" + result.note.substr(0, result.note.find_last_not_of("; ") + 1) + ")";
  }
  return text;
}

}  // namespace sinter::bench
