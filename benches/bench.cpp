// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a row: same inputs for all, results compared first, then rounds taken in turn.
#include "benches/bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "benches/peers.hpp"
#include "sinter/base/os/clock.hpp"
#include "sinter/base/os/cpu.hpp"
#include "sinter/base/os/process.hpp"

namespace sinter::bench {

namespace fs = std::filesystem;

std::size_t Input::count() const {
  std::size_t n = 1;
  for (std::int64_t dim : dims) {
    n *= static_cast<std::size_t>(dim);
  }
  return n;
}

Input normal(std::string name, std::vector<std::int64_t> dims, double scale, double mean) {
  return {.name = std::move(name), .dims = std::move(dims), .scale = scale, .mean = mean};
}
Input ids(std::string name, std::vector<std::int64_t> dims, std::int64_t below) {
  return {
      .name = std::move(name), .dims = std::move(dims), .kind = Input::Kind::ids, .below = below};
}
Input int8(std::string name, std::vector<std::int64_t> dims) {
  return {.name = std::move(name), .dims = std::move(dims), .kind = Input::Kind::int8};
}

namespace {

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random {
  std::uint64_t state;

  std::uint64_t next() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
};

/// Four 16-bit uniforms summed are near enough to a normal value, and quick.
float near_normal(std::uint64_t bits) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += static_cast<double>((bits >> (16 * i)) & 0xffff) / 65536.0;
  }
  return static_cast<float>((sum - 2) * 1.7320508);  // The sum's deviation is 1 / sqrt(3).
}

std::vector<float> make_values(const Input& input) {
  Random random{0x51e7e5};
  for (char c : input.name) {
    random.state = random.state * 31 + static_cast<unsigned char>(c);
  }
  std::vector<float> values(input.count());
  for (float& value : values) {
    const std::uint64_t bits = random.next();
    switch (input.kind) {
      case Input::Kind::normal:
        value = static_cast<float>(near_normal(bits) * input.scale + input.mean);
        break;
      case Input::Kind::ids:
        value = static_cast<float>(bits % static_cast<std::uint64_t>(input.below));
        break;
      case Input::Kind::int8:
        value = static_cast<float>(static_cast<int>(bits % 255) - 127);
        break;
    }
  }
  return values;
}

void write_inputs(const std::vector<Input>& inputs, const Values& values,
                  const std::string& folder) {
  std::ofstream list(folder + "/inputs.txt");
  for (const Input& input : inputs) {
    const char* kinds[] = {"f32", "i64", "i8"};
    list << input.name << ' ' << kinds[static_cast<int>(input.kind)];
    for (std::int64_t dim : input.dims) {
      list << ' ' << dim;
    }
    list << '\n';
    const std::vector<float>& data = values.at(input.name);
    std::ofstream file(folder + "/" + input.name + ".f32", std::ios::binary);
    file.write(reinterpret_cast<const char*>(data.data()),
               static_cast<std::streamsize>(data.size() * sizeof(float)));
    if (!file) {
      throw std::runtime_error("can't write the inputs to " + folder);
    }
  }
}

std::vector<float> read_floats(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    throw std::runtime_error("can't read " + path);
  }
  std::vector<float> values(static_cast<std::size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

double relative_error(const std::vector<float>& ours, const std::vector<float>& theirs) {
  if (ours.size() != theirs.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(theirs[i])));
    const double d = std::abs(static_cast<double>(ours[i]) - theirs[i]);
    difference = d <= difference ? difference : d;  // Keeps NaN.
  }
  return largest > 0 ? difference / largest : difference;
}

/// One that takes part in the rounds of a row.
struct Participant {
  std::string name;
  std::function<double(long iterations)> time;  ///< Seconds for that many iterations.
  long iterations = 1;
  std::vector<double> rounds = {};  ///< Milliseconds an iteration.
  std::string failure = {};
};

constexpr double slice_seconds = 0.02;

