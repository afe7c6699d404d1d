// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes: a peer that answers lines, and programs that are timed as a whole.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace sinter::bench {

using Environment = std::map<std::string, std::string>;

/// A program that reads one command a line and answers one line, `ok …` or `no <reason>`.
class Worker {
 public:
  /// Throws std::runtime_error when the program can't be started.
  Worker(const std::vector<std::string>& command, const Environment& environment);
  /// Closes the pipes and waits for the program's end.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// The text after `ok`. Throws std::runtime_error with the reason, or when the program ended.
  std::string ask(const std::string& line);

  long process_id() const { return process_id_; }

 private:
  std::string read_line();

  long process_id_ = 0;
  int to_ = -1;
  int from_ = -1;
  std::string buffer_;
};

/// How one run of a whole program went.
struct Finished {
  double seconds = 0;     ///< From its start to its end.
  double first_line = 0;  ///< From its start to its first line of output; 0 if it wrote none.
  double peak_mib = 0;    ///< The most memory it had resident.
  int status = 0;         ///< Exit status, or 128 + the signal.
  std::string output;     ///< What it wrote to its standard output.
};
Finished run_program(const std::vector<std::string>& command, const Environment& environment);

/// Processor seconds that all processes of the machine have spent, and those of one process.
double machine_cpu_seconds();
double cpu_seconds_of(long process_id);

}  // namespace sinter::bench
