// SPDX-License-Identifier: MIT OR Apache-2.0
// Instruction-set detection and cgroup parsing; neither depends on the operating system.
#include "sinter/base/os/cpu.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define SINTER_X86 1
#endif

namespace sinter::os {

#ifdef SINTER_X86

namespace {

struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
  Leaf(unsigned leaf, unsigned sub) { __get_cpuid_count(leaf, sub, &a, &b, &c, &d); }
};

bool bit(unsigned word, int index) { return ((word >> index) & 1) != 0; }

std::uint64_t enabled_state() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

CpuFeatures detect() {
  CpuFeatures f;
  const Leaf one(1, 0);
  const Leaf seven(7, 0);
  const Leaf seven_one(7, 1);
  f.sse42 = bit(one.c, 20);
  const std::uint64_t state = bit(one.c, 27) ? enabled_state() : 0;
  const bool ymm = (state & 0x6) == 0x6;
  const bool zmm = (state & 0xe6) == 0xe6;
  const bool tile = (state & 0x60000) == 0x60000;
  f.avx = ymm && bit(one.c, 28);
  f.fma = f.avx && bit(one.c, 12);
  f.f16c = f.avx && bit(one.c, 29);
  f.avx2 = f.avx && bit(seven.b, 5);
  f.bmi2 = bit(seven.b, 8);
  f.avx512f = zmm && bit(seven.b, 16);
  f.avx512dq = f.avx512f && bit(seven.b, 17);
  f.avx512bw = f.avx512f && bit(seven.b, 30);
  f.avx512vl = f.avx512f && bit(seven.b, 31);
  f.avx512vnni = f.avx512f && bit(seven.c, 11);
  f.avx512fp16 = f.avx512f && bit(seven.d, 23);
  f.avx512bf16 = f.avx512f && bit(seven_one.a, 5);
  f.avx_vnni = f.avx2 && bit(seven_one.a, 4);
  f.amx_tile = tile && bit(seven.d, 24);
  f.amx_bf16 = f.amx_tile && bit(seven.d, 22);
  f.amx_int8 = f.amx_tile && bit(seven.d, 25);
  return f;
}

}  // namespace

std::string cpu_name() {
  if (Leaf(0x80000000u, 0).a < 0x80000004u) {
    return "unknown";
  }
  char text[49] = {};
  for (unsigned i = 0; i < 3; ++i) {
    const Leaf part(0x80000002u + i, 0);
    std::memcpy(text + 16 * i, &part.a, 4);
    std::memcpy(text + 16 * i + 4, &part.b, 4);
    std::memcpy(text + 16 * i + 8, &part.c, 4);
    std::memcpy(text + 16 * i + 12, &part.d, 4);
  }
  const std::string name = text;
  const std::size_t first = name.find_first_not_of(' ');
  if (first == std::string::npos) {
    return "unknown";
  }
  return name.substr(first, name.find_last_not_of(' ') - first + 1);
}

#else

namespace {
CpuFeatures detect() {
  CpuFeatures f;
#ifdef __ARM_NEON
  f.neon = true;
#endif
  return f;
}
}  // namespace

std::string cpu_name() { return "unknown"; }

#endif

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect();
  return features;
}

namespace {

std::string read_or_empty(const std::string& path) {
  try {
    return path_exists(path) ? read_file(path, 1 << 16) : std::string();
  } catch (const Error&) {
    return {};
  }
}

double smaller_limit(double a, double b) { return a == 0 || (b > 0 && b < a) ? b : a; }

// "200000 100000" is two processors, "max 100000" no limit.
double limit_v2(const std::string& text) {
  char* end = nullptr;
  const double quota = std::strtod(text.c_str(), &end);
  const double period = std::strtod(end, nullptr);
  return quota > 0 && period > 0 ? quota / period : 0;
}

double limit_v1(const std::string& folder) {
  const double quota = std::atof(read_or_empty(folder + "/cpu.cfs_quota_us").c_str());
  const double period = std::atof(read_or_empty(folder + "/cpu.cfs_period_us").c_str());
  return quota > 0 && period > 0 ? quota / period : 0;
}

// A limit of any group above counts too. In a container the group's own path may be hidden and its
// files lie at the root, which the walk reaches last.
template <class Read>
double limit_up_the_path(const std::string& root, std::string path, Read read) {
  double limit = 0;
  for (;;) {
    limit = smaller_limit(limit, read(root + (path == "/" ? "" : path)));
    if (path.empty() || path == "/") {
      return limit;
    }
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

bool lists_cpu(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

}  // namespace

double cgroup_cpu_limit(const std::string& membership, const std::string& root) {
  double limit = 0;
  std::size_t begin = 0;
  while (begin < membership.size()) {
    std::size_t end = membership.find('\n', begin);
    end = end == std::string::npos ? membership.size() : end;
    const std::string line = membership.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      limit = smaller_limit(limit, limit_up_the_path(root, path, [](const std::string& folder) {
                              return limit_v2(read_or_empty(folder + "/cpu.max"));
                            }));
    } else if (lists_cpu(controllers)) {
      for (const std::string& mount : {"/" + controllers, std::string("/cpu")}) {
        limit = smaller_limit(limit, limit_up_the_path(root + mount, path, limit_v1));
      }
    }
  }
  return limit;
}

}  // namespace sinter::os