/// Warms up, and chooses how many iterations make a slice long enough to time. Gives its seconds.
double calibrate(Participant& participant) {
  double seconds = participant.time(1);
  if (seconds > 1) {
    return seconds;  // A warm-up of its own would cost too much.
  }
  seconds = participant.time(participant.iterations);
  while (seconds < slice_seconds && participant.iterations < (1L << 28)) {
    const double factor = std::min(100.0, 1.2 * slice_seconds / std::max(seconds, 1e-9));
    participant.iterations = static_cast<long>(
        std::ceil(static_cast<double>(participant.iterations) * std::max(factor, 1.5)));
    seconds = participant.time(participant.iterations);
  }
  return seconds;
}

/// What the probes found, one value a round.
struct Rates {
  std::vector<double> flops = {};
  std::vector<double> int8_ops = {};
  std::vector<double> bytes = {};

  void add(const Work& work, Probe& probe) {
    if (work.flops > 0) {
      flops.push_back(probe.f32_flops());
    }
    if (work.int8_ops > 0) {
      int8_ops.push_back(probe.int8_ops());
    }
    if (work.bytes > 0) {
      bytes.push_back(probe.bytes(work.traffic));
    }
  }
};

void try_once(Participant& participant, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    participant.failure = error.what();
  }
}

Rates take_rounds(std::vector<Participant>& participants, const Work& work, Probe& probe,
                  const Options& options) {
  double one_round = 0;
  for (Participant& participant : participants) {
    try_once(participant, [&] { one_round = std::max(one_round, calibrate(participant)); });
  }
  const int rounds = static_cast<int>(std::clamp(options.seconds / std::max(one_round, 1e-3),
                                                 one_round > 2 ? 3.0 : 5.0, 101.0)) |
                     1;
  Rates rates;
  for (int round = 0; round < rounds; ++round) {
    rates.add(work, probe);
    for (Participant& participant : participants) {
      if (!participant.failure.empty()) {
        continue;
      }
      if (options.threads > 1) {
        os::sleep_seconds(0.005);  // Threads of the one before stop spinning.
      }
      try_once(participant, [&] {
        const double seconds = participant.time(participant.iterations);
        participant.rounds.push_back(seconds * 1e3 / static_cast<double>(participant.iterations));
      });
    }
  }
  return rates;
}

/// The largest of the times that the work needs at the rates found.
void set_limit(Result& result, const Work& work, const Rates& rates) {
  const auto consider = [&](double amount, const std::vector<double>& found, const char* name) {
    if (found.empty()) {
      return;
    }
    std::vector<double> times;
    for (double rate : found) {
      times.push_back(amount / rate * 1e3);
    }
    const Figure figure = figure_of(times);
    if (!result.limit || figure.median > result.limit->median) {
      result.limit = figure;
      result.limit_name = name;
    }
  };
  const char* names[] = {"read", "copy", "update"};
  consider(work.flops, rates.flops, "flops");
  consider(work.int8_ops, rates.int8_ops, "int8");
  consider(work.bytes, rates.bytes, names[static_cast<int>(work.traffic)]);
}

/// A folder in memory, removed at the end.
struct Scratch {
  std::string path;

  Scratch() {
    const char* base = fs::exists("/dev/shm") ? "/dev/shm" : "/tmp";
    path = std::string(base) + "/sinter_bench." + std::to_string(os::process_id());
    fs::create_directories(path);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

}  // namespace

Figure figure_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const double median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  return {.median = median, .best = values[0]};
}

struct Bench::Impl {
  Options options;
  Peers peers;
  Scratch scratch;
  Probe probe;

  explicit Impl(const Options& given) : options(given), peers(given), probe(given.threads) {}

  /// Peers that are ready, each with its outputs compared to ours.
  void add_peers(const Row& row, const std::vector<std::vector<float>>& ours,
                 std::vector<Participant>& participants, Result& result) {
    const std::string command = options.cpu_clock() ? "cpu_time " : "time ";
    for (const std::string& variant : peers.variants(row.peers)) {
      std::string reason;
      Worker* worker = peers.prepare(variant, row.name, scratch.path, reason);
      if (worker == nullptr) {
        result.note += variant + ": " + reason + "; ";
        continue;
      }
      if (!ours.empty() && !result.error) {
        compare(*worker, ours, result);
      }
      participants.push_back({variant, [worker, command](long iterations) {
                                return std::stod(worker->ask(command + std::to_string(iterations)));
                              }});
    }
  }

