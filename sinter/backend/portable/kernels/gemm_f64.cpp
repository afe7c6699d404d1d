// SPDX-License-Identifier: MIT OR Apache-2.0
// f64 matrix products of one instruction set.
#include "sinter/backend/portable/kernels/gemm_core.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"

namespace sinter::portable::SINTER_ISA {

size_t gemm_f64_scratch_bytes(int64_t m, int64_t n, int64_t k) {
  return GemmScratch<double>(m, n, k).bytes();
}
void gemm_f64(const Gemm<double>& g, void* scratch) { gemm_any(g, scratch); }

}  // namespace sinter::portable::SINTER_ISA
