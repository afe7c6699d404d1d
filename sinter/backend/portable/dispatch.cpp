// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses kernel tables by what the processor reports.
#include "sinter/backend/portable/dispatch.hpp"

#include <array>
#include <cstddef>

namespace sinter::portable {

#define SINTER_DECLARE_ISA(isa)  \
  namespace isa {                \
  const KernelSet& kernel_set(); \
  }
#ifdef SINTER_HAS_ISA_avx512
SINTER_DECLARE_ISA(avx512)
#endif
#ifdef SINTER_HAS_ISA_avx2
SINTER_DECLARE_ISA(avx2)
#endif
#ifdef SINTER_HAS_ISA_baseline
SINTER_DECLARE_ISA(baseline)
#endif
#ifdef SINTER_HAS_ISA_generic
SINTER_DECLARE_ISA(generic)
#endif

namespace {

struct Found {
  std::array<const KernelSet*, 4> sets{};
  std::size_t count = 0;
  void add(const KernelSet& set) { sets[count++] = &set; }

  Found() {
#ifdef SINTER_HAS_ISA_avx512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("fma")) {
      add(avx512::kernel_set());
    }
#endif
#ifdef SINTER_HAS_ISA_avx2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      add(avx2::kernel_set());
    }
#endif
#ifdef SINTER_HAS_ISA_baseline
    add(baseline::kernel_set());
#endif
#ifdef SINTER_HAS_ISA_generic
    add(generic::kernel_set());
#endif
  }
};

const Found& found() {
  static const Found f;
  return f;
}

}  // namespace

std::span<const KernelSet* const> kernel_sets() { return {found().sets.data(), found().count}; }

const KernelSet* find_kernel_set(std::string_view isa) {
  for (const KernelSet* set : kernel_sets()) {
    if (isa.empty() || isa == set->name) {
      return set;
    }
  }
  return nullptr;
}

}  // namespace sinter::portable
