// SPDX-License-Identifier: MIT OR Apache-2.0
// What a benchmark row is, and how rows are measured against their peers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benches/probes.hpp"

namespace sinter::bench {

struct Options {
  std::string only = ".*";  ///< Rows whose whole name matches this regular expression.
  int threads = 1;
  std::string device = "cpu";
  double seconds = 2;  ///< For each participant of each row.
  bool peers = true;
  bool compile = false;  ///< Also torch.compile, which takes a minute to start.
  bool list = false;
  std::string json;  ///< File to write one object per line to.

  /// One thread is timed by the processor time of its process, which neighbours on a busy machine
  /// change little; several threads and other devices by the wall clock.
  bool cpu_clock() const { return threads == 1 && device == "cpu"; }
};

/// A tensor that a row and its peers both start from: random data, the same in every run.
struct Input {
  enum class Kind { normal, ids, int8 };

  std::string name;
  std::vector<std::int64_t> dims = {};
  Kind kind = Kind::normal;
  double scale = 1;        ///< Standard deviation of normal values.
  std::int64_t below = 0;  ///< Ids are from 0 to below - 1.
  double mean = 0;

  std::size_t count() const;
};

/// Standard deviation 1 / sqrt(fan_in) keeps activations near 1 through a network.
Input normal(std::string name, std::vector<std::int64_t> dims, double scale = 1, double mean = 0);
Input ids(std::string name, std::vector<std::int64_t> dims, std::int64_t below);
Input int8(std::string name, std::vector<std::int64_t> dims);

/// The values of the inputs by name; ids and i8 values are whole floats.
using Values = std::map<std::string, std::vector<float>>;

/// What one iteration must do at least.
struct Work {
  double flops = 0;
  double bytes = 0;
  Traffic traffic = Traffic::copy;
  double int8_ops = 0;
};

struct Context {
  const Options& options;
  const std::vector<Input>& inputs;
  const Values& values;

  const std::vector<float>& operator[](const std::string& name) const { return values.at(name); }
};

/// A row made ready on Sinter's side.
struct Runner {
  std::function<void(long iterations)> run;  ///< Returns when the results are there.
  /// Results to compare with the peers', in their order.
  std::function<std::vector<std::vector<float>>()> outputs;
};

/// Milliseconds of a row's rounds (MiB in the rows named `peak_*`, seconds in the build group).
struct Figure {
  double median = 0;
  double best = 0;
};
/// Of at least one value.
Figure figure_of(std::vector<double> values);

/// One line of the report.
struct Result {
  std::string bench = {};
  std::optional<Figure> ours = {};
  std::map<std::string, Figure> peers = {};
  /// The least time for the row's work, by probes between the rounds.
  std::optional<Figure> limit = {};
  std::string limit_name = {};
  std::optional<double> error = {};  ///< The largest difference, relative to the largest value.
  double load = 0;                   ///< Processors busy with other work meanwhile.
  std::string note = {};             ///< Why a figure is missing.
};

struct Row {
  std::string name = {};
  std::vector<Input> inputs = {};
  Work work = {};
  /// `torch` stands for torch and torch_keep; so does each other name.
  std::vector<std::string> peers = {"torch"};
  double tolerance = 1e-4;
  std::function<Runner(const Context&)> make = {};
  /// Set for rows that aren't measured by iterations: whole programs and builds.
  std::function<Result(const Options&)> whole = {};
};

using Rows = std::vector<Row>;

// The lists of rows, in the order of the report.
void add_elementwise_rows(Rows& rows);
void add_reduction_rows(Rows& rows);
void add_matmul_rows(Rows& rows);
void add_conv_rows(Rows& rows);
void add_attention_rows(Rows& rows);
void add_training_rows(Rows& rows);
void add_small_rows(Rows& rows);
void add_latency_rows(Rows& rows);
void add_process_rows(Rows& rows);
void add_build_rows(Rows& rows);

/// Measures rows one after the other; peers stay alive between rows.
class Bench {
 public:
  explicit Bench(const Options& options);
  ~Bench();

  /// A line on the machine: its processor and what the probes found.
  std::string machine() const;
  Result measure(const Row& row);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::string to_json(const Result& result, const Options& options);
std::string table_header();
std::string to_table_line(const Result& result);

}  // namespace sinter::bench
