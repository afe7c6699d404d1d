// SPDX-License-Identifier: MIT OR Apache-2.0
// What the processor offers, and how much of it this process may use.
#pragma once

#include <string>

namespace sinter::os {

/// Processors that this process may use: the affinity mask, and the cgroup (v1 or v2) quota rounded
/// up. At least 1.
int usable_cpus();

/// Instruction sets that both the processor and the operating system support.
struct CpuFeatures {
  bool sse42 = false;
  bool avx = false;
  bool avx2 = false;
  bool fma = false;
  bool f16c = false;
  bool bmi2 = false;
  bool avx512f = false;
  bool avx512bw = false;
  bool avx512dq = false;
  bool avx512vl = false;
  bool avx512vnni = false;
  bool avx512bf16 = false;
  bool avx512fp16 = false;
  bool avx_vnni = false;
  bool amx_tile = false;
  bool amx_bf16 = false;
  bool amx_int8 = false;
  bool neon = false;
};

/// Detected once.
const CpuFeatures& cpu_features();

/// Bytes of the data caches of one core, and of the last level; 0 if unknown.
struct CacheSizes {
  long l1 = 0;
  long l2 = 0;
  long l3 = 0;
};
CacheSizes cache_sizes();

/// The model name, e.g. "AMD EPYC 7B13"; "unknown" if there is none.
std::string cpu_name();

/// CPU limit in processors that the cgroup files under `root` (normally "/sys/fs/cgroup") give for
/// the groups listed in `membership` (the content of "/proc/self/cgroup"); 0 for no limit.
double cgroup_cpu_limit(const std::string& membership, const std::string& root);

}  // namespace sinter::os
