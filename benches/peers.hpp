// SPDX-License-Identifier: MIT OR Apache-2.0
// The frameworks to compare with, each variant in a process of its own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benches/bench.hpp"
#include "benches/worker.hpp"

namespace sinter::bench {

/// Where `benches/setup` puts the peers.
std::string peers_folder();
/// The interpreter there; empty if nothing is installed.
std::string peers_python();
/// Environment that holds a peer to this number of threads.
Environment thread_environment(int threads);

/// Peer processes, started when a row first asks for them.
class Peers {
 public:
  explicit Peers(const Options& options);

  /// The names of the peers that can run a row which lists `kinds`.
  std::vector<std::string> variants(const std::vector<std::string>& kinds) const;

  /// Prepares the row in this peer from the files in `folder`; nullptr with a reason if it can't.
  Worker* prepare(const std::string& variant, const std::string& row, const std::string& folder,
                  std::string& reason);
  /// Ends peers that failed, and lets the others drop the row's data.
  void release();
  /// Ends them all: their memory is free, and the next row starts them anew.
  void end() { workers_.clear(); }
  /// Processor seconds of all peers so far.
  double cpu_seconds() const;

 private:
  std::unique_ptr<Worker> start(const std::string& variant) const;

  Options options_;
  std::map<std::string, std::unique_ptr<Worker>> workers_;
  std::map<std::string, std::string> failed_;
};

}  // namespace sinter::bench
