// SPDX-License-Identifier: MIT OR Apache-2.0
// Starts peers: PyTorch through Python, and libtorch through a small C++ program built on demand.
#include "benches/peers.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "sinter/base/os/process.hpp"

namespace sinter::bench {

namespace fs = std::filesystem;

std::string peers_folder() {
  if (const auto chosen = os::environment("SINTER_PEERS")) {
    return *chosen;
  }
  return os::environment("HOME").value_or(".") + "/.cache/sinter/peers";
}

std::string peers_python() {
  const std::string python = peers_folder() + "/bin/python";
  return fs::exists(python) ? python : "";
}

Environment thread_environment(int threads) {
  const std::string n = std::to_string(threads);
  return {{"OMP_NUM_THREADS", n}, {"MKL_NUM_THREADS", n}, {"OPENBLAS_NUM_THREADS", n}};
}

Peers::Peers(const Options& options) : options_(options) {}

std::vector<std::string> Peers::variants(const std::vector<std::string>& kinds) const {
  std::vector<std::string> out;
  if (!options_.peers || peers_python().empty()) {
    return out;
  }
  for (const std::string& kind : kinds) {
    out.push_back(kind);
    if (kind.starts_with("torch")) {
      out.push_back(kind + "_keep");
    }
    if (kind == "torch" && options_.compile) {
      out.push_back("torch_compile");
      out.push_back("torch_compile_keep");
    }
  }
  return out;
}

std::unique_ptr<Worker> Peers::start(const std::string& variant) const {
  const std::string threads = std::to_string(options_.threads);
  const std::string folder = std::string(SINTER_BENCH_SOURCE_DIR) + "/peers";
  if (variant == "libtorch") {
    const std::string program = peers_folder() + "/libtorch_worker";
    const Finished built =
        run_program({"/bin/sh", folder + "/build_libtorch_worker", peers_python(), program}, {});
    if (built.status != 0) {
      throw std::runtime_error("libtorch_worker did not build: " + built.output);
    }
    return std::make_unique<Worker>(std::vector<std::string>{program, threads},
                                    thread_environment(options_.threads));
  }
  return std::make_unique<Worker>(
      std::vector<std::string>{peers_python(), folder + "/torch_worker.py", variant, threads},
      thread_environment(options_.threads));
}

Worker* Peers::prepare(const std::string& variant, const std::string& row,
                       const std::string& folder, std::string& reason) {
  if (const auto failed = failed_.find(variant); failed != failed_.end()) {
    reason = failed->second;
    return nullptr;
  }
  try {
    auto& worker = workers_[variant];
    if (!worker) {
      worker = start(variant);
      worker->ask("hello");
    }
  } catch (const std::exception& error) {
    workers_.erase(variant);
    reason = failed_[variant] = error.what();
    return nullptr;
  }
  try {
    workers_[variant]->ask("prepare " + row + " " + folder);
    return workers_[variant].get();
  } catch (const std::exception& error) {
    reason = error.what();
    return nullptr;
  }
}

void Peers::release() {
  for (auto it = workers_.begin(); it != workers_.end();) {
    try {
      it->second->ask("release");
      ++it;
    } catch (const std::exception&) {
      it = workers_.erase(it);
    }
  }
}

double Peers::cpu_seconds() const {
  double total = 0;
  for (const auto& [name, worker] : workers_) {
    total += cpu_seconds_of(worker->process_id());
  }
  return total;
}

}  // namespace sinter::bench
