// SPDX-License-Identifier: MIT OR Apache-2.0
// Whole programs: how soon a fresh process has trained one step, and the memory that steps need.
#include <algorithm>
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

std::vector<double> run_ours(const Program& program, const Options& options, int rounds,
                             Result& result) {
  std::vector<double> values;
  const std::string path =
      std::string(SINTER_BENCH_BINARY_DIR) + "/bench_" + program.network + "_once";
  if (!std::filesystem::exists(path)) {
    result.note = "not written yet; ";
    return values;
  }
  const std::string cache = "/tmp/sinter_bench_cache";
  Environment environment = thread_environment(options.threads);
  environment["SINTER_THREADS"] = std::to_string(options.threads);
  environment["SINTER_CACHE"] = cache;
  for (int i = 0; i < rounds; ++i) {
    if (program.empty_cache) {
      std::filesystem::remove_all(cache);
    }
    const Finished run =
        run_program({path, std::to_string(program.steps), options.device}, environment);
    if (run.status != 0) {
      result.note = path + " failed with status " + std::to_string(run.status) + "; ";
      return {};
    }
    values.push_back(program.memory ? run.peak_mib : run.first_line * 1e3);
  }
  std::filesystem::remove_all(cache);
  return values;
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Result measure_program(const Program& program, const Options& options) {
  Result result{};
  const int rounds = program.memory ? 1 : 11;
  const std::vector<double> ours = run_ours(program, options, rounds, result);
  if (!ours.empty()) {
    result.ours = middle(ours);
    result.ours_min = *std::min_element(ours.begin(), ours.end());
  }
  if (options.peers && !peers_python().empty()) {
    const std::string script = std::string(SINTER_BENCH_SOURCE_DIR) + "/peers/torch_once.py";
    for (const std::string variant : {"torch", "torch_keep"}) {
      std::vector<double> theirs;
      for (int i = 0; i < (program.memory ? 1 : 3); ++i) {
        const Finished run =
            run_program({peers_python(), script, variant, program.network,
                         std::to_string(program.steps), std::to_string(options.threads)},
                        thread_environment(options.threads));
        if (run.status == 0) {
          theirs.push_back(program.memory ? run.peak_mib : run.first_line * 1e3);
        }
      }
      if (!theirs.empty()) {
        result.peers[variant] = middle(theirs);
      }
    }
  }
  return result;
}

}  // namespace

void add_process_rows(Rows& rows) {
  const auto add = [&](const char* name, Program program) {
    rows.push_back({.name = name, .whole = [program](const Options& options, const Limits&) {
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