  void compare(Worker& worker, const std::vector<std::vector<float>>& ours, Result& result) {
    const int count = std::stoi(worker.ask("outputs " + scratch.path));
    double error = count == static_cast<int>(ours.size()) ? 0 : INFINITY;
    for (int i = 0; i < count && error != INFINITY; ++i) {
      const auto theirs = read_floats(scratch.path + "/output." + std::to_string(i) + ".f32");
      const double one = relative_error(ours[static_cast<std::size_t>(i)], theirs);
      error = one <= error ? error : one;
    }
    result.error = error;
  }

  Result measure(const Row& row) {
    Result result{.bench = row.name};
    Values values;
    for (const Input& input : row.inputs) {
      values[input.name] = make_values(input);
    }
    if (!peers.variants(row.peers).empty()) {
      write_inputs(row.inputs, values, scratch.path);
    }
    const Context context{options, row.inputs, values};

    std::vector<Participant> participants;
    std::vector<std::vector<float>> outputs;
    Runner runner;
    try {
      if (row.make) {
        runner = row.make(context);
        outputs = runner.outputs ? runner.outputs() : outputs;
        const auto now = options.cpu_clock() ? os::process_cpu_seconds : os::monotonic_seconds;
        participants.push_back({"", [&runner, now](long iterations) {
                                  const double begin = now();
                                  runner.run(iterations);
                                  return now() - begin;
                                }});
      } else {
        result.note = "not written yet; ";
      }
    } catch (const std::exception& error) {
      result.note = std::string(error.what()) + "; ";
    }
    add_peers(row, outputs, participants, result);
    outputs.clear();
    for (const auto& entry : fs::directory_iterator(scratch.path)) {
      fs::remove(entry.path());
    }

    const double begin = os::monotonic_seconds();
    const auto spent = [&] {
      return machine_cpu_seconds() - os::process_cpu_seconds() - peers.cpu_seconds();
    };
    const double spent_before = spent();
    const Rates rates = take_rounds(participants, row.work, probe, options);
    result.load = std::max(0.0, (spent() - spent_before) / (os::monotonic_seconds() - begin));
    set_limit(result, row.work, rates);
    report(row, participants, result);
    peers.release();
    return result;
  }

  static void report(const Row& row, const std::vector<Participant>& participants, Result& result) {
    for (const Participant& participant : participants) {
      if (!participant.failure.empty()) {
        result.note += (participant.name.empty() ? "ours" : participant.name) + ": " +
                       participant.failure + "; ";
      } else if (!participant.name.empty()) {
        result.peers[participant.name] = figure_of(participant.rounds);
      } else if (result.error && !(*result.error <= row.tolerance)) {
        result.note += "WRONG: the result differs from the peer's; ";
      } else {
        result.ours = figure_of(participant.rounds);
      }
    }
  }
};

Bench::Bench(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
Bench::~Bench() = default;

std::string Bench::machine() const {
  Probe& probe = impl_->probe;
  const auto best = [](auto&& measure) {
    double rate = 0;
    for (int i = 0; i < 8; ++i) {
      rate = std::max(rate, measure());
    }
    return rate * 1e-9;
  };
  const double flops = best([&] { return probe.f32_flops(); });
  const auto memory = [&](Traffic traffic) { return best([&] { return probe.bytes(traffic); }); };
  char line[300];
  std::snprintf(line, sizeof(line),
                "%s, %d thread(s), %s: FMA %.1f GFLOP/s; memory read %.1f, copy %.1f, update %.1f "
                "GB/s",
                os::cpu_name().c_str(), impl_->options.threads, probe.isa(), flops,
                memory(Traffic::read), memory(Traffic::copy), memory(Traffic::update));
  return line;
}

Result Bench::measure(const Row& row) {
  if (!row.whole) {
    return impl_->measure(row);
  }
  impl_->peers.end();
  impl_->probe.release();  // A child's peak counts what this process holds when it forks.
  const double begin = os::monotonic_seconds();
  const double before = machine_cpu_seconds();
  Result result = row.whole(impl_->options);
  result.bench = row.name;
  const double busy = (machine_cpu_seconds() - before) / (os::monotonic_seconds() - begin);
  result.load = std::max(0.0, busy - 1);  // The row's own programs keep one processor busy.
  return result;
}

}  // namespace sinter::bench
