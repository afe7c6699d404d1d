// SPDX-License-Identifier: MIT OR Apache-2.0
// Build times, measured by build_time.py.
#include <nlohmann/json.hpp>

#include "benches/bench.hpp"
#include "benches/peers.hpp"
#include "benches/worker.hpp"

namespace sinter::bench {
namespace {

Result measure_build(const std::string& name, const Options& options) {
  Result result{};
  std::vector<std::string> command = {
      "python3", std::string(SINTER_BENCH_SOURCE_DIR) + "/build_time.py",
      "--only",  name,
      "--build", SINTER_BENCH_BUILD_DIR};
  if (options.peers && !peers_python().empty()) {
    command.insert(command.end(), {"--peers", peers_folder()});
  }
  const Finished run = run_program(command, {});
  const auto json = nlohmann::json::parse(run.output, nullptr, false);
  if (run.status != 0 || !json.is_object()) {
    result.note = "build_time.py failed with status " + std::to_string(run.status) + "; ";
    return result;
  }
  if (json["ours_ms"].is_number()) {
    result.ours =
        Figure{.median = json["ours_ms"].get<double>(), .best = json["ours_min_ms"].get<double>()};
  }
  for (const auto& [peer, seconds] : json["peer_ms"].items()) {
    result.peers[peer] = figure_of({seconds.get<double>()});
  }
  result.note = json.value("note", "");
  return result;
}

}  // namespace

void add_build_rows(Rows& rows) {
  for (const std::string name : {"build_20_lines", "header_parse", "worst_tu"}) {
    rows.push_back({.name = name, .whole = [name](const Options& options) {
                      return measure_build(name, options);
                    }});
  }
}

}  // namespace sinter::bench
