// SPDX-License-Identifier: MIT OR Apache-2.0
// The benchmark program behind `./dev bench`: options, the list of rows, table and JSON.
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <regex>
#include <stdexcept>

#include "benches/bench.hpp"
#include "benches/peers.hpp"
#include "sinter/base/os/process.hpp"

namespace {

using namespace sinter::bench;

constexpr const char* usage =
    "usage: bench [--only REGEX] [--threads N] [--device NAME] [--seconds S] [--no-peers]\n"
    "             [--json FILE] [--compile] [--list]\n"
    "  --only REGEX   rows whose whole name matches, e.g. 'conv_.*|cnn_step'\n"
    "  --threads N    threads of Sinter and of the peers (1)\n"
    "  --device NAME  Sinter's device (cpu)\n"
    "  --seconds S    time for each participant of a row (2)\n"
    "  --no-peers     Sinter alone\n"
    "  --json FILE    also write one JSON object per row and line\n"
    "  --compile      torch.compile too; it takes a minute to start\n"
    "  --list         print the names of the rows\n";

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) {
        throw std::invalid_argument(name + " needs a value");
      }
      return argv[++i];
    };
    if (name == "--only") {
      options.only = value();
    } else if (name == "--threads") {
      options.threads = std::stoi(value());
    } else if (name == "--device") {
      options.device = value();
    } else if (name == "--seconds") {
      options.seconds = std::stod(value());
    } else if (name == "--json") {
      options.json = value();
    } else if (name == "--no-peers") {
      options.peers = false;
    } else if (name == "--compile") {
      options.compile = true;
    } else if (name == "--list") {
      options.list = true;
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  if (options.threads < 1 || !(options.seconds > 0)) {
    throw std::invalid_argument("--threads and --seconds must be positive");
  }
  return options;
}

Rows all_rows() {
  Rows rows;
  add_elementwise_rows(rows);
  add_reduction_rows(rows);
  add_matmul_rows(rows);
  add_conv_rows(rows);
  add_attention_rows(rows);
  add_training_rows(rows);
  add_small_rows(rows);
  add_latency_rows(rows);
  add_process_rows(rows);
  add_build_rows(rows);
  return rows;
}

Rows chosen_rows(const std::string& only) {
  const std::regex wanted(only);
  Rows rows;
  for (Row& row : all_rows()) {
    if (std::regex_match(row.name, wanted)) {
      rows.push_back(std::move(row));
    }
  }
  if (rows.empty()) {
    throw std::invalid_argument("no row matches '" + only + "'; --list shows them");
  }
  return rows;
}

int run(const Options& options) {
  const Rows rows = chosen_rows(options.only);
  if (options.list) {
    for (const Row& row : rows) {
      std::puts(row.name.c_str());
    }
    return 0;
  }
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json) {
      throw std::runtime_error("can't write " + options.json);
    }
  }
  sinter::os::set_environment("SINTER_THREADS", std::to_string(options.threads));
  Bench bench(options);
  std::printf("%s\n", bench.machine().c_str());
  if (options.peers && peers_python().empty()) {
    std::printf("no peers in %s; ./dev bench --setup installs them\n", peers_folder().c_str());
  }
  std::printf(
      "milliseconds of %s; whole processes: wall clock; peak_* rows MiB, build rows seconds\n%s\n",
      options.cpu_clock() ? "processor time" : "the wall clock", table_header().c_str());
  std::fflush(stdout);
  for (const Row& row : rows) {
    const Result result = bench.measure(row);
    std::printf("%s\n", to_table_line(result).c_str());
    std::fflush(stdout);
    if (json.is_open()) {
      json << to_json(result, options) << std::endl;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "bench: %s\n%s", error.what(), usage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench: %s\n", error.what());
    return 1;
  }
}
