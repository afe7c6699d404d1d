// SPDX-License-Identifier: MIT OR Apache-2.0
// Whole programs: how soon a fresh process has trained one step, and the memory that steps need.
#include <filesystem>

#include "benches/bench.hpp"
#include "benches/peers.hpp"
#include "benches/worker.hpp"

namespace sinter::bench {
namespace {

struct Program {
  const char* network;
  int steps;
  bool memory;       ///< Report peak MiB instead of milliseconds to the first step.
  bool empty_cache;  ///< Each run finds empty caches.
};

constexpr const char* cache = "/tmp/sinter_bench_cache";

/// One that runs the program: a command and its environment.
struct Entry {
  std::string name;
  std::vector<std::string> command;
  Environment environment;
  std::vector<double> values = {};
  std::string failure = {};
};

Entry ours(const Program& program, const Options& options) {
  Environment environment = thread_environment(options.threads);
  environment["SINTER_THREADS"] = std::to_string(options.threads);
  environment["SINTER_CACHE"] = cache;
  return {.name = "",
          .command = {std::string(SINTER_BENCH_BINARY_DIR) + "/bench_train_once", program.network,
                      std::to_string(program.steps), options.device},
          .environment = environment};
}

Entry peer(const Program& program, const Options& options, const std::string& variant) {
  return {.name = variant,
          .command = {peers_python(), std::string(SINTER_BENCH_SOURCE_DIR) + "/peers/torch_once.py",
                      variant, program.network, std::to_string(program.steps),
                      std::to_string(options.threads)},
          .environment = thread_environment(options.threads)};
}

void run_once(Entry& entry, const Program& program) {
  if (!entry.failure.empty()) {
    return;
  }
  if (program.empty_cache && entry.name.empty()) {
    std::filesystem::remove_all(cache);
  }
  const Finished run = run_program(entry.command, entry.environment);
  if (run.status != 0) {
    entry.failure = entry.command[0] + " failed with status " + std::to_string(run.status);
    return;
  }
  entry.values.push_back(program.memory ? run.peak_mib : run.first_line * 1e3);
}

Result measure_program(const Program& program, const Options& options) {
  std::vector<Entry> entries = {ours(program, options)};
  if (options.peers && !peers_python().empty()) {
    entries.push_back(peer(program, options, "torch"));
    entries.push_back(peer(program, options, "torch_keep"));
  }
  const int rounds = program.memory ? 1 : 11;
  for (int round = 0; round < rounds; ++round) {
    for (Entry& entry : entries) {
      // A peer takes seconds to start: three runs of it are enough.
      if (entry.name.empty() || round < 3) {
        run_once(entry, program);
      }
    }
  }
  std::filesystem::remove_all(cache);
  Result result{};
  for (const Entry& entry : entries) {
    if (!entry.failure.empty()) {
      result.note += entry.failure + "; ";
    } else if (entry.name.empty()) {
      result.ours = figure_of(entry.values);
    } else {
      result.peers[entry.name] = figure_of(entry.values);
    }
  }
  return result;
}

}  // namespace

void add_process_rows(Rows& rows) {
  const auto add = [&](const char* name, Program program) {
    rows.push_back({.name = name, .whole = [program](const Options& options) {
                      return measure_program(program, options);
                    }});
  };
  add("cold_mlp", {.network = "mlp", .steps = 1, .memory = false, .empty_cache = true});
  add("warm_mlp", {.network = "mlp", .steps = 1, .memory = false, .empty_cache = false});
  add("peak_mlp", {.network = "mlp", .steps = 20, .memory = true, .empty_cache = false});
  add("peak_cnn", {.network = "cnn", .steps = 5, .memory = true, .empty_cache = false});
  add("peak_encoder", {.network = "encoder", .steps = 3, .memory = true, .empty_cache = false});
}

}  // namespace sinter::bench
