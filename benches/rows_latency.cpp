// SPDX-License-Identifier: MIT OR Apache-2.0
// The slowest calls of many: what a server's callers wait for.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "benches/bench.hpp"
#include "benches/networks.hpp"
#include "benches/sinter_side.hpp"
#include "sinter/base/os/clock.hpp"

namespace sinter::bench {
namespace {

constexpr int calls = 10'000;
constexpr int rounds = 5;

// Each round's 99th percentile, with the round's ratio of it to the median in the note.
Result measure_latency(const Options& options) {
  const Device device = bench_device(options);
  const Mlp net = Mlp::make(device);
  const auto x = Tensor<2>::random({1, 784}, Distribution::normal(0, 1), device);
  std::vector<double> slow;
  std::vector<double> ratios;
  for (int round = -1; round < rounds; ++round) {
    std::vector<double> times;
    for (int i = 0; i < calls; ++i) {
      const std::int64_t start = os::monotonic_nanoseconds();
      (void)net.forward(x).to_data();
      times.push_back(1e-6 * static_cast<double>(os::monotonic_nanoseconds() - start));
    }
    std::sort(times.begin(), times.end());
    if (round >= 0) {  // the first one warms up
      slow.push_back(times[calls * 99 / 100]);
      ratios.push_back(slow.back() / times[calls / 2]);
    }
  }
  Result result{};
  result.ours = figure_of(slow);
  const Figure ratio = figure_of(ratios);
  char note[80];
  std::snprintf(note, sizeof note, "%.2f times the median call, at best %.2f", ratio.median,
                ratio.best);
  result.note = note;
  return result;
}

}  // namespace

void add_latency_rows(Rows& rows) {
  rows.push_back({.name = "infer_p99", .whole = measure_latency});
}

}  // namespace sinter::bench
