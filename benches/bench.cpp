// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a row: same inputs for all, results compared first, then rounds taken in turn.
#include "benches/bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "benches/peers.hpp"
#include "sinter/base/os/clock.hpp"
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

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
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

void take_rounds(std::vector<Participant>& participants, const Options& options) {
  double one_round = 0;
  for (Participant& participant : participants) {
    try {
      one_round = std::max(one_round, calibrate(participant));
    } catch (const std::exception& error) {
      participant.failure = error.what();
    }
  }
  const int rounds = static_cast<int>(std::clamp(options.seconds / std::max(one_round, 1e-3),
                                                 one_round > 2 ? 3.0 : 5.0, 101.0)) |
                     1;
  for (int round = 0; round < rounds; ++round) {
    for (Participant& participant : participants) {
      if (!participant.failure.empty()) {
        continue;
      }
      if (options.threads > 1) {
        os::sleep_seconds(0.005);  // Threads of the one before stop spinning.
      }
      try {
        const double seconds = participant.time(participant.iterations);
        participant.rounds.push_back(seconds * 1e3 / static_cast<double>(participant.iterations));
      } catch (const std::exception& error) {
        participant.failure = error.what();
      }
    }
  }
}

void set_limit(Result& result, const Work& work, const Limits& limits) {
  const auto consider = [&](double amount, double rate, const char* name) {
    const double ms = rate > 0 ? amount / rate * 1e3 : 0;
    if (amount > 0 && (!result.limit || ms > *result.limit)) {
      result.limit = ms;
      result.limit_name = name;
    }
  };
  consider(work.flops, limits.f32_flops, "flops");
  consider(work.int8_ops, limits.int8_ops > 0 ? limits.int8_ops : limits.f32_flops, "int8");
  const char* names[] = {"read", "copy", "update"};
  consider(work.bytes, limits.bytes_per_second(work.traffic),
           names[static_cast<int>(work.traffic)]);
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

struct Bench::Impl {
  Options options;
  Peers peers;
  Scratch scratch;
  std::optional<Limits> limits;

  explicit Impl(const Options& given) : options(given), peers(given) {}

  const Limits& measured_limits() {
    if (!limits) {
      limits = probe_limits(options.threads);
    }
    return *limits;
  }

  /// Peers that are ready, each with its outputs compared to ours.
  void add_peers(const Row& row, const std::vector<std::vector<float>>& ours,
                 std::vector<Participant>& participants, Result& result) {
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
      participants.push_back({variant, [worker](long iterations) {
                                return std::stod(worker->ask("time " + std::to_string(iterations)));
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
    set_limit(result, row.work, measured_limits());
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
        participants.push_back({"", [&runner](long iterations) {
                                  const double begin = os::monotonic_seconds();
                                  runner.run(iterations);
                                  return os::monotonic_seconds() - begin;
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
    take_rounds(participants, options);
    result.load = std::max(0.0, (spent() - spent_before) / (os::monotonic_seconds() - begin));
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
        result.peers[participant.name] = median(participant.rounds);
      } else if (result.error && !(*result.error <= row.tolerance)) {
        result.note += "WRONG: the result differs from the peer's; ";
      } else {
        result.ours = median(participant.rounds);
        result.ours_min = *std::min_element(participant.rounds.begin(), participant.rounds.end());
      }
    }
  }
};

Bench::Bench(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
Bench::~Bench() = default;

const Limits& Bench::limits() const { return impl_->measured_limits(); }

Result Bench::measure(const Row& row) {
  if (!row.whole) {
    return impl_->measure(row);
  }
  impl_->measured_limits();
  impl_->peers.end();
  const double begin = os::monotonic_seconds();
  const double before = machine_cpu_seconds();
  Result result = row.whole(impl_->options, impl_->measured_limits());
  result.bench = row.name;
  const double busy = (machine_cpu_seconds() - before) / (os::monotonic_seconds() - begin);
  result.load = std::max(0.0, busy - 1);  // The row's own programs keep one processor busy.
  return result;
}

}  // namespace sinter::bench
