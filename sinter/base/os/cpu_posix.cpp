// SPDX-License-Identifier: MIT OR Apache-2.0
// Processor counts on POSIX systems.
#ifndef _WIN32
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <cmath>

#include "sinter/base/error.hpp"
#include "sinter/base/os/cpu.hpp"
#include "sinter/base/os/file.hpp"

namespace sinter::os {

namespace {

int affinity_count() {
#ifdef __linux__
  // The mask of a large machine doesn't fit into a cpu_set_t; grow until the kernel accepts it.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(capacity));
    if (set == nullptr) {
      break;
    }
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) {
      return count;
    }
  }
#endif
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace

int usable_cpus() {
  int count = affinity_count();
#ifdef __linux__
  try {
    const double limit =
        cgroup_cpu_limit(read_file("/proc/self/cgroup", 1 << 20), "/sys/fs/cgroup");
    if (limit > 0 && limit < count) {
      count = static_cast<int>(std::ceil(limit));
    }
  } catch (const Error&) {
    // No /proc: the affinity mask is all that is known.
  }
#endif
  return std::max(count, 1);
}

CacheSizes cache_sizes() {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  const auto size = [](int name) { return std::max(sysconf(name), 0L); };
  return {size(_SC_LEVEL1_DCACHE_SIZE), size(_SC_LEVEL2_CACHE_SIZE), size(_SC_LEVEL3_CACHE_SIZE)};
#else
  return {};
#endif
}

}  // namespace sinter::os
#endif
